"""Stored sweeps as their partner sees them."""

from typing import Any

from sweepapi.fees import Split
from sweeps.models import Sweep
from sweeps.status_objects import status_objects


def shown(sweep: Sweep) -> Any:
    """Return the status object."""
    return status_objects([sweep.id])[sweep.id]


def fees_shown(sweep: Sweep, kind: str) -> Split | None:
    """Return the ``expected`` or the ``actual`` fees."""
    state = shown(sweep)
    fees = state.get("fees", state.get("feeAuthorization"))[f"{kind}Fees"]
    if fees is None:
        return None
    names = ("grossOutput", "totalFee", "partnerFee", "protocolFee", "userAmount")
    return Split(*(int(fees[name]) for name in names))
