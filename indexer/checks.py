"""Checks due sweeps: claims them, has their rails look at the networks, and settles each.

1. ``claims`` leases rows that are due. 2. Their rails read the networks outside any transaction, in batches. 3.
``settle`` writes what was seen, by compare-and-set on the lease; if no provider answered, only the time of the next
look is written.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any
from uuid import UUID

import structlog
from django.utils import timezone

from indexer import claims
from indexer.claims import Claim
from indexer.waiting import Appointment, appointments
from sweeps import schedule
from sweeps.models import NO_PROVIDER_ANSWERED, Sweep, SweepStatus, SweepTransaction
from sweeps.rails.registry import RAILS
from sweeps.settle import LeaseLostError, settle

log = structlog.get_logger(__name__)


def check_one(sweep_id: UUID) -> datetime | None:
    """Check a sweep if it is due, and return the time of its next message.

    None if another check holds it, it was not due, or it no longer waits for a receipt: the rest is left to beat.
    """
    claim = claims.claim_one(sweep_id)
    if claim is None:
        return None
    waiting = [sweep for sweep in _check(claim) if _awaits_receipt(sweep)]
    return waiting[0].next_check_at if waiting else None


def check_batch(sweep_ids: Sequence[UUID] = ()) -> list[Appointment]:
    """Check those of these sweeps that are due, or without any ids the most urgent of all that are due.

    Returns when to check those again that wait for a receipt.
    """
    claim = claims.claim_these(sweep_ids) if sweep_ids else claims.claim_due()
    if claim is None:
        return []
    _check(claim)
    return appointments([sweep.id for sweep in claim.sweeps])


def check_due() -> int:
    """Check every sweep that is due in this process, batch by batch, and return how many were."""
    check_clocks()
    count = 0
    for _ in range(claims.backlog().batches):
        claim = claims.claim_due()
        if claim is not None:
            _check(claim)
            count += len(claim.sweeps)
    return count


def check_clocks() -> None:
    """Make due what ran out by the clock of its network, where that is ahead."""
    for network, clock in _clocks(claims.networks_in_use()).items():
        claims.make_run_out_due(network, clock)


def _awaits_receipt(sweep: Sweep) -> bool:
    submitted = sweep.transactions.filter(status=SweepTransaction.Status.SUBMITTED)
    return sweep.status == SweepStatus.PENDING and submitted.exists()


def _check(claim: Claim) -> list[Sweep]:
    """Look at and settle the claimed sweeps, and return those that this check settled."""
    checked: list[Sweep] = []
    waiting = {sweep.id: sweep for sweep in claim.sweeps}
    try:
        for sweep_id, seen in _looks(claim):
            sweep = waiting.pop(sweep_id)
            if seen is None:
                _postpone(sweep, claim.lease)
                continue
            try:
                checked.append(settle(sweep_id=sweep_id, seen=seen, lease=claim.lease).sweep)
            except LeaseLostError:
                log.info("lease_lost", sweep_id=str(sweep_id))
    finally:
        # None are left unless settling one failed: it keeps its lease, so that the next run gets past it.
        if waiting:
            held = Sweep.objects.filter(id__in=waiting, lease_token=claim.lease)
            held.update(lease_token=None, lease_until=None)
    return checked


def _looks(claim: Claim) -> Iterator[tuple[UUID, Any]]:
    place = attrgetter("rail", "network")
    for (rail_name, network), group in groupby(sorted(claim.sweeps, key=place), key=place):
        rail = RAILS[rail_name]
        yield from rail.see(network, rail.watch(list(group)))


def _postpone(sweep: Sweep, lease: UUID) -> None:
    """Release the lease and schedule another look; nothing was learnt."""
    Sweep.objects.filter(id=sweep.id, lease_token=lease).update(
        lease_token=None,
        lease_until=None,
        last_error=NO_PROVIDER_ANSWERED,
        next_check_at=schedule.backed_off(timezone.now(), since=sweep.last_checked_at or sweep.created_at),
    )


def _clocks(networks: Iterable[tuple[str, str]]) -> dict[str, datetime]:
    """Return the time of each network's safe block; a network that does not answer is left out."""
    clocks = {}
    for rail_name, network in networks:
        clock = RAILS[rail_name].clock(network)
        if clock is not None:
            clocks[network] = clock
    return clocks
