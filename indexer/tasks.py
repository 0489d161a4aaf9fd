"""The Celery tasks; each only calls the domain, because messages get lost, doubled and delayed."""

from uuid import UUID

from celery import shared_task

from indexer import cancellations, checks
from sweeps.nudge import CANCEL_TASK, CHECK_TASK, nudge


@shared_task(name=CHECK_TASK)
def check_sweep(sweep_id: str) -> None:
    """Look at one sweep if it is due, and come back at its next time while it waits for a receipt.

    Does nothing if the message came early or another check is under way: whoever set the row's time sends the message
    for it.
    """
    next_check_at = checks.check_one(UUID(sweep_id))
    if next_check_at is not None:
        nudge(UUID(sweep_id), at=next_check_at)


@shared_task(name="indexer.check_due")
def check_due() -> None:
    """Look at every sweep that is due and whose message was lost, or that is watched without any."""
    checks.check_due()


@shared_task(name=CANCEL_TASK)
def send_cancellations() -> None:
    """Sign and send what is to be cancelled on chain, and send again what waits there."""
    cancellations.send_wanted()
