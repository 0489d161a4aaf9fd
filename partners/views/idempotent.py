"""Makes a POST repeatable by the Idempotency-Key header, and documents the header."""

import re
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from partners import idempotency
from partners.authentication import requester_of
from partners.models import IdempotencyRecord
from sweepapi.api.requests.renderers import EnvelopeRenderer
from sweepapi.errors import FieldError, InvalidRequest

HEADER = "Idempotency-Key"
# Printable ASCII without commas, with which servers join a header that was sent twice; spaces only inside.
KEY = re.compile(r"[!-+\--~]([ -+\--~]{0,253}[!-+\--~])?", re.ASCII)
# Of every path that has something to repeat. Another one names nothing that exists, as its view will answer.
PATH = re.compile(r"[!-~]{1,128}", re.ASCII)

# What holds at one moment only, and so is in no answer that is repeated.
MOMENTARY = "expiresInSeconds"

V = TypeVar("V")
P = ParamSpec("P")


class Answer(Protocol):
    """Makes the response of these data; called within the transaction of what it reports."""

    def __call__(self, data: Any, status: int = ..., /) -> HttpResponse: ...  # noqa: ANN401 as DRF types it


PARAMETERS = [
    OpenApiParameter(
        HEADER,
        {"type": "string", "pattern": f"^{KEY.pattern}$", "maxLength": 255, "examples": ["order-1017-build"]},
        OpenApiParameter.HEADER,
        description="Makes the request safe to repeat: with the same key and body within 24 hours it is not carried "
        "out again, and gets the first answer, byte for byte. Only successes are kept; they are without "
        "`expiresInSeconds`, which holds at one moment. The key is 1 to 255 printable "
        "ASCII characters without commas, and belongs to this path.",
    ),
    OpenApiParameter(
        "Idempotency-Replayed",
        {"type": "string", "const": "true"},
        OpenApiParameter.HEADER,
        response=[200, 201],
        description="Sent with the answer of an earlier request with the same Idempotency-Key.",
    ),
]


def idempotent(
    view: Callable[Concatenate[V, Request, Answer, P], HttpResponse],
) -> Callable[Concatenate[V, Request, P], HttpResponse]:
    """Give a view the function by which it answers, and answer a repeated request without it."""

    @wraps(view)
    def answer_once(self: V, request: Request, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        key = _key_of(request)
        if key is None or not PATH.fullmatch(request.path):
            return view(self, request, _respond, *args, **kwargs)
        requester = requester_of(request)
        record = idempotency.claim(
            partner_id=requester.partner_id, mode=requester.mode, path=request.path, key=key, body=request.data
        )
        if record.status is not None and record.body is not None:
            response = _json(bytes(record.body), record.status)
            response.headers["Idempotency-Replayed"] = "true"
            return response
        with ExitStack() as on_failure:
            on_failure.callback(idempotency.release, record)
            response = view(self, request, partial(_respond_and_keep, record), *args, **kwargs)
            on_failure.pop_all()
            return response

    return extend_schema(parameters=PARAMETERS)(answer_once)


def _key_of(request: Request) -> str | None:
    """Return the key, None if there is none; raise InvalidRequest for one that could be misread."""
    key: str | None = request.headers.get(HEADER)
    if key is not None and not KEY.fullmatch(key):
        message = "A key is sent once, and is 1 to 255 printable ASCII characters without commas."
        raise InvalidRequest(details=[FieldError(HEADER, "invalid_format", message)])
    return key


def _respond(data: Any, status: int = 200, /) -> HttpResponse:  # noqa: ANN401 as DRF types it
    return Response(data, status)


def _respond_and_keep(claimed: IdempotencyRecord, data: Any, status: int = 200, /) -> HttpResponse:  # noqa: ANN401 as above
    body: bytes = EnvelopeRenderer().render({name: value for name, value in data.items() if name != MOMENTARY})
    idempotency.keep(claimed, status=status, body=body)
    return _json(body, status)


def _json(body: bytes, status: int) -> HttpResponse:
    return HttpResponse(body, content_type="application/json", status=status)
