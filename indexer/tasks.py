"""The Celery tasks; each only calls the domain, because messages get lost, duplicated and delayed."""

from uuid import UUID

from celery import shared_task

from indexer import checks, following, reconciliation, signer_balance
from sweeps.build import purge_answers
from sweeps.nudge import CANCEL_TASK, CHECK_TASK, nudge
from sweeps.rails.registry import RAILS


@shared_task(name=CHECK_TASK)
def check_sweep(sweep_id: str) -> None:
    """Check one sweep if it is due, and schedule its next message while it waits for a receipt.

    Does nothing if the message came early or another check is under way: the check that sets the row's time also sends
    the message for it.
    """
    next_check_at = checks.check_one(UUID(sweep_id))
    if next_check_at is not None:
        nudge(UUID(sweep_id), at=next_check_at)


@shared_task(name="indexer.check_due")
def check_due() -> None:
    """Check every due sweep whose message was lost, or that has none."""
    checks.check_due()


@shared_task(name="indexer.follow")
def follow() -> None:
    """Settle what the newest blocks of each chain show of our contracts."""
    following.follow()


@shared_task(name="indexer.reconcile")
def reconcile() -> None:
    """Settle what final blocks show and the service does not know, such as executions of closed sweeps."""
    reconciliation.reconcile()


@shared_task(name=CANCEL_TASK)
def send_cancellations() -> None:
    """Sign and send the cancellations that were requested, and send again those that are not mined yet."""
    for rail in RAILS.values():
        rail.send_withdrawals()


@shared_task(name="indexer.purge_answers")
def purge_answers_of_offers() -> None:
    """Delete the rendered answers that can no longer be requested again."""
    purge_answers()


@shared_task(name="indexer.measure_signer")
def measure_signer() -> None:
    """Measure the fee signer's balances, for the metrics."""
    signer_balance.measure()
