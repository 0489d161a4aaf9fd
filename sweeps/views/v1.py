"""The endpoints of /v1: sweeps on Solana, and all others whose partners are paid later."""

from drf_spectacular.utils import extend_schema, extend_schema_view

from sweepapi.api.schema import failures
from sweeps.rails.registry import V1_RAILS
from sweeps.serializers.history import HistoryQuery, SweepPage
from sweeps.serializers.offchain_state import OffchainStateSerializer
from sweeps.views.stored import SWEEP_ID, StoredSweepViewSet

TAGS = ["Sweeps on Solana"]


@extend_schema_view(
    retrieve=extend_schema(
        operation_id="getSweepV1",
        summary="Get the state of a sweep on Solana, or on V4",
        parameters=[SWEEP_ID],
        tags=TAGS,
        responses={200: OffchainStateSerializer, **failures("getSweepV1")},
    ),
    list=extend_schema(
        operation_id="listSweepsV1",
        summary="List your sweeps on Solana and on V4, newest first",
        tags=TAGS,
        parameters=[HistoryQuery],
        responses={200: SweepPage, **failures("listSweepsV1")},
    ),
)
class SweepV1ViewSet(StoredSweepViewSet):
    rails = V1_RAILS
    state = OffchainStateSerializer
