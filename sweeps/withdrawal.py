"""Withdraws a sweep by hand: voids it before a transaction is known for it, cancels it on chain, or both.

Voiding alone does not stop a user who has signed; a cancellation on chain does. Here it is only requested: the worker
signs and sends it.
"""

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from sweepapi.errors import SweepNotCancellable, SweepNotVoidable
from sweeps import transitions
from sweeps.models import Cause, EventKind, Sweep, SweepStatus, SweepTransaction
from sweeps.nudge import nudge_cancellations
from sweeps.rails.registry import RAILS


def void(*, sweep_id: UUID, reason: str, requested_by: str, cancels: bool = False) -> Sweep:
    """Void a pending sweep and return it; it stays open until the chain proves that it can't be executed any more.

    With ``cancels``, it is also cancelled on chain.

    Raises ``SweepNotVoidable``, ``SweepNotCancellable``, and ``ValueError`` for an empty reason.
    """
    reason = _required(reason)
    with transaction.atomic():
        sweep = Sweep.objects.select_for_update().get(id=sweep_id)
        submitted = sweep.transactions.filter(status=SweepTransaction.Status.SUBMITTED).exists()
        if sweep.status != SweepStatus.PENDING or submitted:
            raise SweepNotVoidable
        sweep.void_reason = reason
        transitions.move(sweep, SweepStatus.VOID, Cause.VOIDED, reason=reason, requested_by=requested_by)
        if cancels:
            _request_cancellation(sweep, reason=reason, requested_by=requested_by)
        sweep.save()
        return sweep


def cancel_on_chain(*, sweep_id: UUID, reason: str, requested_by: str) -> bool:
    """Request that an open sweep is cancelled on chain; only the chain moves its status.

    It does not matter what was submitted for the sweep: the transaction that is mined first wins. Returns False if
    that was requested before; the first request is kept.

    Raises ``SweepNotCancellable``, and ``ValueError`` for an empty reason.
    """
    reason = _required(reason)
    with transaction.atomic():
        sweep = Sweep.objects.select_for_update().get(id=sweep_id)
        if sweep.status == SweepStatus.COMPLETED or not sweep.is_open:
            raise SweepNotCancellable
        is_first = _request_cancellation(sweep, reason=reason, requested_by=requested_by)
        sweep.save()
        return is_first


def _required(reason: str) -> str:
    if not reason.strip():
        raise ValueError("A reason is required.")
    return reason.strip()


def _request_cancellation(sweep: Sweep, *, reason: str, requested_by: str) -> bool:
    now = timezone.now()
    is_first = sweep.cancellation_requested_at is None
    if is_first:
        sweep.cancellation_requested_at = now
        transitions.note(sweep, EventKind.CANCELLATION_REQUESTED, reason=reason, requested_by=requested_by)
        RAILS[sweep.rail].withdraw(sweep)
    sweep.next_check_at = min(sweep.next_check_at or now, now)  # ``settle`` schedules the next ones
    transaction.on_commit(nudge_cancellations)
    return is_first
