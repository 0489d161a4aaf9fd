"""Limits and counts the keys that were refused. The right key always passes, from whichever address it comes."""

import math
from ipaddress import IPv6Address, ip_network

from django.conf import settings
from django.http import HttpRequest

from partners.client_address import client_address
from sweepapi.errors import InvalidApiKey, RateLimited, SweepApiError
from sweepapi.limits.shared_buckets import take
from sweepapi.limits.token_buckets import Bucket
from sweepapi.monitoring import metrics

# Of one address; a client with an old key learns soon enough that it is invalid.
PER_SECOND, BURST = 1.0, 20
_IPV6_HOST_BITS = 64  # which one caller chooses as it likes


def refusal(request: HttpRequest, key_id: str | None) -> SweepApiError:
    """Count a key that was refused, and return the error to answer with.

    ``key_id`` is that of an existing key, or None.
    """
    metrics.WRONG_SECRETS.labels(key_id or "unknown").inc()
    (level,) = take([_bucket(request)])
    if level.is_granted:
        return InvalidApiKey()
    return RateLimited(retry_after_seconds=max(1, math.ceil(level.seconds_to_token)))


def _bucket(request: HttpRequest) -> Bucket:
    address, factor = client_address(request), settings.RATE_LIMIT_FACTOR
    place = ip_network((address, _IPV6_HOST_BITS), strict=False) if isinstance(address, IPv6Address) else address
    return Bucket(f"limit:wrong-secret:{place}", "wrong-secret", math.ceil(BURST * factor), PER_SECOND * factor)
