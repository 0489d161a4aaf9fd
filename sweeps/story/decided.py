"""Refuses requests about a sweep whose outcome is decided."""

from django.utils import timezone

from sweepapi.errors import FieldError, SweepAlreadyConfirmed, SweepExpired, SweepFailed, SweepVoid
from sweeps.models import Sweep, SweepStatus, SweepTransaction


def refuse_decided(sweep: Sweep) -> None:
    """Raise the error of a sweep that was executed or can't be; one that failed still can be while it is open."""
    if sweep.status == SweepStatus.EXPIRED:
        raise SweepExpired
    if sweep.status == SweepStatus.VOID:
        raise SweepVoid
    if sweep.status == SweepStatus.COMPLETED:
        candidates = SweepTransaction.objects.filter(sweep_id=sweep.id)
        accepted = candidates.filter(status=SweepTransaction.Status.ACCEPTED).first()
        if accepted is not None:  # unless its block left the chain since the sweep was read, without a lock
            raise already_confirmed(accepted.tx_hash)
    if sweep.status == SweepStatus.FAILED and not sweep.is_open:
        raise SweepFailed


def refuse_unexecutable(sweep: Sweep) -> None:
    """Raise the error of a sweep that the user can't execute any more, or is not to."""
    refuse_decided(sweep)
    if sweep.cancellation_requested_at is not None:
        raise SweepVoid("The sweep is being cancelled on chain; build a new one.")
    if sweep.deadline <= timezone.now():
        raise SweepExpired


def already_confirmed(tx_hash: str) -> SweepAlreadyConfirmed:
    """Return the error that names the transaction which executed the sweep."""
    return SweepAlreadyConfirmed(details=[FieldError("txHash", "accepted_hash", tx_hash)])
