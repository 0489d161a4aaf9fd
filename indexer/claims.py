"""Selects the sweeps that are due, by the database's clock, and leases each to one check.

A claim takes the most urgent rows: first those that wait for a receipt, which are the pending ones whose check is
planned before their deadline; then completed ones, whose blocks are followed; then the rest, which mostly ran out. A
row is due once its time has come and no lease holds it.

The lease only saves calls to the chain: concurrent checks are harmless, because ``settle`` takes the row's lock. A
lease that its holder neither renewed nor released expires.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import attrgetter
from uuid import UUID, uuid4

import structlog
from django.conf import settings

from indexer.leases import LEASE
from sweepapi import networks
from sweepapi.postgres.clock import database_time
from sweeps.models import Execution, Sweep
from sweeps.rails.registry import RAILS
from sweeps.store import leases, reading
from sweeps.store.stored import StoredSweep

log = structlog.get_logger(__name__)

HELD_OFF = timedelta(minutes=1)  # for which what can't be settled is left alone
# A row that awaits a receipt is left to its own message; a batch takes it if the message does not come. None comes for
# a row whose lease expired.
MESSAGE_GRACE = timedelta(seconds=2)
BATCH_ROWS = 200  # which every rail looks up in one request, and which are claimed within five milliseconds
MAX_BATCHES = 40  # of one pass; beat starts the next one seconds later


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
    lease = uuid4()
    return _claim(lease, leases.claim_these(sweep_ids, lease, lease_for=LEASE))


def claim_due() -> SweepClaim | None:
    """Lease a batch of what is due, the most urgent rows first, and of these the ones that wait longest."""
    lease = uuid4()
    return _claim(lease, leases.claim_due(lease, lease_for=LEASE, grace=MESSAGE_GRACE, rows=BATCH_ROWS))


def renew(claim: SweepClaim) -> None:
    """Extend the lease of what is still under it."""
    leases.renew([one.id for one in claim.stored], claim.lease, lease_for=LEASE)


def release(claim: SweepClaim, sweep_ids: Collection[UUID]) -> None:
    """Let others claim these sweeps again, as far as they are still under this lease."""
    leases.release(sweep_ids, claim.lease)


def hold_off(claim: SweepClaim, sweep_ids: Collection[UUID]) -> None:
    """Keep sweeps that can't be settled from being claimed for a while, so that they don't fail with each batch."""
    leases.hold(sweep_ids, claim.lease, lease_for=HELD_OFF)


def backlog() -> SweepBacklog:
    """Return how much is due, up to the rows of ``MAX_BATCHES``."""
    return SweepBacklog(*leases.backlog(rows=BATCH_ROWS * MAX_BATCHES))


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
    now = database_time()
    horizon = now + timedelta(seconds=settings.MAX_CHECK_DELAY_SECONDS)
    if clock <= horizon:
        return 0
    at = now - MESSAGE_GRACE  # no message will come
    return leases.make_run_out_due(network, clock=clock, planned_after=horizon, at=at)


def _claim(lease: UUID, sweep_ids: Collection[UUID]) -> SweepClaim | None:
    claimed = list(reading.read(sweep_ids).values())
    known = [one for one in claimed if one.sweep.rail in RAILS and one.sweep.network in networks.current().known]
    if len(known) < len(claimed):
        _set_aside(lease, [one.sweep for one in claimed if one not in known])
    return SweepClaim(lease, sorted(known, key=attrgetter("sweep.next_check_at"))) if known else None


def _set_aside(lease: UUID, sweeps: Sequence[Sweep]) -> None:
    """Put off the sweeps that this release or its chains file can't follow."""
    unknown = sorted({f"{sweep.rail} on {sweep.network}" for sweep in sweeps})
    log.error("open_sweeps_on_unknown_networks", unknown=unknown)
    delay = timedelta(seconds=settings.MAX_CHECK_DELAY_SECONDS)
    leases.put_off([sweep.id for sweep in sweeps], lease, delay=delay)
