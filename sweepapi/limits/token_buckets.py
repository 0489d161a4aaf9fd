"""Token buckets, in Redis for all processes or in the memory of one.

A bucket holds up to ``capacity`` tokens and is refilled at a constant rate. It is kept as one number, the time at which
it is full again: a token is the time in which one is refilled.
"""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from sweepapi.limits.shared_redis import SharedRedis

MAX_LOCAL_BUCKETS = 10_000

# Takes one token from each bucket, or from none; the last ARGV says how many buckets, the last ones, only have to have
# a token. It goes by the clock of the server, and never owes more than a whole bucket if that was set back or the limit
# was raised, which is stored also if no token was taken. Returns by how many microseconds each bucket is from full, as
# it was before, and whether the tokens were taken.
_TAKE = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local missing, granted = {}, 1
for i, key in ipairs(KEYS) do
    local token, capacity = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
    local full_at = tonumber(redis.call('GET', key) or 0)
    missing[i] = math.min(math.max(full_at - now, 0), token * capacity)
    if missing[i] > token * (capacity - 1) then granted = 0 end
end
for i = 1, #KEYS - ARGV[#ARGV] do
    local key = KEYS[i]
    local after = missing[i] + granted * tonumber(ARGV[2 * i - 1])
    if after > 0 then redis.call('SET', key, string.format('%.0f', now + after), 'PX', math.ceil(after / 1000)) end
end
missing[#KEYS + 1] = granted
return missing
"""


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket of this key; ``name`` is what callers see of it."""

    key: str
    name: str
    capacity: int
    tokens_per_second: float

    @property
    def token_micros(self) -> int:
        """The time in which a token is refilled; no limit is above a million a second."""
        return max(1, round(1_000_000 / self.tokens_per_second))


@dataclass(frozen=True, slots=True)
class Level:
    """How full a bucket is once a request has taken its token, or was refused."""

    bucket: Bucket
    missing_micros: int  # until it is full
    is_granted: bool  # by all buckets

    @property
    def tokens(self) -> int:
        """The whole tokens that are left."""
        token = self.bucket.token_micros
        return (self.bucket.capacity * token - self.missing_micros) // token

    @property
    def seconds_to_token(self) -> float:
        """How long it takes until the bucket has a token; 0 if it has one."""
        token = self.bucket.token_micros
        return max(0, self.missing_micros - (self.bucket.capacity - 1) * token) / 1_000_000

    @property
    def seconds_to_full(self) -> float:
        return self.missing_micros / 1_000_000


class RedisBuckets:
    """Buckets that all processes share; each request takes one round trip."""

    def __init__(self, redis: SharedRedis) -> None:
        self._take = redis.script(_TAKE)

    def take(self, buckets: Sequence[Bucket], guards: Sequence[Bucket] = ()) -> list[Level] | None:
        """Take a token from each bucket, or from none; None if Redis is away.

        The guards have to have a token too, and keep it. Returns the levels of all.
        """
        every = [*buckets, *guards]
        arguments = [value for bucket in every for value in (bucket.token_micros, bucket.capacity)]
        answer = self._take([bucket.key for bucket in every], [*arguments, len(guards)])
        if answer is None:
            return None
        *missing, granted = answer
        return _levels(buckets, guards, missing, is_granted=granted == 1)


class LocalBuckets:
    """Buckets of this process alone."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._full_at: dict[str, int] = {}  # in microseconds of the monotonic clock

    def take(self, buckets: Sequence[Bucket], guards: Sequence[Bucket] = ()) -> list[Level]:
        """Take a token from each bucket, or from none; the guards are as those in Redis."""
        every = [*buckets, *guards]
        with self._lock:
            now = time.monotonic_ns() // 1_000
            owed = [max(0, self._full_at.get(bucket.key, now) - now) for bucket in every]
            # No more than a whole bucket, if its limit was raised.
            wholes = [bucket.token_micros * bucket.capacity for bucket in every]
            missing = [min(pair) for pair in zip(owed, wholes, strict=True)]
            pairs = list(zip(every, missing, strict=True))
            is_granted = all(micros <= bucket.token_micros * (bucket.capacity - 1) for bucket, micros in pairs)
            taken = pairs[: len(buckets)]
            self._full_at |= {bucket.key: now + micros + is_granted * bucket.token_micros for bucket, micros in taken}
            if len(self._full_at) > MAX_LOCAL_BUCKETS:
                self._full_at = {key: full_at for key, full_at in self._full_at.items() if full_at > now}
        return _levels(buckets, guards, missing, is_granted=is_granted)


def _levels(
    buckets: Sequence[Bucket], guards: Sequence[Bucket], missing: Sequence[int], *, is_granted: bool
) -> list[Level]:
    taken = [bucket.token_micros * is_granted for bucket in buckets] + [0] * len(guards)
    return [
        Level(bucket, micros + token, is_granted)
        for bucket, micros, token in zip([*buckets, *guards], missing, taken, strict=True)
    ]
