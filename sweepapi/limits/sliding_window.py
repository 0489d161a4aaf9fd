"""A sliding window: how many requests a service outside takes within so many seconds, counted in Redis or in memory.

Each request that was granted is kept with the time at which it leaves the window. What the service says of its own
count is added as requests that others sent, which leave when it says.
"""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol
from uuid import uuid4

from sweepapi.limits.shared_redis import SharedRedis

# Grants as many of the wanted requests as are free, and none while the window is closed. Returns how many, and in how
# many microseconds one more may be granted. What leaves soonest has the lowest score.
_TAKE = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local wanted, free, window = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local closed = redis.call('PTTL', KEYS[2])
if closed > 0 then return {0, closed * 1000} end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local used = redis.call('ZCARD', KEYS[1])
local granted = math.max(0, math.min(wanted, free - used))
for i = 1, granted do redis.call('ZADD', KEYS[1], now + window, ARGV[4] .. i) end
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
if last[2] then redis.call('PEXPIRE', KEYS[1], math.ceil((last[2] - now) / 1000)) end
local over = used + granted - free
if over < 0 then return {granted, 0} end
local next = redis.call('ZRANGE', KEYS[1], over, over, 'WITHSCORES')
return {granted, math.ceil(next[2] - now)}
"""

# Closes the window if nothing is left. Counts so many requests of others that no more than what the service says is
# left remain free until it says.
_CORRECT = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local remaining, limit, reset = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local others = limit - redis.call('ZCARD', KEYS[1]) - remaining
for i = 1, others do redis.call('ZADD', KEYS[1], now + reset, ARGV[4] .. i) end
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
if last[2] then redis.call('PEXPIRE', KEYS[1], math.ceil((last[2] - now) / 1000)) end
if remaining == 0 then redis.call('SET', KEYS[2], '', 'PX', math.ceil(reset / 1000)) end
return {others}
"""


@dataclass(frozen=True, slots=True)
class Grant:
    """How many requests may be sent now, and in how many seconds another one may be."""

    count: int
    seconds_to_next: float


class Window(Protocol):
    """A window, wherever it is counted; each method returns None if that is away."""

    def take(self, wanted: int, *, keeps_for_others: int = 0) -> Grant | None:
        """Grant up to so many requests, and leave so many of the limit to others."""

    def correct(self, *, remaining: int, reset_seconds: float) -> object:
        """Leave no more than this free until then; what the service counted less than we did is on its way.

        If nothing remains the window is closed until then, whatever leaves it.
        """


@dataclass(frozen=True, slots=True)
class WindowLimit:
    """How many requests are granted within the window."""

    requests: int
    seconds: float


class RedisWindow:
    """A window that all processes share; each method takes one round trip."""

    def __init__(self, redis: SharedRedis, key: str, limit: WindowLimit) -> None:
        self._keys, self._limit = [key, f"{key}:closed"], limit
        self._take, self._correct = redis.script(_TAKE), redis.script(_CORRECT)

    def take(self, wanted: int, *, keeps_for_others: int = 0) -> Grant | None:
        """Take as ``Window`` says."""
        free = self._limit.requests - keeps_for_others
        answer = self._take(self._keys, [wanted, free, _micros(self._limit.seconds), f"{uuid4()}:"])
        return None if answer is None else Grant(answer[0], answer[1] / 1_000_000)

    def correct(self, *, remaining: int, reset_seconds: float) -> object:
        """Correct as ``Window`` says."""
        arguments: list[str | int] = [remaining, self._limit.requests, _micros(reset_seconds), f"{uuid4()}:"]
        return self._correct(self._keys, arguments)


@dataclass
class LocalWindow:
    """A window of this process alone."""

    limit: WindowLimit
    _leaving_at: Sequence[float] = field(default=(), init=False)  # of what was granted, in order; monotonic seconds
    _closed_until: float = field(default=0.0, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def take(self, wanted: int, *, keeps_for_others: int = 0) -> Grant:
        """Take as ``Window`` says."""
        with self._lock:
            now = time.monotonic()
            if now < self._closed_until:
                return Grant(0, self._closed_until - now)
            free = self.limit.requests - keeps_for_others
            kept = [at for at in self._leaving_at if at > now]
            granted = max(0, min(wanted, free - len(kept)))
            self._leaving_at = sorted([*kept, *[now + self.limit.seconds] * granted])
            over = len(kept) + granted - free
            return Grant(granted, 0 if over < 0 else self._leaving_at[over] - now)

    def correct(self, *, remaining: int, reset_seconds: float) -> object:
        """Correct as ``Window`` says."""
        with self._lock:
            now = time.monotonic()
            kept = [at for at in self._leaving_at if at > now]
            others = self.limit.requests - len(kept) - remaining
            self._leaving_at = sorted([*kept, *[now + reset_seconds] * others])
            if remaining == 0:
                self._closed_until = now + reset_seconds
            return others


def _micros(seconds: float) -> int:
    return round(seconds * 1_000_000)
