"""The Celery tasks; each only calls the domain, because messages get lost, duplicated and delayed."""

from uuid import UUID

from celery import shared_task

from indexer import books, checks, claims, following, reconciliation, signer_balance, watching
from ledger import numbering
from ledger.proofs import signing
from partners import idempotency
from partners.webhooks.endpoints import purge
from sweeps.nudge import CANCEL_TASK, CHECK_TASK, nudge, publish
from sweeps.rails.registry import RAILS

BATCH_TASK = "indexer.check_batch"


@shared_task(name=CHECK_TASK)
def check_sweep(sweep_id: str) -> None:
    """Check one sweep if it is due, and schedule its next message while it waits for a receipt.

    Does nothing if the message came early or another check is under way: the check that sets the row's time also sends
    the message for it.
    """
    next_check_at = checks.check_one(UUID(sweep_id))
    if next_check_at is not None:
        nudge(UUID(sweep_id), at=next_check_at)


@shared_task(name=BATCH_TASK)
def check_batch(*sweep_ids: str) -> None:
    """Check some sweeps at once: these, or else the most urgent ones. Those that wait for a receipt are checked again.

    One that is not due when it is to be checked again was checked by another task, which sent the next message.
    """
    for later in checks.check_batch([UUID(sweep_id) for sweep_id in sweep_ids]):
        publish(BATCH_TASK, *map(str, later.sweep_ids), countdown_seconds=later.delay.total_seconds())


@shared_task(name="indexer.check_due")
def check_due() -> None:
    """Have every due sweep checked whose message was lost, or that has none: send a message for each batch."""
    for _ in range(claims.backlog().batches):
        if not publish(BATCH_TASK):
            break  # beat starts the next pass soon


@shared_task(name="indexer.check_clocks")
def check_clocks() -> None:
    """Make sweeps due that ran out by the clock of their network, where it is far ahead of ours."""
    checks.check_clocks()


@shared_task(name=watching.TASK)
def watch_blocks() -> None:
    """Look at the blocks that are due, for the sweeps that rest on them."""
    watching.watch()


@shared_task(name="indexer.follow")
def follow() -> None:
    """Settle what the newest blocks of each chain show of our contracts."""
    following.follow()


@shared_task(name="indexer.number_entries")
def number_entries() -> None:
    """Give their numbers to the entries that were committed since the last time."""
    numbering.number_entries()


@shared_task(name="indexer.sign_months")
def sign_months() -> None:
    """Store what partners' trees have grown by, and sign the months that are over."""
    signing.sign_months()


@shared_task(name="indexer.reconcile")
def reconcile() -> None:
    """Settle what final blocks show and the service does not know, such as executions of closed sweeps."""
    reconciliation.reconcile()


@shared_task(name="indexer.compare_books")
def compare_books() -> None:
    """Compare the books with the last day of each chain, if that was not done for a day."""
    books.compare_last_day()


@shared_task(name=CANCEL_TASK)
def send_cancellations() -> None:
    """Sign and send the cancellations that were requested, and send again those that are not mined yet."""
    for rail in RAILS.values():
        rail.send_withdrawals()


@shared_task(name="indexer.purge_answers")
def purge_answers() -> None:
    """Delete the answers that are kept for repeated requests once these can't be repeated any more."""
    idempotency.purge()


@shared_task(name="indexer.purge_webhooks")
def purge_webhooks() -> None:
    """Delete webhook messages that are too old to be replayed."""
    purge()


@shared_task(name="indexer.measure_signer")
def measure_signer() -> None:
    """Measure the fee signer's balances, for the metrics."""
    signer_balance.measure()
