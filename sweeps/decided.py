"""Refuses requests about a sweep whose outcome is decided."""

from sweepapi.errors import FieldError, SweepAlreadyConfirmed, SweepExpired, SweepFailed, SweepVoid
from sweeps.models import Sweep, SweepStatus, SweepTransaction


def refuse_decided(sweep: Sweep) -> None:
    """Raise the error of a sweep that was executed or can't be; one that failed still can be while it is open."""
    if sweep.status == SweepStatus.EXPIRED:
        raise SweepExpired
    if sweep.status == SweepStatus.VOID:
        raise SweepVoid
    if sweep.status == SweepStatus.COMPLETED:
        raise already_confirmed(sweep.transactions.filter(status=SweepTransaction.Status.ACCEPTED)[0])
    if sweep.status == SweepStatus.FAILED and not sweep.is_open:
        raise SweepFailed


def already_confirmed(accepted: SweepTransaction) -> SweepAlreadyConfirmed:
    """Return the error that names the transaction which executed the sweep."""
    return SweepAlreadyConfirmed(details=[FieldError("txHash", "accepted_hash", accepted.tx_hash)])
