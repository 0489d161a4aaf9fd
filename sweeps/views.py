"""The sweep endpoints: translate, make one call into the domain, translate back."""

import re
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from partners.authentication import partner_of
from sweepapi.api.schema import failures
from sweepapi.errors import SweepNotFound
from sweeps.build import build_sweep
from sweeps.confirm import confirm_sweep
from sweeps.models import SweepStatus
from sweeps.rails.registry import V2
from sweeps.serializers.requests import BuildRequestSerializer, ConfirmRequestSerializer
from sweeps.serializers.service import ServiceStatusSerializer
from sweeps.service_status import ServiceStatus
from sweeps.state import SweepState, sweep_of_partner

SWEEP_ID_FORM = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
SWEEP_ID = OpenApiParameter("sweep_id", UUID, OpenApiParameter.PATH, description="sweepId of the build.")


def _sweep_id(text: str) -> UUID:
    """Return the id of a path; a sweep whose id is not a canonical UUID does not exist."""
    if not SWEEP_ID_FORM.fullmatch(text):
        raise SweepNotFound
    return UUID(text)


class ServiceStatusViewSet(ViewSet):
    """The service itself; public."""

    authentication_classes = []
    permission_classes = []

    @extend_schema(
        operation_id="getServiceStatus",
        summary="Get the availability and limits of the service",
        tags=["Service"],
        auth=[],
        responses={200: ServiceStatusSerializer, **failures("getServiceStatus")},
    )
    def retrieve(self, request: Request) -> Response:  # noqa: ARG002 - DRF passes it
        """Return availability as measured in the last seconds, chains, fees, limits and the indexer's pace."""
        return Response(ServiceStatusSerializer(ServiceStatus()).data)


class SweepViewSet(ViewSet):
    """The sweeps of the key's partner."""

    @extend_schema(
        operation_id="buildSweep",
        summary="Build a sweep for a user to sign and send",
        tags=["Sweeps"],
        request=BuildRequestSerializer,
        responses={201: V2.answer, **failures("buildSweep")},
    )
    def build(self, request: Request) -> Response:
        """Quote every token, and return what the user signs and sends; on V5 with the signed fee authorization."""
        body = BuildRequestSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        answer = build_sweep(partner=partner_of(request), request=body.to_request())
        return Response(answer, status=201)

    @extend_schema(
        operation_id="confirmSweep",
        summary="Report the transaction that the user sent",
        parameters=[SWEEP_ID],
        tags=["Sweeps"],
        request=ConfirmRequestSerializer,
        responses={200: V2.state, 202: V2.state, **failures("confirmSweep")},
    )
    def confirm(self, request: Request, sweep_id: str) -> Response:
        """Answer 200 with the completed sweep, or 202 while the transaction is not yet found in a block."""
        body = ConfirmRequestSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        partner = partner_of(request)
        confirmed = confirm_sweep(partner=partner, sweep_id=_sweep_id(sweep_id), tx_hash=body.validated_data["txHash"])
        status = 200 if confirmed.status == SweepStatus.COMPLETED else 202
        return Response(V2.state(SweepState.of(confirmed)).data, status=status)

    @extend_schema(
        operation_id="getSweep",
        summary="Get the state of a sweep",
        parameters=[SWEEP_ID],
        tags=["Sweeps"],
        responses={200: V2.state, **failures("getSweep")},
    )
    def retrieve(self, request: Request, sweep_id: str) -> Response:
        """Return the sweep with its transactions, its fee terms, its events and its postings."""
        sweep = sweep_of_partner(partner_of(request), _sweep_id(sweep_id))
        return Response(V2.state(SweepState.of(sweep)).data)
