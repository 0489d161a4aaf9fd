"""Settles executions that final blocks show and the service does not know, above all those of closed sweeps."""

import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog
from django.db import connection

from sweepapi import networks
from sweeps.models import Execution
from sweeps.rails.rail import Rail
from sweeps.rails.registry import RAILS
from sweeps.settle import settle

log = structlog.get_logger(__name__)

# Beat starts a run each minute; the rest of it is left for a slow provider, and to the other tasks.
RUN_SECONDS = 30


@dataclass(frozen=True)
class Place:
    """A venue at which executions were offered, and the rail that they are of."""

    rail: Rail
    network: str
    venue: str


def reconcile() -> None:
    """Settle what is found at each place of each enabled network since the last run, unless a run is under way."""
    with _lock() as is_mine:
        if is_mine:
            _reconcile()
        else:
            log.info("reconciliation_is_under_way")


@contextmanager
def _lock() -> Iterator[bool]:
    """Hold the lock of a run, if no other holds it; PostgreSQL releases that of a process that died.

    It belongs to the session, because a run waits for providers, which no transaction may do.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(hashtextextended('reconciliation', 0))")
        (is_mine,) = cursor.fetchone()
    try:
        yield is_mine
    finally:
        if is_mine:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(hashtextextended('reconciliation', 0))")


def _reconcile() -> None:
    """Read until each place is caught up or the time is up.

    The places take turns. What can't be settled or read keeps nothing else from its turn; then all errors are raised as
    one group.
    """
    ends_at = time.monotonic() + RUN_SECONDS
    errors = []
    waiting = deque(_places())
    while waiting:
        place = waiting.popleft()
        try:
            blocks_left = _read_on(place)
        except Exception as error:
            log.exception("reconciliation_failed", network=place.network, venue=place.venue)
            errors.append(error)
            continue
        if blocks_left and time.monotonic() < ends_at:
            waiting.append(place)
        elif blocks_left:
            log.warning("reconciliation_behind", network=place.network, venue=place.venue, blocks=blocks_left)
    if errors:
        raise ExceptionGroup("not everything could be reconciled", errors)


def _places() -> Iterator[Place]:
    """Yield them all; each is found by one step through the unique index."""
    registry = networks.current()
    chains = [chain.network for chain in registry.enabled]
    for network in [*chains, *(cluster.network for cluster in registry.enabled_clusters)]:
        executions = Execution.objects.filter(network=network).order_by("venue")
        found = executions.values_list("venue", "sweep__rail")
        first = found.first()
        while first is not None:
            venue, rail_name = first
            if rail_name in RAILS:
                yield Place(RAILS[rail_name], network, venue)
            first = found.filter(venue__gt=venue).first()


def _read_on(place: Place) -> int:
    """Settle what the next final blocks show; return how many more can be read now."""
    blocks_left = 0
    for span in place.rail.find_executed(place.network, place.venue):
        _settle_all(span.looks)
        blocks_left = span.blocks_left
    return blocks_left


def _settle_all(looks: Sequence[tuple[UUID, Any]]) -> None:
    """Settle each; those that can't be settled are raised as one group once the others are."""
    errors = []
    for sweep_id, seen in looks:
        try:
            settle(sweep_id=sweep_id, seen=seen)
        except Exception as error:
            log.exception("settling_failed", sweep_id=str(sweep_id))
            errors.append(error)
    if errors:
        raise ExceptionGroup("not everything could be settled", errors)
