"""The status object of a sweep on an EVM chain."""

from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from sweepapi.api.input.fields import HashField, UtcDateTimeField
from sweepapi.api.openapi.schema import example
from sweeps.models import Flag, SweepStatus
from sweeps.rails.evm.follow.following import USED_FLAGS
from sweeps.rails.evm.serializers.answer import CONTRACT_VERSIONS, EXAMPLES
from sweeps.serializers.state import NULL_IF_ADOPTED, ChecksSerializer, FeeSplitSerializer, SweepStateSerializer

FLAGS = (*Flag.values, *USED_FLAGS)


class FeeAuthorizationStateSerializer(ChecksSerializer):
    """The fee terms and how far the sweep has got, with the expected and the actual fees; in every mode."""

    status = serializers.ChoiceField(source="sweep.status", choices=SweepStatus.choices)
    txHash = HashField(source="shown_transaction.tx_hash", default=None, allow_null=True)
    submittedAt = UtcDateTimeField(source="shown_transaction.submitted_at", default=None, allow_null=True)
    confirmedAt = UtcDateTimeField(source="sweep.completed_at", allow_null=True)
    nonce = serializers.SerializerMethodField()
    deadline = UtcDateTimeField(
        source="sweep.deadline",
        allow_null=True,
        help_text=f"Of the fee authorization on V5, of the user's permit on V4. {NULL_IF_ADOPTED}",
    )
    totalFeeBps = serializers.IntegerField(source="sweep.total_fee_bps", allow_null=True, help_text=NULL_IF_ADOPTED)
    partnerShareBps = serializers.IntegerField(
        source="sweep.partner_share_bps", allow_null=True, help_text=NULL_IF_ADOPTED
    )
    expectedFees = FeeSplitSerializer(source="expected_fees", allow_null=True, help_text=NULL_IF_ADOPTED)
    actualFees = FeeSplitSerializer(source="actual_fees", allow_null=True)

    @extend_schema_field(serializers.CharField(allow_null=True, help_text="Of the fee authorization; null on V4."))
    def get_nonce(self, state: Any) -> str | None:  # noqa: ANN401
        nonce: str | None = state.rail.authorization_nonce(state.executions[0].execution_id)
        return nonce


@extend_schema_serializer(
    component_name="SweepState",
    examples=[
        example(EXAMPLES / "completed.json", "Completed"),
        example(EXAMPLES / "completed_v4.json", "Completed in the fallback mode"),
        example(EXAMPLES / "cancelled.json", "Cancelled before it was sent"),
        example(EXAMPLES / "pending.json", "Waiting for its transaction", status_codes=[202]),
    ],
)
class EvmStateSerializer(SweepStateSerializer):
    """A sweep on an EVM chain: its state, its transactions, its fee terms and its postings."""

    chainId = serializers.SerializerMethodField()
    flags = serializers.ListField(source="sweep.flags", child=serializers.ChoiceField(choices=FLAGS))
    contractVersion = serializers.ChoiceField(source="rail.contract_version", choices=CONTRACT_VERSIONS)
    contractAddress = serializers.SerializerMethodField()
    feeAuthorization = FeeAuthorizationStateSerializer(source="*")

    def get_chainId(self, state: Any) -> int:  # noqa: ANN401, N802 - as above; named after its field
        return int(state.sweep.network.removeprefix("eip155:"))

    def get_contractAddress(self, state: Any) -> str:  # noqa: ANN401, N802 - as above
        venue: str = state.executions[0].venue
        return venue
