"""The endpoints of /v2: sweeps on EVM chains."""

from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.request import Request
from rest_framework.response import Response

from partners.authentication import partner_of
from sweepapi.api.schema import failures
from sweeps.build import build_sweep
from sweeps.confirm import confirm_sweep
from sweeps.models import SweepStatus
from sweeps.rails.registry import V2, V2_RAILS
from sweeps.serializers.history import HistoryQuery, SweepPage
from sweeps.serializers.requests import BuildRequestSerializer, ConfirmRequestSerializer
from sweeps.state import SweepState
from sweeps.views.stored import SWEEP_ID, StoredSweepViewSet, sweep_id_of

TAGS = ["Sweeps"]


@extend_schema_view(
    retrieve=extend_schema(
        operation_id="getSweep",
        summary="Get the state of a sweep",
        parameters=[SWEEP_ID],
        tags=TAGS,
        responses={200: V2.state, **failures("getSweep")},
    ),
    list=extend_schema(
        operation_id="listSweeps",
        summary="List your sweeps, newest first",
        tags=TAGS,
        parameters=[HistoryQuery],
        responses={200: SweepPage, **failures("listSweeps")},
    ),
)
class SweepViewSet(StoredSweepViewSet):
    rails = V2_RAILS
    state = V2.state

    @extend_schema(
        operation_id="buildSweep",
        summary="Build a sweep for a user to sign and send",
        tags=TAGS,
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
        tags=TAGS,
        request=ConfirmRequestSerializer,
        responses={200: V2.state, 202: V2.state, **failures("confirmSweep")},
    )
    def confirm(self, request: Request, sweep_id: str) -> Response:
        """Answer 200 with the completed sweep, or 202 while the transaction is not yet found in a block."""
        body = ConfirmRequestSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        partner = partner_of(request)
        confirmed = confirm_sweep(
            partner=partner, sweep_id=sweep_id_of(sweep_id), tx_hash=body.validated_data["txHash"]
        )
        status = 200 if confirmed.status == SweepStatus.COMPLETED else 202
        return Response(V2.state(SweepState.of(confirmed)).data, status=status)
