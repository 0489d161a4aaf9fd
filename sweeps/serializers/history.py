"""The query and the JSON of the history: a partner's sweeps in brief, newest first, page by page."""

from pathlib import Path
from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from sweepapi.api.fields import OpenEnumField, UtcDateTimeField, WalletField
from sweepapi.api.listing import ListQuery
from sweepapi.api.schema import example
from sweeps.models import Flag, SweepStatus
from sweeps.serializers.answer import FeeModeField
from sweeps.serializers.requests import ClientReferenceField
from sweeps.serializers.state import FeesSerializer, SweepFactsSerializer


class HistoryQuery(ListQuery):
    """Which sweeps to list."""

    verb = "Built"

    status = serializers.ChoiceField(choices=SweepStatus.choices, required=False, help_text="The sweeps' status.")
    wallet = WalletField(required=False, help_text="The user's address, in any valid casing, or key.")
    clientReference = ClientReferenceField(
        required=False, source="client_reference", help_text="The whole reference that you gave them."
    )


class SweepSummarySerializer(SweepFactsSerializer):
    """A sweep in brief."""

    network = serializers.CharField(source="sweep.network", help_text="The chain's CAIP-2 identifier.")
    feeMode = FeeModeField(source="sweep.settlement")
    flags = serializers.ListField(source="sweep.flags", child=OpenEnumField(values=Flag.values))
    completedAt = UtcDateTimeField(source="sweep.completed_at", allow_null=True)
    txHashes = serializers.ListField(
        source="accepted_hashes",
        child=serializers.CharField(),
        help_text="Of the accepted transactions, one per execution.",
    )
    fees = FeesSerializer(source="*")


@extend_schema_serializer(
    many=False,  # a page of a list is one object
    examples=[example(Path(__file__).parent / "examples" / "history_page.json", "Two sweeps")],
)
class SweepPage(serializers.Serializer[Any]):
    """One page of sweeps, newest first."""

    items = SweepSummarySerializer(many=True)
    nextCursor = serializers.CharField(allow_null=True, help_text="Null on the last page.")
