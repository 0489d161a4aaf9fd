"""Selects the sweeps that are due, by the database's clock, and leases each to one check.

A claim takes the most urgent rows: first those that wait for a receipt, which are the pending ones whose look is
planned before their deadline; then completed ones, whose blocks are watched; then the rest, which mostly ran out. A row
is due once its time has come and no lease holds it, both in one column of the index ``sweep_due_by_urgency``. So the
time of a claim does not depend on how many sweeps are open, due or leased.

The lease only saves calls to the chain: concurrent checks are harmless, because ``settle`` takes the row's lock. A
lease that its holder neither renewed nor released expires.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any
from uuid import UUID, uuid4

import structlog
from django.conf import settings
from django.db import connection, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from indexer.leases import LEASE
from sweepapi import networks
from sweeps.models import Execution, Sweep
from sweeps.rails.registry import RAILS
from sweeps.store import reading
from sweeps.store.stored import StoredSweep

log = structlog.get_logger(__name__)

HELD_OFF = timedelta(minutes=1)  # for which what can't be settled is left alone
# A row that awaits a receipt is left to its own message; a batch takes it if the message does not come. None comes for
# a row whose lease expired.
MESSAGE_GRACE = timedelta(seconds=2)
BATCH_ROWS = 200  # which every rail looks up in one request, and which are claimed within five milliseconds
MAX_BATCHES = 40  # of one pass; beat starts the next one seconds later

# VALUES lists the urgencies in their order, each with the grace of its rows; LIMIT stops where enough rows are found.
_CLAIM_DUE = """
UPDATE sweeps_sweep SET lease_token = %(lease)s, lease_until = statement_timestamp() + %(lease_for)s
WHERE id = ANY(ARRAY(
    SELECT due.id
    FROM (VALUES (0, %(grace)s), (1, interval '0'), (2, interval '0')) AS urgency (rank, grace),
    LATERAL (
        SELECT id FROM sweeps_sweep
        WHERE is_open
          AND CASE WHEN next_check_at <= deadline AND status = 'pending' THEN 0
                   WHEN status = 'completed' THEN 1 ELSE 2 END = urgency.rank
          AND GREATEST(next_check_at, lease_until) <= statement_timestamp()
          AND (lease_token IS NOT NULL OR next_check_at <= statement_timestamp() - urgency.grace)
        ORDER BY GREATEST(next_check_at, lease_until)
        LIMIT %(rows)s
        FOR UPDATE SKIP LOCKED
    ) AS due
    LIMIT %(rows)s
)) RETURNING id
"""
_CLAIM_THESE = """
UPDATE sweeps_sweep SET lease_token = %(lease)s, lease_until = statement_timestamp() + %(lease_for)s
WHERE id = ANY(ARRAY(
    SELECT id FROM sweeps_sweep
    WHERE id = ANY(%(ids)s) AND is_open AND GREATEST(next_check_at, lease_until) <= statement_timestamp()
    FOR UPDATE SKIP LOCKED
)) RETURNING id
"""
# A row that another transaction has locked is being written, by the holder itself or soon enough for the next renewal.
_RENEW = """
UPDATE sweeps_sweep SET lease_until = statement_timestamp() + %(lease_for)s
WHERE id = ANY(ARRAY(
    SELECT id FROM sweeps_sweep WHERE id = ANY(%(ids)s) AND lease_token = %(lease)s FOR UPDATE SKIP LOCKED
))
"""
_BACKLOG = """
SELECT count(*), max(waiting) FROM (
    SELECT statement_timestamp() - GREATEST(next_check_at, lease_until) AS waiting FROM sweeps_sweep
    WHERE is_open
      AND CASE WHEN next_check_at <= deadline AND status = 'pending' THEN 0
               WHEN status = 'completed' THEN 1 ELSE 2 END IN (0, 1, 2)
      AND GREATEST(next_check_at, lease_until) <= statement_timestamp()
    LIMIT %s
) AS due
"""


@dataclass(frozen=True)
class SweepClaim:
    """Sweeps under one lease."""

    lease: UUID
    stored: list[StoredSweep]

    @property
    def sweeps(self) -> list[Sweep]:
        return [one.sweep for one in self.stored]


@dataclass(frozen=True)
class SweepBacklog:
    """How many sweeps are due, and for how long the oldest of them has been."""

    rows: int
    oldest: timedelta

    @property
    def batches(self) -> int:
        return -(-self.rows // BATCH_ROWS)


def claim_one(sweep_id: UUID) -> SweepClaim | None:
    """Lease a sweep if it is due now and not leased already; None otherwise."""
    return claim_these([sweep_id])


def claim_these(sweep_ids: Sequence[UUID]) -> SweepClaim | None:
    """Lease those of these sweeps that are due now and not leased already; None if there are none."""
    return _claim(_CLAIM_THESE, ids=list(sweep_ids))


def claim_due() -> SweepClaim | None:
    """Lease a batch of what is due, the most urgent rows first, and of these the ones that wait longest."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            # Where many more rows are due than the planner expects, it would read and sort all of them.
            cursor.execute("SET LOCAL enable_sort = off")
        return _claim(_CLAIM_DUE, grace=MESSAGE_GRACE, rows=BATCH_ROWS)


