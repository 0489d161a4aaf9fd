"""The endpoints of /v2: sweeps on EVM chains."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from partners.authentication import partner_of
from sweepapi.api.schema import failures
from sweeps.build import build_sweep
from sweeps.confirm import confirm_sweep
from sweeps.models import SweepStatus
from sweeps.rails.registry import V2, V2_RAILS
from sweeps.serializers.requests import BuildRequestSerializer, ConfirmRequestSerializer
from sweeps.state import SweepState
from sweeps.views.stored import SWEEP_ID, StoredSweepViewSet, documented, sweep_id_of

TAG = "Sweeps"


@documented(get="getSweep", listing="listSweeps", where="an EVM chain", tag=TAG, state=V2.state)
class SweepViewSet(StoredSweepViewSet):
    rails = V2_RAILS
    state = V2.state

    @extend_schema(
        operation_id="buildSweep",
        summary="Build a sweep for a user to sign and send",
        tags=[TAG],
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
        tags=[TAG],
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
