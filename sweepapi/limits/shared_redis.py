"""Redis for what all processes count together: with a short deadline, and left alone for a moment once that passed."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar
from weakref import finalize

import structlog
from redis import Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

from sweepapi.postgres.breaker import Breaker

PAUSE_SECONDS = 1.0

AnswerT = TypeVar("AnswerT")


class SharedScript(Protocol):
    """A Lua script, of which Redis runs one at a time."""

    def __call__(self, keys: Sequence[str], arguments: Sequence[str | int]) -> list[int] | None:
        """Return its integers; None if Redis is away."""


log = structlog.get_logger(__name__)


class SharedRedis:
    """One Redis; thread-safe, and usable by a process that was forked since."""

    def __init__(self, url: str, *, timeout_seconds: float) -> None:
        timeouts = {"socket_timeout": timeout_seconds, "socket_connect_timeout": timeout_seconds}
        self._redis = Redis.from_url(url, retry=Retry(NoBackoff(), 0), **timeouts)
        # The garbage collector may finalize a socket before the connection that would have closed it.
        finalize(self, self._redis.connection_pool.disconnect)
        self._timeout_seconds = timeout_seconds
        self._breaker = Breaker(pause_seconds=PAUSE_SECONDS)

    def ask(self, question: Callable[[Redis], AnswerT]) -> AnswerT | None:
        """Return what the question returns; None if Redis is away."""
        if not self._breaker.admits(deadline_seconds=self._timeout_seconds):
            return None
        try:
            answer = question(self._redis)
        except RedisError as error:
            self._breaker.silent()
            log.warning("redis_away", error=type(error).__name__)
            return None
        self._breaker.answered()
        return answer

    def script(self, text: str) -> SharedScript:
        """Return a script that is run with one request."""
        registered = self._redis.register_script(text)
        return lambda keys, arguments: self.ask(lambda _redis: registered(keys=keys, args=arguments))
