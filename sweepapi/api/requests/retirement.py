"""Announces the operations that will go: their answers say since when not to use them, and when they stop."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.utils.http import http_date

_CONVERTER = re.compile(r"<\w+:(\w+)>")


@dataclass(frozen=True)
class Retirement:
    """When an operation was deprecated, and when it stops."""

    deprecated_at: datetime
    stops_at: datetime


# By method and path, as the OpenAPI document has them: "GET /v1/status". An operation is removed once it has stopped.
RETIRED: dict[str, Retirement] = {}


class RetirementMiddleware:
    """Adds ``Deprecation`` (RFC 9745) and ``Sunset`` (RFC 8594) to every answer of an operation that will go."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request, and announce the end of its operation if it has one."""
        response = self.get_response(request)
        match = request.resolver_match
        path = "" if match is None else _CONVERTER.sub(r"{\1}", match.route)
        retirement = RETIRED.get(f"{request.method} /{path}")
        if retirement is not None:
            response.headers["Deprecation"] = f"@{retirement.deprecated_at.timestamp():.0f}"
            response.headers["Sunset"] = http_date(retirement.stops_at.timestamp())
        return response
