"""Voiding a sweep by hand: ops withdraws it before anybody is known to have sent it."""

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from sweeps.models import Sweep, SweepStatus, SweepTransaction


class NotVoidableError(Exception):
    """The sweep is not pending, or a transaction was submitted for it that may still be mined."""


def void(*, sweep_id: UUID, reason: str) -> Sweep:
    """Void a pending sweep and return it; it stays open until the chain proves that it can't execute any more.

    Raises ``NotVoidableError``, and ``ValueError`` for an empty reason.
    """
    if not reason.strip():
        raise ValueError("A sweep is voided for a reason.")
    with transaction.atomic():
        sweep = Sweep.objects.select_for_update().get(id=sweep_id)
        submitted = sweep.transactions.filter(status=SweepTransaction.Status.SUBMITTED).exists()
        if sweep.status != SweepStatus.PENDING or submitted:
            raise NotVoidableError
        sweep.status, sweep.voided_at, sweep.void_reason = SweepStatus.VOID, timezone.now(), reason.strip()
        sweep.save(update_fields=["status", "voided_at", "void_reason"])
        return sweep
