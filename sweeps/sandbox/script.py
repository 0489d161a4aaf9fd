"""What the sandbox still has to do with the transactions of a partner, in Redis, and who may change a chain now.

It is worth as little as the chain itself: without it, transactions that were kept back are lost, as from a mempool.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import date
from functools import lru_cache
from uuid import UUID

from django.conf import settings
from redis import Redis, RedisError

from sweepapi.errors import ServiceUnavailable
from sweeps.sandbox.outcomes import ForcedOutcome

KEPT_SECONDS = 86_400
MAX_SCRIPTED = 100
LOCK_SECONDS = 60.0
CHANGE_SECONDS = 45.0  # after which a change starts no other call, so that it ends before its lock does
LOCK_WAIT_SECONDS = 10.0
TIMEOUT_SECONDS = 1.0
RETRY_AFTER_SECONDS = 2


@dataclass(frozen=True)
class Scripted:
    """A transaction whose outcome is not complete."""

    tx_hash: str
    raw: str
    outcome: ForcedOutcome
    sent_at: float  # seconds since 1970
    is_held: bool  # kept back, for the partner's next advance to send
    moves: int = 0  # how often it was moved into the newest block


class Script:
    """The scripted transactions of one partner on one chain; each method raises ``ServiceUnavailable``."""

    def __init__(self, network: str, partner_id: UUID) -> None:
        self._key = f"sandbox:{network}:{partner_id}"

    def read(self) -> list[Scripted]:
        """Return them in the order in which they were sent."""
        with _answering():
            stored = _redis(settings.REDIS_URL).hvals(self._key)
        parsed = (json.loads(text) for text in stored)
        scripted = [Scripted(**{**one, "outcome": ForcedOutcome(one["outcome"])}) for one in parsed]
        return sorted(scripted, key=lambda one: one.sent_at)

    def keep(self, one: Scripted) -> None:
        with _answering():
            _redis(settings.REDIS_URL).hset(self._key, one.tx_hash, json.dumps(asdict(one)))
            _redis(settings.REDIS_URL).expire(self._key, KEPT_SECONDS)

    def drop(self, one: Scripted) -> None:
        with _answering():
            _redis(settings.REDIS_URL).hdel(self._key, one.tx_hash)

    def count_seconds(self, seconds: int, day: date) -> int:
        """Count seconds by which the partner moves the clock, and return how many these are on that day."""
        key = f"{self._key}:{day.isoformat()}"
        with _answering():
            total = _redis(settings.REDIS_URL).incrby(key, seconds)
            _redis(settings.REDIS_URL).expire(key, KEPT_SECONDS)
        return int(total)


class Unfinished:
    """A replacement of blocks of one chain that was started, as text; each method raises ``ServiceUnavailable``."""

    def __init__(self, network: str) -> None:
        self._key = f"sandbox:{network}:unfinished"

    def read(self) -> bytes | str | None:
        with _answering():
            return _redis(settings.REDIS_URL).get(self._key)

    def keep(self, text: str) -> None:
        with _answering():
            _redis(settings.REDIS_URL).set(self._key, text, ex=KEPT_SECONDS)

    def forget(self) -> None:
        with _answering():
            _redis(settings.REDIS_URL).delete(self._key)


@contextmanager
def chain_locked(network: str) -> Iterator[None]:
    """Change the chain alone; raises ``ServiceUnavailable`` if others do for long."""
    with _answering():
        lock = _redis(settings.REDIS_URL).lock(
            f"sandbox:{network}", timeout=LOCK_SECONDS, blocking_timeout=LOCK_WAIT_SECONDS, sleep=0.02
        )
        is_mine = lock.acquire()
    if not is_mine:
        raise ServiceUnavailable("Others are changing this chain.", retry_after_seconds=RETRY_AFTER_SECONDS)
    try:
        yield
    finally:
        with _answering():
            lock.release()


@contextmanager
def _answering() -> Iterator[None]:
    try:
        yield
    except RedisError as error:
        raise ServiceUnavailable(retry_after_seconds=RETRY_AFTER_SECONDS) from error


@lru_cache
def _redis(url: str) -> Redis:
    return Redis.from_url(url, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS)
