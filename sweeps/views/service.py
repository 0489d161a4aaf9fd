"""The endpoints that tell what the service offers."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from partners.authentication import requester_of
from sweepapi import networks
from sweepapi.api.openapi.schema import failures
from sweeps.service_status import ServiceStatus, output_tokens
from sweeps.views.serializers.service import (
    OutputTokensSerializer,
    ServiceStatusSerializer,
    SolanaServiceStatusSerializer,
)


class ServiceStatusViewSet(ViewSet):
    """The service itself; public."""

    authentication_classes = []
    permission_classes = []

    @extend_schema(
        operation_id="getServiceStatusV1",
        summary="Get the availability and limits of the service on Solana",
        tags=["Service"],
        auth=[],
        responses={200: SolanaServiceStatusSerializer, **failures("getServiceStatusV1")},
    )
    def v1(self, request: Request) -> Response:  # noqa: ARG002 - DRF passes it
        """Return availability as measured in the last seconds, clusters, fees, limits and the indexer's pace."""
        return Response(SolanaServiceStatusSerializer(ServiceStatus.v1(networks.current())).data)

    @extend_schema(
        operation_id="getServiceStatus",
        summary="Get the availability and limits of the service on EVM chains",
        tags=["Service"],
        auth=[],
        responses={200: ServiceStatusSerializer, **failures("getServiceStatus")},
    )
    def v2(self, request: Request) -> Response:  # noqa: ARG002 - DRF passes it
        """Return availability as measured in the last seconds, chains, fees, limits and the indexer's pace."""
        return Response(ServiceStatusSerializer(ServiceStatus.v2(networks.current())).data)


class OutputTokenViewSet(ViewSet):
    """What sweeps on Solana can end in."""

    scopes = {"list": "read"}

    @extend_schema(
        operation_id="listOutputTokens",
        summary="List the tokens that a sweep on Solana can end in",
        tags=["Sweeps on Solana"],
        responses={200: OutputTokensSerializer, **failures("listOutputTokens")},
    )
    def list(self, request: Request) -> Response:
        """Return the output tokens of every enabled cluster that the key reaches."""
        return Response(OutputTokensSerializer({"tokens": output_tokens(requester_of(request).mode)}).data)
