"""Builds a sweep on V4: its terms, which the contract must have too, its reference, and the user's order."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import transaction
from uuid_utils.compat import uuid7

from partners.models import Partner
from sweepapi.errors import UnsupportedChain
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.fee_models.costs import noise
from sweepapi.evm.contracts import batch, v4
from sweepapi.evm.encoding.responses import Log
from sweepapi.evm.market.reading import NOT_PAUSED, Contract, Requirement
from sweepapi.networks import Networks
from sweeps.models import Sweep
from sweeps.protocol.rail import FeeTerms, Identity
from sweeps.protocol.request import BuildRequest, DiscoverRequest
from sweeps.rails.evm.build import planning
from sweeps.rails.evm.build.issuing import (
    EvmIssued,
    call_of,
    deadline_of,
    permission_of,
    permit_of,
    reserve_permission,
    route_of,
    signed_terms_of,
)
from sweeps.rails.evm.build.sent import unsigned_permission
from sweeps.rails.evm.build.stages import EvmPlanned, EvmSimulated, Trial
from sweeps.rails.evm.discover.discovering import SaleTerms, discover
from sweeps.rails.evm.discover.found import EvmDiscovery
from sweeps.rails.evm_v4.terms import sweep_ref_of

# What the user signs names the fee, so the contract would revert the sweep under any other.
FEE_DIFFERS = "The contract's fee is not the configured one."
RECIPIENT_DIFFERS = "The contract pays its fee to another account than the configured one."

TRIED_ID = UUID(bytes=noise(16, seed="sweep"))  # of a sweep that is only tried


def plan_v4(
    *, registry: Networks, partner: Partner, request: BuildRequest, renewed: Sweep | None = None
) -> EvmSimulated:
    """Plan a sweep under the terms of the ``renewed`` one, or those of today.

    Raises ``UnsupportedChain`` where V4 is not deployed, and ``NewBuildRequired`` if it was replaced.
    """
    contract, recipient = _deployed(registry.chain(request.network))
    fees = FeeTerms.of(renewed) if renewed is not None else FeeTerms.of_today(partner, recipient)
    signed = signed_terms_of(renewed, contract=contract) if renewed is not None else None
    planned = planning.plan(
        registry=registry,
        partner=partner,
        request=request,
        contract=_contract(contract, fees),
        fees=fees,
        signed=signed,
    )
    return planning.simulate(planned, _trial(TRIED_ID if renewed is None else renewed.id))


def discover_v4(*, registry: Networks, partner: Partner, request: DiscoverRequest) -> EvmDiscovery:
    """Read a wallet; raises ``UnsupportedChain`` where V4 is not deployed, and what ``discover`` raises."""
    chain = registry.chain(request.network)
    contract, recipient = _deployed(chain)
    fees = FeeTerms.of_today(partner, recipient)
    terms = SaleTerms(partner, chain, _contract(contract, fees), fees, lambda _planned: _trial(TRIED_ID))
    return discover(registry, request, terms)


def _deployed(chain: Chain) -> tuple[str, str]:
    """Return the chain's contract and the protocol's recipient."""
    if chain.v4_contract is None or chain.protocol_recipient is None:
        raise UnsupportedChain
    return chain.v4_contract, chain.protocol_recipient


def _contract(address: str, fees: FeeTerms) -> Contract:
    """Return the contract, which must have the fee terms that the user signs."""
    return Contract(
        address,
        (
            NOT_PAUSED,
            Requirement(v4.FEE_BPS, fees.total_fee_bps, FEE_DIFFERS),
            Requirement(v4.FEE_RECIPIENT, fees.protocol_recipient.lower(), RECIPIENT_DIFFERS),
        ),
    )


def _trial(sweep_id: UUID) -> Trial:
    def arguments(attempt: EvmPlanned) -> Sequence[Any]:
        route = route_of(attempt)
        order = _order(attempt, route, sweep_id)
        return v4.sweep_arguments(route=route, order=order, permission=unsigned_permission(attempt))

    return Trial(arguments, v4.ENTRY_POINTS, gross_output, codes={}, codes_gas=0)


def gross_output(log: Log) -> int | None:
    """Return what an executed sweep gave before the fee, from its event; None for another log."""
    event = v4.decode_executed(log)
    return None if event is None else event.gross_output


def _order(planned: EvmPlanned, route: batch.BatchRoute, sweep_id: UUID) -> v4.SweepOrderV4:
    return v4.SweepOrderV4(
        output_token=planned.output.asset,
        floors=route.floors,
        max_skipped=route.max_skipped,
        fee_bps=planned.fees.total_fee_bps,
        sweep_ref=sweep_ref_of(sweep_id),
    )


def issue(
    planned: EvmSimulated,
    *,
    registry: Networks,  # noqa: ARG001 - a rail may sign
    renewed: Sweep | None = None,
) -> EvmIssued:
    """Reserve what the user signs; with ``renewed``, keep what the user signed for that sweep."""
    if renewed is None:
        sweep_id, min_gross = uuid7(), planned.minimum.gross_output
        with transaction.atomic():
            permission = reserve_permission(planned)
    else:
        sweep_id, min_gross, permission = renewed.id, renewed.min_gross, permission_of(renewed)
    route = route_of(planned)
    order = _order(planned, route, sweep_id)
    arguments = v4.sweep_arguments(route=route, order=order, permission=permission)
    return EvmIssued(
        planned=planned,
        sweep_id=sweep_id,
        identities=[Identity(planned.contract, order.sweep_ref, range(len(planned.tokens)), min_gross)],
        deadline=deadline_of(permission),
        route=route,
        permit=permit_of(
            planned.tokens,
            chain=planned.market.chain,
            contract=planned.contract,
            permission=permission,
            witness=order.witness,
        ),
        permission=permission,
        call=call_of(planned, contract_name=v4.CONTRACT_NAME, function=v4.SWEEP, arguments=arguments),
        entry_points=v4.ENTRY_POINTS,
    )
