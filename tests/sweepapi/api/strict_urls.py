"""Endpoints that tests of the API's conventions call: a public echo of a strict body, and views that fail."""

from collections.abc import Callable
from typing import Any, Never

from django import db
from django.core import exceptions as django
from django.http import Http404, HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.urls import include, path
from rest_framework import exceptions as drf
from rest_framework.authentication import BaseAuthentication
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from sweepapi.api.input.fields import (
    AmountField,
    EvmAddressField,
    HashField,
    StrictCharField,
    StrictChoiceField,
    StrictIntegerField,
)
from sweepapi.api.input.lists import StrictListField
from sweepapi.api.input.serializers import StrictSerializer
from sweepapi.api.requests.renderers import EnvelopeRenderer
from sweepapi.errors import ChainUnavailable

SECRET_DETAIL = "postgres://user:password@db"
EXCEPTIONS: dict[str, Exception] = {
    "drf-validation": drf.ValidationError({"name": ["Wrong."]}),
    "drf-parse": drf.ParseError("Malformed."),
    "drf-authentication-failed": drf.AuthenticationFailed(),
    "drf-not-authenticated": drf.NotAuthenticated(),
    "drf-not-found": drf.NotFound(),
    "drf-method-not-allowed": drf.MethodNotAllowed("GET"),
    "drf-not-acceptable": drf.NotAcceptable(),
    "drf-unsupported-media-type": drf.UnsupportedMediaType("text/plain"),
    "drf-throttled": drf.Throttled(wait=6.2),
    "drf-throttled-without-end": drf.Throttled(),
    "http404": Http404(),
    "suspicious": django.SuspiciousOperation(SECRET_DETAIL),
    "data-too-big": django.RequestDataTooBig(SECRET_DETAIL),
    "too-many-fields": django.TooManyFieldsSent(SECRET_DETAIL),
    "multipart": MultiPartParserError(SECRET_DETAIL),
    "bad-request": django.BadRequest("Malformed."),
    "database-operational": db.OperationalError(SECRET_DETAIL),
    "database-interface": db.InterfaceError(SECRET_DETAIL),
    "unexpected": RuntimeError(SECRET_DETAIL),
}


class TokenSerializer(StrictSerializer):
    mint = EvmAddressField()
    amount = AmountField()


class EchoSerializer(StrictSerializer):
    name = StrictCharField(required=False)
    bps = StrictIntegerField(required=False, min_value=1, max_value=5000)
    txHash = HashField(required=False)  # noqa: N815 as the API spells its fields
    tokens = StrictListField(child=TokenSerializer(), required=False, min_length=1, max_length=3)
    mode = StrictChoiceField(choices=["reject", "skip"], required=False)


class Open(APIView):
    authentication_classes: list[type[BaseAuthentication]] = []
    permission_classes = []


class EchoView(Open):
    action = "post"
    bodies = {"post": EchoSerializer}

    def post(self, request: Request) -> Response:
        body = EchoSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        echoed: dict[str, Any] = body.validated_data
        return Response(echoed)


class BusyView(Open):
    def get(self, _request: Request) -> Never:
        raise ChainUnavailable(retry_after_seconds=7)


class CsvRenderer(BaseRenderer):
    media_type = "text/csv"
    format = "csv"

    def render(self, data: Any, *_args: object, **_kwargs: object) -> str:
        return ",".join(data)


class TwoFormatsView(Open):
    renderer_classes = [EnvelopeRenderer, CsvRenderer]

    def get(self, request: Request) -> Response:
        if "fail" in request.query_params:
            raise ChainUnavailable
        return Response(["a", "b"])


class FailingView(Open):
    def get(self, _request: Request, name: str) -> Never:
        raise EXCEPTIONS[name]


class FailingAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> Never:
        raise EXCEPTIONS[request.path.rpartition("/")[2]]


class FailingAuthenticationView(Open):
    authentication_classes = [FailingAuthentication]

    def get(self, _request: Request, name: str) -> Response:
        return Response(name)


def failing_page(_request: HttpRequest, name: str) -> Never:
    raise EXCEPTIONS[name]


def failing_middleware(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Fail before any view, with the exception that a header names."""

    def middleware(request: HttpRequest) -> HttpResponse:
        name = request.headers.get("x-fail")
        if name:
            raise EXCEPTIONS[name]
        return get_response(request)

    return middleware


urlpatterns = [
    path("v2/echo", EchoView.as_view()),
    path("v2/busy", BusyView.as_view()),
    path("v2/two-formats", TwoFormatsView.as_view()),
    path("v2/view/<str:name>", FailingView.as_view()),
    path("v2/authentication/<str:name>", FailingAuthenticationView.as_view()),
    path("v2/page/<str:name>", failing_page),
    path("", include("config.urls")),
]
handler400 = "sweepapi.api.errors.handlers.bad_request"
handler404 = "sweepapi.api.errors.handlers.not_found"
handler500 = "sweepapi.api.errors.handlers.server_error"
