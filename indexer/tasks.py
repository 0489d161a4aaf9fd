"""The Celery tasks: they check sooner what the loop would check seconds later, because messages get lost."""

from uuid import UUID

from celery import shared_task

from indexer import checks
from sweeps.wake import CHECK_TASK, wake

DUE_TASK = "indexer.check_due"  # which beat sends


@shared_task(name=CHECK_TASK)
def check_sweep(sweep_id: str) -> None:
    """Check one sweep if it is due, and schedule its next message while it waits for a receipt.

    Does nothing if the message came early or another check is under way: the check that sets the row's time also sends
    the message for it.
    """
    next_check_at = checks.check_one(UUID(sweep_id))
    if next_check_at is not None:
        wake(UUID(sweep_id), at=next_check_at)


@shared_task(name=DUE_TASK)
def check_due() -> None:
    """Check what is due, such as sweeps that ran out, whose message was lost, or that have none."""
    checks.check_due()
