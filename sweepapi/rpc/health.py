"""What a provider's responses have shown about it, and what follows for the next requests.

Everything fades with time: a provider that is queried after the others would otherwise never show that it recovered.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from sweepapi.forking import ForkSafeLock
from sweepapi.rpc.target import Head

CIRCUIT_FAILURES = 3
CIRCUIT_SECONDS = 10.0
QUARANTINE_SECONDS = 60.0
DISTRUST_SECONDS = 600.0
# Without a Retry-After, each refusal in a row doubles the wait. A provider can't stop us for longer than the limit.
FIRST_WAIT_SECONDS, MAX_WAIT_SECONDS = 1.0, 60.0
WEIGHT = 0.2  # of the latest response, in the error rate and in the latency
HALF_LIFE_SECONDS = 30.0  # of the error rate
LATENCY_SECONDS = 60.0  # how long a latency counts after it was measured
HEAD_SECONDS = 30.0  # how long a head counts as the newest that a provider has

Clock = Callable[[], float]

_lock = ForkSafeLock()  # of all providers: it is held for microseconds


@dataclass
class ProviderHealth:
    """The health of one provider in this process; times are those of the clock, in seconds. Thread-safe."""

    clock: Clock = time.monotonic
    failures: int = 0  # in a row
    throttles: int = 0  # in a row
    open_until: float = 0.0  # the circuit: the provider comes last until then
    waits_until: float = 0.0  # it wants us to wait, so it is not queried
    quarantined_until: float = 0.0  # it is on another network, so it is not queried
    distrusted_until: float = 0.0  # two others contradicted it, so it comes last
    proven_at: float | None = None  # None until it was found to be on the right network
    head: Head | None = None  # None until a response showed one
    answered: int = 0  # batches, since the process began; so are the next two
    failed: int = 0
    outvoted: int = 0  # how often two other providers agreed on something else
    _head_at: float = 0.0
    _error_rate: float = 0.0
    _error_rate_at: float = 0.0
    _latency: float | None = None
    _latency_at: float = 0.0

    def note_answer(self) -> None:
        """Reset what counts in a row, which closes the circuit."""
        with _lock:
            self.answered += 1
            self.failures = self.throttles = 0
            self._note_outcome(0.0)

    def note_failure(self) -> None:
        """Open the circuit after several failures in a row, for longer each time."""
        with _lock:
            self.failed += 1
            self.failures += 1
            self._note_outcome(1.0)
            if self.failures >= CIRCUIT_FAILURES:
                self.open_until = self.clock() + CIRCUIT_SECONDS * min(self.failures - CIRCUIT_FAILURES + 1, 30)

    def note_throttling(self, retry_after_seconds: float | None) -> None:
        """Leave the provider alone for as long as it says; requests that were under way count once."""
        with _lock:
            self.failed += 1
            now = self.clock()
            if now >= self.waits_until:
                self.throttles += 1
            backoff = FIRST_WAIT_SECONDS * 2 ** min(self.throttles - 1, 10)
            wait = max(backoff if retry_after_seconds is None else retry_after_seconds, FIRST_WAIT_SECONDS)
            self.waits_until = max(self.waits_until, now + min(wait, MAX_WAIT_SECONDS))

    def quarantine(self) -> None:
        with _lock:
            self.failed += 1
            self.proven_at = None
            self.quarantined_until = self.clock() + QUARANTINE_SECONDS

    def note_head(self, head: Head) -> None:
        with _lock:
            self.head, self._head_at = head, self.clock()

    def note_latency(self, seconds: float) -> None:
        """Count how long an answer took, or how long we waited without one."""
        with _lock:
            known = self.latency
            self._latency = seconds if known is None else known + WEIGHT * (seconds - known)
            self._latency_at = self.clock()

    def note_outvoted(self) -> None:
        with _lock:
            self.outvoted += 1
            self.distrusted_until = self.clock() + DISTRUST_SECONDS

    def _note_outcome(self, failed: float) -> None:
        rate = self.error_rate
        self._error_rate, self._error_rate_at = rate + WEIGHT * (failed - rate), self.clock()

    @property
    def error_rate(self) -> float:
        """The share of failures, weighted towards the latest; it halves while the provider is not queried."""
        return float(self._error_rate * 0.5 ** ((self.clock() - self._error_rate_at) / HALF_LIFE_SECONDS))

    @property
    def latency(self) -> float | None:
        """How long small requests take, in seconds; None if none was measured lately."""
        return self._latency if self.clock() - self._latency_at < LATENCY_SECONDS else None

    @property
    def recent_head(self) -> tuple[int, float] | None:
        """The number of the newest block that it showed lately, and when it did; None if it showed none."""
        is_recent = self.head is not None and self.clock() - self._head_at < HEAD_SECONDS
        return (self.head.number, self._head_at) if self.head is not None and is_recent else None

    @property
    def is_distrusted(self) -> bool:
        return self.distrusted_until > self.clock()

    @property
    def is_open(self) -> bool:
        return self.open_until > self.clock()

    @property
    def paused_for_seconds(self) -> float:
        """How long the provider must not be queried; zero if it may be."""
        return max(self.waits_until - self.clock(), self.quarantined_until - self.clock(), 0.0)

    @property
    def is_quarantined(self) -> bool:
        return self.quarantined_until > self.clock()
