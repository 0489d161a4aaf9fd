"""Limits the requests of each key and partner, and tells callers in the RateLimit fields how much is left.

While Redis does not answer, each process limits by buckets of its own what is expensive, and lets the rest pass.
"""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import structlog
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from redis import RedisError
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from partners.authentication import Requester
from partners.limits import DEFAULTS, KEYS_PER_PARTNER, READ, Limit
from sweepapi.errors import RateLimited
from sweepapi.limits.token_buckets import Bucket, Level, LocalBuckets, RedisBuckets
from sweepapi.monitoring import metrics
from sweepapi.postgres.breaker import Breaker

TIMEOUT_SECONDS = 0.05
PAUSE_SECONDS = 1.0

_META_KEY = "sweepapi.rate_limit"

log = structlog.get_logger(__name__)
_breaker = Breaker(pause_seconds=PAUSE_SECONDS)
_local = LocalBuckets()


class KeyThrottle(BaseThrottle):
    """Takes a token for each request with a key, by the policy that the view names for its action; READ without one."""

    def allow_request(self, request: Request, view: object) -> bool:
        """Return True, or raise RateLimited."""
        requester = request.auth
        if not isinstance(requester, Requester):  # a public view
            return True
        policy = getattr(view, "policies", {}).get(getattr(view, "action", None), READ)
        levels = _take(_buckets(requester, policy), policy)
        if levels is None:
            return True
        tightest = min(levels, key=lambda level: (-level.seconds_to_token, level.tokens))
        retry_after_seconds = max(1, math.ceil(tightest.seconds_to_token))
        reset_seconds = math.ceil(tightest.seconds_to_full) if tightest.is_granted else retry_after_seconds
        request.META[_META_KEY] = _fields(tightest, reset_seconds)
        if not tightest.is_granted:
            raise RateLimited(retry_after_seconds=retry_after_seconds)
        return True


class RateLimitFieldsMiddleware:
    """Adds the RateLimit fields to each answer to a request that was counted, whatever its status."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request."""
        response = self.get_response(request)
        for name, value in request.META.get(_META_KEY, {}).items():
            response.headers[name] = value
        return response


def _fields(level: Level, reset_seconds: int) -> dict[str, str]:
    bucket = level.bucket
    window_seconds = math.ceil(bucket.capacity / bucket.tokens_per_second)
    return {
        "RateLimit-Policy": f'"{bucket.name}";q={bucket.capacity};w={window_seconds}',
        "RateLimit": f'"{bucket.name}";r={level.tokens};t={reset_seconds}',
    }


def _buckets(requester: Requester, policy: str) -> tuple[Bucket, Bucket]:
    """Return the bucket of the key, and that which all keys of its partner and mode share."""
    limit = requester.limits.get(policy) or _default(policy)
    of_key = Bucket(f"limit:{policy}:{requester.key_id}", policy, limit.burst, limit.per_second)
    of_partner = Bucket(
        f"limit:{policy}:{requester.partner_id}:{requester.mode}",
        f"{policy}-partner",
        limit.burst * KEYS_PER_PARTNER,
        limit.per_second * KEYS_PER_PARTNER,
    )
    return of_key, of_partner


def _default(policy: str) -> Limit:
    default, factor = DEFAULTS[policy], settings.RATE_LIMIT_FACTOR
    return Limit(default.per_second * factor, math.ceil(default.burst * factor))


def _take(buckets: Sequence[Bucket], policy: str) -> list[Level] | None:
    """Take a token from each bucket, or from none; None if Redis is away and the policy is not limited then."""
    if _breaker.admits(deadline_seconds=TIMEOUT_SECONDS):
        try:
            levels = _shared(settings.REDIS_URL).take(buckets)
        except RedisError as error:
            _breaker.silent()
            log.warning("rate_limits_without_redis", error=type(error).__name__)
        else:
            _breaker.answered()
            return levels
    metrics.RATE_LIMIT_FALLBACKS.labels(policy).inc()
    return None if policy == READ else _local.take(buckets)


@lru_cache
def _shared(url: str) -> RedisBuckets:
    return RedisBuckets(url, timeout_seconds=TIMEOUT_SECONDS)
