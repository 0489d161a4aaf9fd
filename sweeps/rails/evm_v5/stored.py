"""Reads back what was issued for a stored sweep: the user's order, and the call under the signed authorization."""

from collections.abc import Sequence
from typing import Any

from sweepapi.errors import NewBuildRequired
from sweepapi.evm.contracts import batch, v5
from sweepapi.evm.contracts.permit2 import Witness
from sweeps.models import Offer, Sweep
from sweeps.rails.evm.build.issuing import permission_of
from sweeps.rails.evm.finalize.stored_offer import OTHER_VENUES
from sweeps.rails.evm_v5.models import FeeAuthorization


def witness_of(sweep: Sweep) -> Witness:
    """Return the order that the user of a sweep signs."""
    (execution,) = sweep.executions.all()
    order = v5.SweepOrderV5(
        output_token=sweep.output_asset,
        floors=sweep.permit.floors,
        max_skipped=sweep.permit.max_skipped,
        total_fee_bps=sweep.total_fee_bps,
        partner_id=sweep.partner.onchain_id,
        authorization_nonce=int(execution.execution_id),
    )
    return order.witness


def arguments_of(offer: Offer, route: batch.BatchRoute) -> Sequence[Any]:
    """Return the arguments of ``sweep``; raises ``NewBuildRequired`` for another route than the signed one."""
    row = FeeAuthorization.objects.get(offer=offer)
    if batch.hash_route(route) != row.legs_hash:
        raise NewBuildRequired(OTHER_VENUES)
    return v5.sweep_arguments(
        route=route,
        authorization=row.message,
        signature=bytes.fromhex(row.signature[2:]),
        permission=permission_of(offer.sweep),
    )
