"""Withdrawing a sweep by hand: voiding it before anybody is known to have sent it, cancelling it on chain, or both.

Voiding alone stops nobody who has the signature; a cancellation on chain does. Here it is only recorded: the worker
signs and sends it.
"""

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from sweeps.models import Cancellation, Sweep, SweepStatus, SweepTransaction
from sweeps.nudge import nudge_cancellations


class NotVoidableError(Exception):
    """The sweep is not pending, or a transaction was submitted for it that may still be mined."""


class NotCancellableError(Exception):
    """The sweep was executed, or is closed: there is nothing that a cancellation could prevent."""


def void(*, sweep_id: UUID, reason: str, cancelled_by: str | None = None) -> Sweep:
    """Void a pending sweep and return it; it stays open until the chain proves that it can't execute any more.

    With the name of who wants that, its authorization is cancelled on chain, too.

    Raises ``NotVoidableError``, and ``ValueError`` for an empty reason.
    """
    reason = _required(reason)
    with transaction.atomic():
        sweep = Sweep.objects.select_for_update().get(id=sweep_id)
        submitted = sweep.transactions.filter(status=SweepTransaction.Status.SUBMITTED).exists()
        if sweep.status != SweepStatus.PENDING or submitted:
            raise NotVoidableError
        sweep.status, sweep.voided_at, sweep.void_reason = SweepStatus.VOID, timezone.now(), reason
        sweep.save(update_fields=["status", "voided_at", "void_reason"])
        if cancelled_by is not None:
            _want_cancelled(sweep, reason=reason, requested_by=cancelled_by)
        return sweep


def cancel_on_chain(*, sweep_id: UUID, reason: str, requested_by: str) -> bool:
    """Have an open sweep's authorization cancelled on chain; its status is moved only by the chain.

    It does not matter what was submitted for the sweep: the transaction that is mined first wins. Returns False if
    that was asked for before; the first wish stands.

    Raises ``NotCancellableError``, and ``ValueError`` for an empty reason.
    """
    reason = _required(reason)
    with transaction.atomic():
        sweep = Sweep.objects.select_for_update().get(id=sweep_id)
        if sweep.status == SweepStatus.COMPLETED or not sweep.is_open:
            raise NotCancellableError
        return _want_cancelled(sweep, reason=reason, requested_by=requested_by)


def _required(reason: str) -> str:
    if not reason.strip():
        raise ValueError("A sweep is withdrawn for a reason.")
    return reason.strip()


def _want_cancelled(sweep: Sweep, *, reason: str, requested_by: str) -> bool:
    wish = {"requested_by": requested_by, "reason": reason}
    _, is_first = Cancellation.objects.get_or_create(sweep=sweep, defaults=wish)
    now = timezone.now()
    sweep.next_check_at = min(sweep.next_check_at or now, now)  # from then on ``settle`` keeps the pace
    sweep.save(update_fields=["next_check_at"])
    transaction.on_commit(nudge_cancellations)
    return is_first
