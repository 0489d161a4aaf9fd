"""Addresses for tests of the API's manners: an echo of a strict body, open to all, and a view that breaks."""

from typing import Any, Never

from django.urls import include, path
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from sweepapi.api.fields import AmountField, EvmAddressField, HashField, StrictCharField, StrictIntegerField
from sweepapi.api.serializers import StrictSerializer
from sweepapi.errors import ChainUnavailable

SECRET_DETAIL = "postgres://user:password@db"


class TokenSerializer(StrictSerializer):
    mint = EvmAddressField()
    amount = AmountField()


class EchoSerializer(StrictSerializer):
    name = StrictCharField(required=False)
    bps = StrictIntegerField(required=False, min_value=1, max_value=5000)
    txHash = HashField(required=False)  # noqa: N815 as the API spells its fields
    tokens = serializers.ListField(child=TokenSerializer(), required=False, min_length=1, max_length=3)
    mode = serializers.ChoiceField(choices=["reject", "skip"], required=False)


class Open(APIView):
    authentication_classes = []
    permission_classes = []


class EchoView(Open):
    def post(self, request: Request) -> Response:
        body = EchoSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        echoed: dict[str, Any] = body.validated_data
        return Response(echoed)


class BrokenView(Open):
    def get(self, _request: Request) -> Never:
        raise RuntimeError(SECRET_DETAIL)


class BusyView(Open):
    def get(self, _request: Request) -> Never:
        raise ChainUnavailable(retry_after_seconds=7)


def broken_page(_request: object) -> Never:
    raise RuntimeError(SECRET_DETAIL)


urlpatterns = [
    path("v2/echo", EchoView.as_view()),
    path("v2/broken", BrokenView.as_view()),
    path("v2/busy", BusyView.as_view()),
    path("v2/broken-page", broken_page),
    path("", include("config.urls")),
]
handler400 = "sweepapi.api.handlers.bad_request"
handler404 = "sweepapi.api.handlers.not_found"
handler500 = "sweepapi.api.handlers.server_error"
