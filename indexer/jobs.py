"""The jobs of the loop: everything that becomes due without a request, and how often it is looked for."""

from collections.abc import Collection
from threading import Event

from django.conf import settings

from indexer import blocks, books, checks, following, reconciliation, signer_balance
from indexer.runner import Job, Runner
from indexer.scheduled import ScheduleWatches
from ledger.entries import numbering
from ledger.proofs import signing
from partners import idempotency
from partners.webhooks import endpoints
from partners.webhooks.deliverer import Deliverer
from sweepapi import networks
from sweepapi.startup.needs import FEE_SIGNER
from sweeps.books import hourly_sums
from sweeps.heartbeats import WEBHOOKS, WORKER
from sweeps.rails.registry import RAILS
from sweeps.status_objects import status_objects


def send_cancellations() -> None:
    """Sign and send the cancellations that were requested, and send again those that are not mined yet."""
    registry = networks.current()
    for rail in RAILS.values():
        rail.send_withdrawals(registry)


def purge() -> None:
    """Delete answers that can't be requested again, and webhook messages too old to be replayed."""
    idempotency.purge()
    endpoints.purge()


def all_jobs() -> list[Job]:
    """Return every job, the most urgent first."""
    due, deliverer = settings.DUE_SWEEP_SECONDS, Deliverer(status_objects)
    jobs = [
        Job("sweeps", due, checks.check_batches, heart=WORKER),
        Job("clocks", due, checks.check_clocks),
        Job("blocks", due, blocks.check_due),
        Job("following", settings.FOLLOW_SECONDS, following.follow),
        Job(  # a round waits for attempts
            "webhooks", 0.0, deliverer.round, heart=WEBHOOKS, end=deliverer.finish, secrets=["WEBHOOK_KEYS"]
        ),
        Job("numbering", 1.0, numbering.number_entries),
        Job("cancellations", due, send_cancellations, secrets=[FEE_SIGNER]),
        Job("reconciliation", 60.0, reconciliation.reconcile),  # final blocks are minutes old
        Job("signing", 60.0, signing.sign_months, secrets=["PROOF_KEY"]),  # little is left to do when a month ends
        Job("schedules", 15.0, ScheduleWatches().round),
        Job("balances", 60.0, signer_balance.measure, secrets=[FEE_SIGNER]),
        Job("books", 600.0, books.compare_last_day),  # rows say when each network is due, once a day
        Job("sums", 60.0, hourly_sums.sum_hours),
        Job("purges", 3600.0, purge),
    ]
    return [job for job in jobs if job.name != "following" or settings.FOLLOW_SECONDS > 0]


def runner(names: Collection[str], stopping: Event) -> Runner:
    """Return the loop for the jobs of these names, for all without any; raises ``ValueError`` for an unknown name."""
    jobs = {job.name: job for job in all_jobs()}
    unknown = set(names) - jobs.keys()
    if unknown:
        raise ValueError(f"No such job: {', '.join(sorted(unknown))}. The jobs are {', '.join(jobs)}.")
    return Runner([job for name, job in jobs.items() if not names or name in names], stopping)
