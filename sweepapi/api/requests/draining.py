"""Reads the rest of a body that was refused, so that the caller gets the answer instead of a connection reset.

A server that closes a connection with unread data resets it, and a caller that is still writing then never sees the
answer. gunicorn itself reads on for 64 KiB at most.
"""

import time
from typing import Any

from django.http import HttpRequest, HttpResponse
from gunicorn.http.errors import ParseException

from sweepapi.api.requests.middleware import GetResponse

MAX_DRAINED_BYTES = 32 * 1024 * 1024
MAX_DRAIN_SECONDS = 5.0
_PIECE_BYTES = 64 * 1024


class DrainBodyMiddleware:
    """Discards the rest of each body before its answer is sent, within bounds of size and time."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request once its body is read."""
        response = self.get_response(request)
        sends_body = request.META.get("CONTENT_LENGTH") or request.META.get("HTTP_TRANSFER_ENCODING")
        if sends_body and "gunicorn.socket" in request.META:  # Django's own servers have no bound to set on a read
            _drain(request.META)
        return response


def _drain(meta: dict[str, Any]) -> None:
    """Read until the body ends or a bound is reached; gunicorn closes a connection whose body could not be read."""
    connection, body = meta["gunicorn.socket"], meta["wsgi.input"]
    usual_timeout = connection.gettimeout()
    deadline = time.monotonic() + MAX_DRAIN_SECONDS
    left_bytes = MAX_DRAINED_BYTES
    try:
        while left_bytes > 0 and (left_seconds := deadline - time.monotonic()) > 0:
            connection.settimeout(left_seconds)
            piece = body.read(_PIECE_BYTES)
            if not piece:
                return
            left_bytes -= len(piece)
    except (OSError, ParseException):  # the caller is gone, silent, or sends malformed chunks: answer anyway
        return
    finally:
        connection.settimeout(usual_timeout)
