"""A mapping in memory whose entries expire, and which drops the least recently used ones when there are too many."""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class ExpiringMap(Generic[K, V]):
    """Safe to share between threads; takes many entries at once, so that a build needs its lock only once."""

    def __init__(self, *, max_entries: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._max_entries = max_entries
        self._clock = clock
        self._entries: OrderedDict[K, tuple[V, float]] = OrderedDict()  # with the time at which each expires
        self._lock = Lock()

    def find(self, keys: Iterable[K]) -> dict[K, V]:
        """Return the entries of these keys that there are and that have not expired."""
        found, now = {}, self._clock()
        with self._lock:
            for key in keys:
                entry = self._entries.get(key)
                if entry is not None and now < entry[1]:
                    self._entries.move_to_end(key)
                    found[key] = entry[0]
        return found

    def keep(self, entries: Mapping[K, V], *, seconds: float) -> None:
        """Add or replace entries."""
        expires_at = self._clock() + seconds
        with self._lock:
            for key, value in entries.items():
                self._entries[key] = (value, expires_at)
                self._entries.move_to_end(key)
            while len(self._entries) > self._max_entries:
                self._entries.popitem(last=False)
