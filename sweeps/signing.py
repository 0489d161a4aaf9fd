"""Signing a planned sweep: the legs, the order for the user, and the authorization that binds them."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from partners.models import Partner
from sweepapi import chains
from sweepapi.evm import v5
from sweepapi.evm.addresses import ZERO_ADDRESS
from sweepapi.evm.chains import Chain
from sweepapi.evm.eip712 import TypedData
from sweepapi.evm.permit2 import SweepOrder, permit_typed_data
from sweepapi.evm.responses import Block
from sweepapi.evm.routes import finder
from sweeps import nonces
from sweeps.market import Market
from sweeps.plan import BuildRequest, PlannedLeg


@dataclass(frozen=True)
class Signed:
    """Everything that was fixed by signing."""

    legs: Sequence[v5.Leg]
    order: SweepOrder
    authorization: v5.Authorization
    authorization_digest: str
    signature: bytes
    permit: TypedData
    permission: v5.Permission


def sign(  # noqa: PLR0913 - everything that a signature fixes
    *,
    partner: Partner,
    request: BuildRequest,
    market: Market,
    head: Block,
    planned: Sequence[PlannedLeg],
    min_user_output: int,
    reserved: nonces.Nonces,
) -> Signed:
    """Return the legs, the order and the permit for the user, and the authorization signed over them.

    The deadline, of both, is the later of the server's clock and the head's, plus the time to live.
    """
    deadline = max(int(time.time()), head.timestamp) + settings.AUTHORIZATION_TTL_SECONDS
    legs = _legs(planned, market)
    authorization = _authorization(
        partner=partner, request=request, market=market, nonce=reserved.authorization, deadline=deadline, legs=legs
    )
    order = SweepOrder(
        output_token=authorization.output_token,
        min_user_output=min_user_output,
        total_fee_bps=authorization.total_fee_bps,
        partner_id=authorization.partner_id,
        authorization_nonce=authorization.nonce,
    )
    typed_data = authorization.typed_data(chain_id=market.chain.chain_id, contract=market.contract)
    return Signed(
        legs=legs,
        order=order,
        authorization=authorization,
        authorization_digest=typed_data.digest,
        signature=chains.fee_signer().sign(typed_data),
        permit=permit_typed_data(
            chain_id=market.chain.chain_id,
            permit2=market.chain.permit2,
            spender=market.contract,
            permitted=[(leg.token, leg.amount) for leg in legs],
            nonce=reserved.permit,
            deadline=deadline,
            order=order,
        ),
        permission=v5.Permission(nonce=reserved.permit, deadline=deadline),
    )


def _authorization(  # noqa: PLR0913 - the sources of one message
    *, partner: Partner, request: BuildRequest, market: Market, nonce: int, deadline: int, legs: Sequence[v5.Leg]
) -> v5.Authorization:
    return v5.Authorization(
        user=request.wallet,
        partner_id=partner.onchain_id,
        partner_recipient=partner.recipient_on(market.chain.chain_id),
        protocol_recipient=market.protocol_recipient,
        output_token=request.output_mint,
        total_fee_bps=settings.TOTAL_FEE_BPS,
        partner_share_bps=partner.fee_share_bps,
        nonce=nonce,
        deadline=deadline,
        legs_hash=v5.hash_legs(legs),
    )


def _legs(planned: Sequence[PlannedLeg], market: Market) -> list[v5.Leg]:
    # Prefunded tokens lie open on the router during the call, where a hostile token of the same sweep could take them;
    # the output's code runs during the call as well.
    vetted = all(_is_vetted(token, market.chain) for token in (market.output, *(leg.wish.mint for leg in planned)))
    return [_leg(leg, market, prefunded=vetted) for leg in planned]


def _is_vetted(token: str, chain: Chain) -> bool:
    return token in chain.vetted_tokens or token == chain.wrapped_native


def _leg(leg: PlannedLeg, market: Market, *, prefunded: bool) -> v5.Leg:
    if leg.route is None:
        return v5.Leg(leg.wish.mint, leg.wish.amount, ZERO_ADDRESS, v5.FUNDING_NONE, b"")
    data = finder.swap_call(
        leg.route,
        amount_in=0 if prefunded else leg.wish.amount,
        min_output=leg.min_output,
        recipient=market.contract,
    )
    funding = v5.FUNDING_PREFUNDED if prefunded else v5.FUNDING_APPROVED
    return v5.Leg(leg.wish.mint, leg.wish.amount, leg.route.router.address, funding, data)
