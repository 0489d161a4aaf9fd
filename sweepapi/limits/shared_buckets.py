"""The token buckets that limit requests: in Redis for all processes, and of each process alone while Redis is away."""

from collections.abc import Sequence
from functools import lru_cache

import structlog
from django.conf import settings
from redis import RedisError

from sweepapi.limits.token_buckets import Bucket, Level, LocalBuckets, RedisBuckets
from sweepapi.postgres.breaker import Breaker

TIMEOUT_SECONDS = 0.05
PAUSE_SECONDS = 1.0

log = structlog.get_logger(__name__)
_breaker = Breaker(pause_seconds=PAUSE_SECONDS)
_local = LocalBuckets()


def take_shared(buckets: Sequence[Bucket], guards: Sequence[Bucket] = ()) -> list[Level] | None:
    """Take as ``RedisBuckets.take`` does; None if Redis is away."""
    if not _breaker.admits(deadline_seconds=TIMEOUT_SECONDS):
        return None
    try:
        levels = _shared(settings.REDIS_URL).take(buckets, guards)
    except RedisError as error:
        _breaker.silent()
        log.warning("rate_limits_without_redis", error=type(error).__name__)
        return None
    _breaker.answered()
    return levels


def take_local(buckets: Sequence[Bucket], guards: Sequence[Bucket] = ()) -> list[Level]:
    """Take from the buckets of this process."""
    return _local.take(buckets, guards)


def take(buckets: Sequence[Bucket]) -> list[Level]:
    """Take a token from each bucket, or from none, wherever they are now."""
    levels = take_shared(buckets)
    return take_local(buckets) if levels is None else levels


@lru_cache
def _shared(url: str) -> RedisBuckets:
    return RedisBuckets(url, timeout_seconds=TIMEOUT_SECONDS)
