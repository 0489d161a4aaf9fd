"""What all processes know of the swap API: its last answers, and whether it gives any."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from redis import Redis

from sweepapi.limits.shared_redis import SharedRedis

# A build after a discovery asks nothing twice; a price may be as old as this when the transactions are composed.
REUSED_SECONDS = 15
MAX_REMEMBERED_BYTES = 2**17
# So many times in a row without an answer, the last of them within so many seconds, are an outage.
UNAVAILABLE_AFTER = 3
FAILURES_COUNT_SECONDS = 60

Query = Mapping[str, str]


@dataclass(frozen=True)
class Memory:
    """Kept in Redis; while that is away nothing is known."""

    redis: SharedRedis
    prefix: str

    def answers(self, queries: Sequence[Query]) -> list[tuple[int, bytes] | None]:
        """Return status and body of the last answer to each query, if it may be reused."""
        if not queries:
            return []
        keys = [self._key(query) for query in queries]
        stored = self.redis.ask(lambda redis: redis.mget(keys))
        found: Sequence[Any] = stored or [None] * len(queries)
        return [None if one is None else (int(one[:3]), one[3:]) for one in found]

    def keep(self, query: Query, status: int, body: bytes) -> None:
        """Keep an answer that was usable; one that is too long is asked for again."""
        if len(body) <= MAX_REMEMBERED_BYTES:
            self.redis.ask(lambda redis: redis.set(self._key(query), b"%03d" % status + body, ex=REUSED_SECONDS))

    def note(self, *, is_answered: bool) -> None:
        """Count requests that were sent together and had no usable answer; one answer ends the count."""
        self.redis.ask(lambda redis: redis.delete(self._failures) if is_answered else self._count(redis))

    def _count(self, redis: Redis) -> object:
        counting = redis.pipeline()
        counting.incr(self._failures)
        counting.expire(self._failures, FAILURES_COUNT_SECONDS)
        return counting.execute()

    @property
    def is_answering(self) -> bool:
        """Whether the last requests were answered; what was not asked within a minute is thought to answer."""
        failures = self.redis.ask(lambda redis: redis.get(self._failures) or b"0")
        return failures is None or int(failures) < UNAVAILABLE_AFTER

    @property
    def _failures(self) -> str:
        return f"{self.prefix}:failures"

    def _key(self, query: Query) -> str:
        text = json.dumps(query, sort_keys=True)
        return f"{self.prefix}:answer:{hashlib.sha256(text.encode()).hexdigest()}"
