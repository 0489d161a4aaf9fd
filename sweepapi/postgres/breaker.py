"""Spares requests the wait for a server that has just left another one without an answer."""

import threading
from time import monotonic

PAUSE_SECONDS = 0.25


class Breaker:
    """Of one server and process; safe to use from several threads.

    For a moment after an unanswered wait, nothing is asked. Then one caller tries, and the others are refused until it
    has an answer or its deadline has passed: so those that queue behind busy threads are answered at once.
    """

    def __init__(self, *, pause_seconds: float = PAUSE_SECONDS) -> None:
        self._pause_seconds = pause_seconds
        self._lock = threading.Lock()
        self._next_try_at: float | None = None  # set only while the server is silent

    def admits(self, *, deadline_seconds: float) -> bool:
        """Whether to ask the server now; a caller that is admitted while it is silent tries for all."""
        if self._next_try_at is None:
            return True
        with self._lock:
            now = monotonic()
            if self._next_try_at is not None and now < self._next_try_at:
                return False
            self._next_try_at = now + deadline_seconds
            return True

    def answered(self) -> None:
        """Note that the server said something, be it a refusal."""
        self._next_try_at = None

    def silent(self) -> None:
        """Note that the server let a deadline pass."""
        with self._lock:
            self._next_try_at = monotonic() + self._pause_seconds
