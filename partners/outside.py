"""Places for requests that wait for others: a chain, a swap API, a remote signer.

A web process has so many threads. What waits takes most of them at the worst, and each partner no more than a share,
whichever of its keys it uses; so do all test keys together. Reads of what is stored always find a thread.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache

from django.conf import settings

from partners.authentication import Requester
from sweepapi.errors import TooManyAtOnce
from sweepapi.limits.places import SharedPlaces
from sweepapi.modes import Mode
from sweepapi.monitoring import metrics

# Threads that do not wait for others; exports take two of them.
THREADS_FOR_STORED = 4
PATIENCE_SECONDS = 1.0
RETRY_AFTER_SECONDS = 1


def places_of(threads: int) -> SharedPlaces:
    """Return the places of a process with so many threads; a third of those that may wait outside wait for a place."""
    waiting = max(threads - THREADS_FOR_STORED, 1)
    places = max(waiting * 2 // 3, 1)
    return SharedPlaces(places, share=-(-places // 2), queue=waiting - places, patience_seconds=PATIENCE_SECONDS)


@contextmanager
def outside_place(requester: Requester) -> Iterator[None]:
    """Have a place within the block; raises ``TooManyAtOnce`` if none gets free."""
    holder = requester.mode if requester.mode is Mode.TEST else requester.partner_id
    with ExitStack() as stack:
        try:
            stack.enter_context(_places().taking(holder, TooManyAtOnce(retry_after_seconds=RETRY_AFTER_SECONDS)))
        except TooManyAtOnce:
            metrics.WITHOUT_A_PLACE.labels(requester.mode).inc()
            raise
        yield


@cache
def _places() -> SharedPlaces:
    return places_of(settings.WEB_THREADS)
