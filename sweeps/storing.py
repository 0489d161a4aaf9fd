"""Storing a signed sweep: the rows that confirm and settle work from."""

from collections.abc import Sequence

from django.conf import settings
from django.db import transaction

from partners.models import Partner
from sweepapi import chains
from sweepapi.evm import v5
from sweepapi.evm.addresses import NATIVE_COIN
from sweeps import schedule
from sweeps.market import Facts, Market
from sweeps.models import FeeAuthorization, Sweep, SweepToken
from sweeps.plan import BuildRequest, PlannedLeg
from sweeps.signing import Signed


def store(  # noqa: PLR0913 - everything that was decided
    *,
    partner: Partner,
    request: BuildRequest,
    market: Market,
    facts: Facts,
    planned: Sequence[PlannedLeg],
    signed: Signed,
) -> Sweep:
    """Write the sweep, its tokens and its authorization in one transaction, and return it."""
    output = facts.tokens[market.output]
    native = request.output_mint == NATIVE_COIN
    sweep = Sweep(
        partner=partner,
        chain_id=market.chain.chain_id,
        mode=settings.EVM_BUILD_MODE,
        contract_version="v5",
        contract=market.contract,
        wallet=request.wallet,
        output_token=request.output_mint,
        output_symbol=market.chain.native_symbol if native else output.symbol,
        output_decimals=output.decimals,
        slippage_bps=request.slippage_bps,
        expected_gross=sum(leg.expected_output for leg in planned),
        min_gross=sum(leg.min_output for leg in planned),
        permit_nonce=signed.permission.nonce,
        built_at_block=facts.head.number,
        next_check_at=schedule.after_deadline(signed.authorization.deadline),
    )
    with transaction.atomic():
        sweep.save(force_insert=True)
        SweepToken.objects.bulk_create(
            _token_row(sweep, i, leg, signed.legs[i], facts) for i, leg in enumerate(planned)
        )
        _authorization_row(sweep, signed).save(force_insert=True)
    return sweep


def _token_row(sweep: Sweep, position: int, planned: PlannedLeg, leg: v5.Leg, facts: Facts) -> SweepToken:
    token, route = facts.tokens[leg.token], planned.route
    return SweepToken(
        sweep=sweep,
        position=position,
        mint=leg.token,
        amount=leg.amount,
        symbol=token.symbol,
        decimals=token.decimals,
        expected_output=planned.expected_output,
        min_output=planned.min_output,
        funding=leg.funding,
        router=route.router.name if route is not None else "",
        kind=route.router.kind if route is not None else "",
        target=route.router.address if route is not None else None,
        path=list(route.path) if route is not None else [leg.token],
        fee_tiers=list(route.fee_tiers) if route is not None else [],
    )


def _authorization_row(sweep: Sweep, signed: Signed) -> FeeAuthorization:
    authorization = signed.authorization
    return FeeAuthorization(
        sweep=sweep,
        chain_id=sweep.chain_id,
        contract=sweep.contract,
        nonce=authorization.nonce,
        user=authorization.user,
        partner_onchain_id=authorization.partner_id,
        partner_recipient=authorization.partner_recipient,
        protocol_recipient=authorization.protocol_recipient,
        output_token=authorization.output_token,
        total_fee_bps=authorization.total_fee_bps,
        partner_share_bps=authorization.partner_share_bps,
        deadline_seconds=authorization.deadline,
        legs_hash=authorization.legs_hash,
        token_count=len(signed.legs),
        digest=signed.authorization_digest,
        signature="0x" + signed.signature.hex(),
        signer=chains.fee_signer().address,
    )
