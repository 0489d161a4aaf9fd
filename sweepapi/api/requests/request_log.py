"""Counts and logs each answered request, without its path, query, headers and body, which may hold secrets."""

import time

import structlog
from django.http import HttpRequest, HttpResponse

from sweepapi.api.requests.middleware import GetResponse
from sweepapi.monitoring import metrics

_ERROR_CODE_KEY = "sweepapi.error_code"
_METHODS = {"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"}  # a caller can send any other word as well

log = structlog.get_logger(__name__)


def note_error_code(request: HttpRequest, code: str) -> None:
    """Let the request's line name the error that it is answered with."""
    request.META[_ERROR_CODE_KEY] = code


class RequestLogMiddleware:
    """Counts and logs a request once it is answered; inside RequestIdMiddleware, so that its line has the id."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request, then log it; Django has made a response of any exception by then."""
        started = time.monotonic()
        response = self.get_response(request)
        seconds, route = time.monotonic() - started, _route_of(request)
        _count(request.method, route, response.status_code, seconds)
        log.info(
            "request",
            method=request.method,
            route=route,
            status=response.status_code,
            duration_ms=round(seconds * 1000, 1),
            partner=_partner_of(request),
            error=request.META.get(_ERROR_CODE_KEY),
        )
        return response


def _count(method: str | None, route: str | None, status: int, seconds: float) -> None:
    known_method, known_route = method if method in _METHODS else "other", route or "none"
    metrics.REQUESTS.labels(known_method, known_route, status).inc()
    metrics.REQUEST_SECONDS.labels(known_route).observe(seconds)


def _route_of(request: HttpRequest) -> str | None:
    """Return the endpoint's pattern; None if no view was reached, since such a path can be anything."""
    match = request.resolver_match
    return None if match is None else f"/{match.route}"


def _partner_of(request: HttpRequest) -> str | None:
    """Return the id of the partner whose key was accepted; DRF sets ``auth`` on Django's request, too."""
    api_key = getattr(request, "auth", None)
    return None if api_key is None else str(api_key.partner_id)
