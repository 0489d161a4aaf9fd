"""Voiding a sweep by hand: ops withdraws it before anybody is known to have sent it.

That alone stops nobody who has the signature; a cancellation on chain does. Here it is only recorded: the worker signs
and sends it.
"""

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from sweepapi import chains
from sweeps import schedule
from sweeps.models import Cancellation, Sweep, SweepStatus, SweepTransaction
from sweeps.nudge import nudge_cancellations


class NotVoidableError(Exception):
    """The sweep is not pending, or a transaction was submitted for it that may still be mined."""


def void(*, sweep_id: UUID, reason: str, cancelled_by: str | None = None) -> Sweep:
    """Void a pending sweep and return it; it stays open until the chain proves that it can't execute any more.

    With the name of who wants that, its authorization is cancelled on chain, too.

    Raises ``NotVoidableError``, and ``ValueError`` for an empty reason.
    """
    if not reason.strip():
        raise ValueError("A sweep is voided for a reason.")
    with transaction.atomic():
        sweep = Sweep.objects.select_for_update().get(id=sweep_id)
        submitted = sweep.transactions.filter(status=SweepTransaction.Status.SUBMITTED).exists()
        if sweep.status != SweepStatus.PENDING or submitted:
            raise NotVoidableError
        now = timezone.now()
        sweep.status, sweep.voided_at, sweep.void_reason = SweepStatus.VOID, now, reason.strip()
        if cancelled_by is not None:
            # There is one already if the sweep was void before, executed all the same, and lost its block.
            Cancellation.objects.get_or_create(sweep=sweep, defaults={"requested_by": cancelled_by})
            sweep.next_check_at = schedule.recheck(now, chains.by_id(sweep.chain_id).finality)
            transaction.on_commit(nudge_cancellations)
        sweep.save(update_fields=["status", "voided_at", "void_reason", "next_check_at"])
        return sweep
