"""A measurement that is cached for seconds, and that requests wait for no longer than a second."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import Generic, TypeVar

from sweepapi.networks import Networks

FRESH_SECONDS = 5.0
# Up to this age the last measurement is returned while a new one runs in the background.
STALE_SECONDS = 60.0
MEASURE_TIMEOUT_SECONDS = 1.0

ResultT = TypeVar("ResultT")


@dataclass
class Measured(Generic[ResultT]):
    """The last measurement of this process; monotonic seconds."""

    # Takes a timeout; None where no request waits for it.
    measure: Callable[[Networks, float | None], ResultT]
    latest: ResultT  # before the first measurement, what is returned if that takes too long
    measured_at: float = -STALE_SECONDS
    measuring: Lock = field(default_factory=Lock)

    def value(self, registry: Networks) -> ResultT:
        """Return the result, which is usually seconds old.

        Only the first request after a long pause waits for a measurement, and no longer than its timeout.
        """
        age_seconds = self._age_seconds()
        if age_seconds >= STALE_SECONDS and self.measuring.acquire(timeout=MEASURE_TIMEOUT_SECONDS):
            self._remember_and_release(registry, MEASURE_TIMEOUT_SECONDS)
        elif age_seconds >= FRESH_SECONDS and self.measuring.acquire(blocking=False):
            # No request waits for this, so providers get their usual timeout.
            Thread(target=self._remember_and_release, args=(registry, None), daemon=True).start()
        return self.latest

    def _age_seconds(self) -> float:
        return time.monotonic() - self.measured_at

    def _remember_and_release(self, registry: Networks, timeout_seconds: float | None) -> None:
        try:
            if self._age_seconds() >= FRESH_SECONDS:  # else another request measured while this one waited
                self.latest = self.measure(registry, timeout_seconds)
                self.measured_at = time.monotonic()
        finally:
            self.measuring.release()
