"""Bounds how many threads of a process something takes, so that the others stay free for other requests."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

from sweepapi.errors import SweepApiError


@contextmanager
def taking_place(places: BoundedSemaphore, refusal: SweepApiError) -> Iterator[None]:
    """Have one of the places within the block; raises the refusal at once if none is free."""
    if not places.acquire(blocking=False):
        raise refusal
    try:
        yield
    finally:
        places.release()
