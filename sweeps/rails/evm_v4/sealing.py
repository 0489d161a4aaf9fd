"""Builds a sweep on V4: its terms, which the contract must have too, its reference, and the user's order."""

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from uuid_utils.compat import uuid7

from ledger.models import Settlement
from partners.models import Partner
from sweepapi import networks
from sweepapi.errors import UnsupportedChain
from sweepapi.evm import v4
from sweepapi.evm.market import NOT_PAUSED, Contract, Requirement
from sweeps.models import Sweep
from sweeps.rails.evm import drafting
from sweeps.rails.evm.draft import EvmDraft
from sweeps.rails.evm.sealing import (
    EvmSealed,
    call_of,
    deadline_of,
    permission_of,
    permit_of,
    reserve_permission,
    route_of,
    signed_terms_of,
)
from sweeps.rails.evm_v4.terms import sweep_ref_of
from sweeps.rails.rail import BuildRequest, FeeTerms, Identity

# What the user signs names the fee, so the contract would revert the sweep under any other.
FEE_DIFFERS = "The contract's fee is not the configured one."
RECIPIENT_DIFFERS = "The contract pays its fee to another account than the configured one."


def draft_v4(*, partner: Partner, request: BuildRequest, renewed: Sweep | None = None) -> EvmDraft:
    """Plan a sweep under the terms of the ``renewed`` one, or those of today.

    Raises ``UnsupportedChain`` where V4 is not deployed.
    """
    chain = networks.current().chain(request.network)
    if chain.v4_contract is None or chain.protocol_recipient is None:
        raise UnsupportedChain
    fees = FeeTerms.of(renewed) if renewed is not None else _fees_of_today(partner, chain.protocol_recipient)
    contract = Contract(
        chain.v4_contract,
        (
            NOT_PAUSED,
            Requirement(v4.FEE_BPS, fees.total_fee_bps, FEE_DIFFERS),
            Requirement(v4.FEE_RECIPIENT, fees.protocol_recipient.lower(), RECIPIENT_DIFFERS),
        ),
    )
    signed = signed_terms_of(renewed) if renewed is not None else None
    return drafting.draft(partner=partner, request=request, chain=chain, contract=contract, fees=fees, signed=signed)


def _fees_of_today(partner: Partner, protocol_recipient: str) -> FeeTerms:
    return FeeTerms(
        total_fee_bps=settings.TOTAL_FEE_BPS,
        partner_share_bps=partner.share_bps_at(timezone.now()),
        partner_recipient=None,
        protocol_recipient=protocol_recipient,
        settlement=Settlement.PAYABLE,
    )


def seal(draft: EvmDraft, *, renewed: Sweep | None = None) -> EvmSealed:
    """Reserve what the user signs; with ``renewed``, keep what the user signed for that sweep."""
    if renewed is None:
        sweep_id, min_gross = uuid7(), draft.minimum.gross_output
        with transaction.atomic():
            permission = reserve_permission(draft)
    else:
        sweep_id, min_gross, permission = renewed.id, renewed.min_gross, permission_of(renewed)
    route = route_of(draft)
    order = v4.SweepOrder(
        output_token=draft.output.asset,
        floors=route.floors,
        max_skipped=route.max_skipped,
        fee_bps=draft.fees.total_fee_bps,
        sweep_ref=sweep_ref_of(sweep_id),
    )
    arguments = v4.sweep_arguments(route=route, order=order, permission=permission)
    return EvmSealed(
        draft=draft,
        sweep_id=sweep_id,
        identities=[Identity(draft.contract, order.sweep_ref, range(len(draft.tokens)), min_gross)],
        deadline=deadline_of(permission),
        route=route,
        permit=permit_of(draft, permission, order.witness),
        permission=permission,
        call=call_of(draft, contract_name=v4.CONTRACT_NAME, function=v4.SWEEP, arguments=arguments),
    )
