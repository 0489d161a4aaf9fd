"""The status object of /v1: one shape for sweeps of any rail whose partners are paid later."""

from pathlib import Path
from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from sweepapi.api.openapi.schema import example
from sweeps.models import Execution
from sweeps.serializers.history import SweepSummarySerializer
from sweeps.serializers.state import ChecksSerializer, SweepStateSerializer

EXAMPLES = Path(__file__).parent / "examples"


class OperationStateSerializer(serializers.Serializer[Any]):
    """One operation on chain that the sweep consists of."""

    id = serializers.CharField(help_text="On Solana the reference key in its transaction, on V4 the sweepRef.")
    status = serializers.ChoiceField(choices=Execution.Status.choices)
    tokens = serializers.ListField(child=serializers.CharField(), read_only=True, help_text="The mints that it sweeps.")
    txHash = serializers.CharField(
        default=None,
        allow_null=True,
        help_text="Of the accepted transaction, otherwise of the newest.",
    )
    reason = serializers.CharField(default="", help_text="Why that transaction did not execute it; else blank.")


@extend_schema_field({"oneOf": [{"$ref": "#/components/schemas/SolanaBuildRequest"}, {"type": "null"}]})
class RemainingField(serializers.JSONField):
    """The body of a build on Solana, or null."""


@extend_schema_serializer(
    component_name="OffchainSweepState",
    examples=[example(EXAMPLES / "offchain_state.json", "Two transactions on Solana, of which one landed")],
)
class OffchainStateSerializer(ChecksSerializer, SweepSummarySerializer, SweepStateSerializer):
    """A sweep whose fees go to the platform whole, and whose partner is paid later."""

    operations = OperationStateSerializer(many=True)
    remaining = RemainingField(
        help_text="What to send to `POST /v1/sweep/build` to sweep the tokens that were not swept; null unless `flags` "
        "has `partial`."
    )
