"""Gives every request an id, and every chunked body a length, before anything else reads the request."""

import re
from collections.abc import Callable
from io import BytesIO

import structlog
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from gunicorn.http.errors import ParseException
from uuid_utils.compat import uuid7

from sweepapi.api.input.budgets import LARGEST_BODY_BYTES

_META_KEY = "sweepapi.request_id"
_VALID = re.compile(r"[A-Za-z0-9._-]{1,128}", re.ASCII)

GetResponse = Callable[[HttpRequest], HttpResponse]


def request_id_of(request: HttpRequest) -> str:
    """Return the id that RequestIdMiddleware gave this request."""
    return str(request.META[_META_KEY])


class RequestIdMiddleware:
    """Takes the caller's X-Request-Id if it is valid, else makes one; answers with it and binds it to every log line.

    Valid are 1 to 128 letters, digits, dots, underscores and hyphens.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request under its id."""
        theirs = request.headers.get("X-Request-Id", "")
        request_id = theirs if _VALID.fullmatch(theirs) else str(uuid7())
        request.META[_META_KEY] = request_id
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            response = self.get_response(request)
        response.headers["X-Request-Id"] = request_id
        if request.headers.get("x-api-key"):
            response.headers.setdefault("Cache-Control", "no-store")  # no cache may give it to another partner
        return response


class ChunkedBodyMiddleware:
    """Reads a body sent without Content-Length, which Django would treat as empty.

    It reads one byte more than any operation accepts, so that the parser can tell a body that is too large.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Make the body readable and pass the request on."""
        meta = request.META
        if not meta.get("CONTENT_LENGTH") and meta.get("HTTP_TRANSFER_ENCODING") and meta.get("wsgi.input_terminated"):
            try:
                body = meta["wsgi.input"].read(LARGEST_BODY_BYTES + 1)
            except (OSError, ParseException) as error:
                raise BadRequest("The chunked body is malformed or incomplete.") from error
            meta["CONTENT_LENGTH"] = str(len(body))
            request._stream = BytesIO(body)  # noqa: SLF001 Django offers no other way in
        return self.get_response(request)