def renew(claim: SweepClaim) -> None:
    """Extend the lease of what is still under it."""
    ids = [sweep.id for sweep in claim.sweeps]
    parameters: dict[str, Any] = {"ids": ids, "lease": claim.lease, "lease_for": LEASE}
    with connection.cursor() as cursor:
        cursor.execute(_RENEW, parameters)


def release(claim: SweepClaim, sweep_ids: Collection[UUID]) -> None:
    """Let others claim these sweeps again, as far as they are still under this lease."""
    _held(claim, sweep_ids).update(lease_token=None, lease_until=None)


def hold_off(claim: SweepClaim, sweep_ids: Collection[UUID]) -> None:
    """Keep sweeps that can't be settled from being claimed for a while, so that they don't fail with each batch."""
    _held(claim, sweep_ids).update(lease_until=Now() + HELD_OFF)


def backlog() -> SweepBacklog:
    """Return how much is due, up to the rows of ``MAX_BATCHES``."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_bitmapscan = off")  # which reads all that is due before the limit counts
        cursor.execute(_BACKLOG, [BATCH_ROWS * MAX_BATCHES])
        rows, oldest = cursor.fetchone()
    return SweepBacklog(rows, oldest or timedelta(0))


def networks_in_use() -> list[tuple[str, str]]:
    """Return a rail and the network for each known network on which sweeps were built."""
    found = []
    for network in sorted(networks.current().known):
        executions = Execution.objects.filter(network=network).order_by("venue")  # one step through the unique index
        rail = executions.values_list("sweep__rail", flat=True).first()
        if rail in RAILS:
            found.append((rail, network))
    return found


def make_run_out_due(network: str, clock: datetime) -> int:
    """Make sweeps due whose deadline passed by the time of the network's safe block, and return how many were made so.

    Only where that time is further ahead of the database's clock than the longest delay: otherwise they are due within
    that delay anyway.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement_timestamp()")
        (now,) = cursor.fetchone()
    horizon = now + timedelta(seconds=settings.MAX_CHECK_DELAY_SECONDS)
    if clock <= horizon:
        return 0
    waiting = Sweep.objects.filter(is_open=True, network=network, deadline__lt=clock, next_check_at__gt=horizon)
    return waiting.update(next_check_at=now - MESSAGE_GRACE)  # no message will come


def _claim(statement: str, **parameters: object) -> SweepClaim | None:
    lease = uuid4()
    with connection.cursor() as cursor:
        cursor.execute(statement, {"lease": lease, "lease_for": LEASE, **parameters})
        claimed = list(reading.read([sweep_id for (sweep_id,) in cursor.fetchall()]).values())
    known = [one for one in claimed if one.sweep.rail in RAILS and one.sweep.network in networks.current().known]
    if len(known) < len(claimed):
        _set_aside(lease, [one.sweep for one in claimed if one not in known])
    return SweepClaim(lease, sorted(known, key=attrgetter("sweep.next_check_at"))) if known else None


def _held(claim: SweepClaim, sweep_ids: Collection[UUID]) -> QuerySet[Sweep]:
    return Sweep.objects.filter(id__in=sweep_ids, lease_token=claim.lease)


def _set_aside(lease: UUID, sweeps: Sequence[Sweep]) -> None:
    """Put off the sweeps that this release or its chains file can't follow."""
    unknown = sorted({f"{sweep.rail} on {sweep.network}" for sweep in sweeps})
    log.error("open_sweeps_on_unknown_networks", unknown=unknown)
    held = Sweep.objects.filter(id__in=[sweep.id for sweep in sweeps], lease_token=lease)
    later = Now() + timedelta(seconds=settings.MAX_CHECK_DELAY_SECONDS)
    held.update(lease_token=None, lease_until=None, next_check_at=later)
