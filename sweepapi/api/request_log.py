"""Writes one line about each answered request, without its path, query, headers and body, which may hold secrets."""

import time

import structlog
from django.http import HttpRequest, HttpResponse

from sweepapi.api.middleware import GetResponse

_ERROR_CODE_KEY = "sweepapi.error_code"

log = structlog.get_logger(__name__)


def note_error_code(request: HttpRequest, code: str) -> None:
    """Let the request's line name the error that it is answered with."""
    request.META[_ERROR_CODE_KEY] = code


class RequestLogMiddleware:
    """Logs ``request`` when the answer is known; inside RequestIdMiddleware, so that the line has the request's id."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request, then log it; Django has made a response of any exception by then."""
        started = time.monotonic()
        response = self.get_response(request)
        log.info(
            "request",
            method=request.method,
            route=_route_of(request),
            status=response.status_code,
            duration_ms=round((time.monotonic() - started) * 1000, 1),
            partner=_partner_of(request),
            error=request.META.get(_ERROR_CODE_KEY),
        )
        return response


def _route_of(request: HttpRequest) -> str | None:
    """Return the endpoint's pattern; None if no view was reached, since such a path can be anything."""
    match = request.resolver_match
    return None if match is None else f"/{match.route}"


def _partner_of(request: HttpRequest) -> str | None:
    """Return the id of the partner whose key was accepted; DRF sets ``auth`` on Django's request, too."""
    api_key = getattr(request, "auth", None)
    return None if api_key is None else str(api_key.partner_id)
