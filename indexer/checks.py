"""Checks due sweeps: claims them, has their rails read the networks, and settles them in sets.

1. ``claims`` leases rows that are due. 2. Their rails read the networks outside any transaction, in batches. 3.
``settle`` writes what was read, where lease and version are as they were read; if no provider answered, only the
time of the next check is written.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import partial
from itertools import groupby
from operator import attrgetter
from uuid import UUID

from indexer import claims
from indexer.claims import SweepClaim
from indexer.leases import renewed
from sweepapi import networks
from sweepapi.networks import Networks
from sweeps.heartbeats import show_progress
from sweeps.rails.registry import RAILS
from sweeps.story.settle import SettlementOutcome, SweepReading, follow, settle


def check_one(sweep_id: UUID) -> datetime | None:
    """Check a sweep if it is due, and return the time of its next message.

    None if another check holds it, it was not due, or it no longer waits for a receipt: the rest is left to the loop.
    """
    claim = claims.claim_one(sweep_id)
    if claim is None:
        return None
    outcome = _check(networks.current(), claim)
    outcome.raise_errors()
    waiting = [settled.stored.sweep for settled in outcome.settled if settled.awaits_receipt]
    return waiting[0].next_check_at if waiting else None


def check_due() -> int:
    """Check every sweep that is due by any clock, as ``check_batches`` does."""
    check_clocks()
    return check_batches()


def check_batches() -> int:
    """Check every sweep that is due in this process, batch by batch, and return how many were.

    Those that can't be settled are raised as one group once the others are settled.
    """
    registry, count = networks.current(), 0
    errors: list[Exception] = []
    for _ in range(claims.backlog().batches):
        claim = claims.claim_due()
        if claim is not None:
            errors.extend(_check(registry, claim).errors)
            count += len(claim.sweeps)
    SettlementOutcome(errors=errors).raise_errors()
    return count


def check_clocks() -> None:
    """Make due what ran out by the clock of its network, where that is ahead."""
    for network, clock in _clocks(networks.current(), claims.networks_in_use()).items():
        claims.make_run_out_due(network, clock)


def _check(registry: Networks, claim: SweepClaim) -> SettlementOutcome:
    """Read and settle the claimed sweeps."""
    outcome = SettlementOutcome()
    waiting = {sweep.id for sweep in claim.sweeps}
    try:
        with renewed(partial(claims.renew, claim)):
            for readings in _readings(registry, claim):
                settled = settle(readings, lease=claim.lease)
                waiting -= {one.sweep_id for one in readings}
                outcome.settled.extend(settled.settled)
                outcome.errors.extend(settled.errors)
                show_progress()
    finally:
        if waiting:  # a check failed
            claims.release(claim, waiting)
    if outcome.errors:
        settled_ids = {settled.stored.id for settled in outcome.settled}
        claims.hold_off(claim, [sweep.id for sweep in claim.sweeps if sweep.id not in settled_ids])
    return outcome


def _readings(registry: Networks, claim: SweepClaim) -> Iterator[list[SweepReading]]:
    """Yield what is read of the sweeps, as soon as it is read."""
    place = attrgetter("sweep.rail", "sweep.network")
    for (rail_name, network), group in groupby(sorted(claim.stored, key=place), key=place):
        followed = {one.stored.id: one for one in follow(group)}
        for answers in RAILS[rail_name].read(registry, network, [one.by_rail for one in followed.values()]):
            yield [SweepReading(sweep_id, one, followed[sweep_id]) for sweep_id, one in answers]


def _clocks(registry: Networks, in_use: Iterable[tuple[str, str]]) -> dict[str, datetime]:
    """Return the time of each network's safe block; a network that does not answer is left out."""
    clocks = {}
    for rail_name, network in in_use:
        clock = RAILS[rail_name].clock(registry, network)
        show_progress()
        if clock is not None:
            clocks[network] = clock
    return clocks
