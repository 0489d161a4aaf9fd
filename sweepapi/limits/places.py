"""Bounds how many threads of a process something takes, so that the others stay free for other requests."""

from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import BoundedSemaphore, Condition

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


@dataclass
class SharedPlaces:
    """Places of which no one holds more than a share. A few threads may wait a moment for one, in a queue."""

    places: int
    share: int
    queue: int
    patience_seconds: float
    _held: Counter[Hashable] = field(default_factory=Counter, init=False)
    _waiting: int = field(default=0, init=False)
    _changed: Condition = field(default_factory=Condition, init=False)

    @contextmanager
    def taking(self, holder: Hashable, refusal: SweepApiError) -> Iterator[None]:
        """Have a place of this holder's within the block; raises the refusal if none gets free in time."""
        with self._changed:
            if not self._awaited(holder):
                raise refusal
            self._held[holder] += 1
        try:
            yield
        finally:
            with self._changed:
                self._held[holder] -= 1
                self._held += Counter()  # forgets who holds none
                self._changed.notify_all()

    def _awaited(self, holder: Hashable) -> bool:
        if self._is_free(holder):
            return True
        if self._waiting >= self.queue:
            return False
        self._waiting += 1
        try:
            return self._changed.wait_for(lambda: self._is_free(holder), self.patience_seconds)
        finally:
            self._waiting -= 1

    def _is_free(self, holder: Hashable) -> bool:
        return self._held.total() < self.places and self._held[holder] < self.share
