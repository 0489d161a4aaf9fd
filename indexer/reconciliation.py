"""Settles executions that final blocks show and the service does not know, above all those of closed sweeps."""

import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog

from indexer.locking import only_one
from sweepapi import networks
from sweepapi.networks import Networks
from sweeps.books.venues import venues_of
from sweeps.protocol.rail import Rail
from sweeps.rails.registry import RAILS
from sweeps.story.settle import SettlementOutcome, SweepReading, settle

log = structlog.get_logger(__name__)

# Beat starts a run each minute; the rest of it is left for a slow provider, and to the other tasks.
RUN_SECONDS = 30
CHUNK_ROWS = 250  # of a transaction


@dataclass(frozen=True)
class VenuePlace:
    """A venue at which executions were offered, and the rail that they are of."""

    rail: Rail
    network: str
    venue: str


def reconcile() -> None:
    """Settle what is found at each place of each enabled network since the last run, unless a run is under way."""
    with only_one("reconciliation") as is_mine:
        if is_mine:
            _reconcile(networks.current())
        else:
            log.info("reconciliation_is_under_way")


def _reconcile(registry: Networks) -> None:
    """Read until each place is caught up or the time is up.

    The places take turns. What can't be settled or read keeps nothing else from its turn; then all errors are raised as
    one group.
    """
    ends_at = time.monotonic() + RUN_SECONDS
    errors = []
    waiting = deque(_places(registry))
    while waiting:
        place = waiting.popleft()
        try:
            blocks_left = _read_on(registry, place)
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


def _places(registry: Networks) -> Iterator[VenuePlace]:
    for network in registry.enabled_networks:
        for venue, rail_name in venues_of(network):
            if rail_name in RAILS:
                yield VenuePlace(RAILS[rail_name], network, venue)


def _read_on(registry: Networks, place: VenuePlace) -> int:
    """Settle what the next final blocks show; return how many more can be read now."""
    blocks_left = 0
    for span in place.rail.find_executed(registry, place.network, place.venue):
        settle_all(span.readings)
        blocks_left = span.blocks_left
    return blocks_left


def settle_all(found: Iterable[tuple[UUID, Any]]) -> None:
    """Settle what was found in sets; what can't be settled is raised as one group once the rest is settled."""
    errors: list[Exception] = []
    chunk: dict[UUID, Any] = {}
    try:
        for sweep_id, answer in found:
            if sweep_id in chunk or len(chunk) == CHUNK_ROWS:
                errors += settle_found(chunk).errors
                chunk = {}
            chunk[sweep_id] = answer
    finally:  # what was found before an error is settled, too
        errors += settle_found(chunk).errors
    SettlementOutcome(errors=errors).raise_errors()


def settle_found(found: Mapping[UUID, Any]) -> SettlementOutcome:
    """Settle what was read of sweeps, by their ids."""
    return settle([SweepReading(sweep_id, answer) for sweep_id, answer in found.items()])
