"""The token buckets that limit requests: in Redis for all processes, and of each process alone while Redis is away."""

from collections.abc import Sequence
from functools import lru_cache

from django.conf import settings

from sweepapi.limits.shared_redis import SharedRedis
from sweepapi.limits.token_buckets import Bucket, Level, LocalBuckets, RedisBuckets

TIMEOUT_SECONDS = 0.05

_local = LocalBuckets()


def take_shared(buckets: Sequence[Bucket], guards: Sequence[Bucket] = ()) -> list[Level] | None:
    """Take as ``RedisBuckets.take`` does; None if Redis is away."""
    return _shared(settings.REDIS_URL).take(buckets, guards)


def take_local(buckets: Sequence[Bucket], guards: Sequence[Bucket] = ()) -> list[Level]:
    """Take from the buckets of this process."""
    return _local.take(buckets, guards)


def take(buckets: Sequence[Bucket]) -> list[Level]:
    """Take a token from each bucket, or from none, wherever they are now."""
    levels = take_shared(buckets)
    return take_local(buckets) if levels is None else levels


@lru_cache
def _shared(url: str) -> RedisBuckets:
    return RedisBuckets(SharedRedis(url, timeout_seconds=TIMEOUT_SECONDS))
