"""Reads back what was issued for a stored sweep: the user's order, and the call with it."""

from collections.abc import Sequence
from typing import Any

from sweepapi.evm.contracts import batch, v4
from sweepapi.evm.contracts.permit2 import Witness
from sweeps.models import Offer, Sweep
from sweeps.rails.evm.build.issuing import permission_of


def witness_of(sweep: Sweep) -> Witness:
    """Return the order that the user of a sweep signs."""
    return _order_of(sweep).witness


def arguments_of(offer: Offer, route: batch.BatchRoute) -> Sequence[Any]:
    """Return the arguments of ``sweep``; the service signs no route."""
    return v4.sweep_arguments(route=route, order=_order_of(offer.sweep), permission=permission_of(offer.sweep))


def _order_of(sweep: Sweep) -> v4.SweepOrderV4:
    (execution,) = sweep.executions.all()
    return v4.SweepOrderV4(
        output_token=sweep.output_asset,
        floors=sweep.permit.floors,
        max_skipped=sweep.permit.max_skipped,
        fee_bps=sweep.total_fee_bps,
        sweep_ref=execution.execution_id,
    )
