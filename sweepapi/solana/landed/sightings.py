"""Looks up what happened to many transactions in few requests: those searched for, and those tracked."""

from collections.abc import Hashable, Sequence

from sweepapi.rpc import ProviderPool
from sweepapi.rpc.errors import ChainUnavailableError
from sweepapi.solana.landed.history import head_calls, statuses_call, take_head
from sweepapi.solana.landed.progress import ReferenceSearch, SearchSighting
from sweepapi.solana.landed.searching import search
from sweepapi.solana.landed.tracking import Tracked, TrackedSighting, track

MAX_SUBJECTS = 250  # in one request; getSignatureStatuses takes 256 at most

Subject = ReferenceSearch | Tracked
Sighting = SearchSighting | TrackedSighting


def read_sightings(pool: ProviderPool, subjects: Sequence[Subject]) -> dict[Hashable, Sighting]:
    """Return a sighting of each subject by its key; one that no provider answers about is missing.

    Providers may take fewer calls at once: if they refuse while one still answers, each half is asked for by itself.
    """
    sightings: dict[Hashable, Sighting] = {}
    for start in range(0, len(subjects), MAX_SUBJECTS):
        sightings |= _read(pool, subjects[start : start + MAX_SUBJECTS])
    return sightings


def _read(pool: ProviderPool, subjects: Sequence[Subject]) -> dict[Hashable, Sighting]:
    try:
        return _ask(pool, subjects)
    except ChainUnavailableError:
        if len(subjects) == 1 or not _answers(pool):
            return {}
    middle = len(subjects) // 2
    return _read(pool, subjects[:middle]) | _read(pool, subjects[middle:])


def _answers(pool: ProviderPool) -> bool:
    try:
        pool.ask(head_calls())
    except ChainUnavailableError:
        return False
    return True


def _ask(pool: ProviderPool, subjects: Sequence[Subject]) -> dict[Hashable, Sighting]:
    searches = [one for one in subjects if isinstance(one, ReferenceSearch)]
    tracked = [one for one in subjects if isinstance(one, Tracked)]
    calls = [*head_calls(), *(one.listing.call for one in searches)]
    if tracked:
        calls.append(statuses_call([one.signature for one in tracked]))
    provider, values = pool.ask(calls)
    head, rest = take_head(values)
    sightings: dict[Hashable, Sighting] = {}
    if searches:
        sightings |= search(pool, provider, head, searches, rest[: len(searches)])
    if tracked:
        sightings |= track(pool, head, tracked, rest[-1])
    return sightings
