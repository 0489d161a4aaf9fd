"""Whether a service outside is known to answer no one, so that requests need not find out one after the other."""

import time
from collections.abc import Callable
from threading import Thread

from sweepapi.forking import ForkSafeLock

PAUSE_SECONDS = 1.0
# A service that no one has asked for this long is not asked either.
FORGOTTEN_AFTER_SECONDS = 60.0


class Outage:
    """Those who got no answer suspect an outage, and a thread of its own asks then, until there is an answer.

    Only what that thread finds counts: a request that no server could answer in time takes nothing from others.
    """

    def __init__(self, name: str, answers: Callable[[], bool]) -> None:
        self._name = name
        self._answers = answers
        self._lock = ForkSafeLock()
        self._prober: Thread | None = None
        self._is_down = False
        self._asked_at = 0.0

    @property
    def is_known(self) -> bool:
        """Whether to ask has no point; a forked process has no thread that says so."""
        self._asked_at = time.monotonic()
        return self._is_down and self._prober is not None and self._prober.is_alive()

    def suspect(self) -> None:
        self._asked_at = time.monotonic()
        with self._lock:
            if self._prober is None or not self._prober.is_alive():
                self._is_down = False
                self._prober = Thread(target=self._probe, name=f"probe {self._name}", daemon=True)
                self._prober.start()

    def _probe(self) -> None:
        while time.monotonic() - self._asked_at < FORGOTTEN_AFTER_SECONDS:
            self._is_down = not self._answers()
            if not self._is_down:
                return
            time.sleep(PAUSE_SECONDS)
