"""Limits the requests of each key and partner, and tells callers in the RateLimit fields how much is left.

While Redis does not answer, each process limits by buckets of its own what is expensive, and lets the rest pass.
"""

import math
from collections.abc import Callable, Sequence
from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from partners.authentication import Requester
from partners.limits import DEFAULTS, KEYS_PER_PARTNER, READ, REFUSED, Limit
from sweepapi.errors import RateLimited
from sweepapi.limits import shared_buckets
from sweepapi.limits.token_buckets import Bucket, Level
from sweepapi.monitoring import metrics

_META_KEY = "sweepapi.rate_limit"
_REFUSED_KEY = "sweepapi.refused_bodies"
_REFUSING = {HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNSUPPORTED_MEDIA_TYPE}


class KeyThrottle(BaseThrottle):
    """Takes a token for each request with a key, by the policy that the view names for its action; READ without one.

    One with a body is admitted only while the key may have bodies refused; if this one is, it costs a token of these.
    """

    def allow_request(self, request: Request, view: object) -> bool:
        """Return True, or raise RateLimited."""
        requester = request.auth
        if not isinstance(requester, Requester):  # a public view
            return True
        action = getattr(view, "action", None)
        policy = getattr(view, "policies", {}).get(action, READ)
        refused = _buckets(requester, REFUSED) if action in getattr(view, "bodies", {}) else ()
        request.META[_REFUSED_KEY] = refused
        levels = _take(_buckets(requester, policy), refused, policy)
        # Of refused bodies a caller is told once there may be no more.
        shown = [level for level in levels if level.bucket not in refused or level.seconds_to_token]
        if not shown:
            return True
        tightest = min(shown, key=lambda level: (-level.seconds_to_token, level.tokens))
        retry_after_seconds = max(1, math.ceil(tightest.seconds_to_token))
        reset_seconds = math.ceil(tightest.seconds_to_full) if tightest.is_granted else retry_after_seconds
        request.META[_META_KEY] = _fields(tightest, reset_seconds)
        if not tightest.is_granted:
            raise RateLimited(retry_after_seconds=retry_after_seconds)
        return True


class RateLimitFieldsMiddleware:
    """Adds the RateLimit fields to each answer to a request that was counted, and counts bodies that were refused."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request."""
        response = self.get_response(request)
        refused = request.META.get(_REFUSED_KEY)
        if refused and response.status_code in _REFUSING:
            shared_buckets.take(refused)
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


def _take(taken: Sequence[Bucket], guards: Sequence[Bucket], policy: str) -> list[Level]:
    """Take a token from each bucket, or from none; from none of READ if Redis is away."""
    levels = shared_buckets.take_shared(taken, guards)
    if levels is not None:
        return levels
    metrics.RATE_LIMIT_FALLBACKS.labels(policy).inc()
    return shared_buckets.take_local([] if policy == READ else taken, guards)
