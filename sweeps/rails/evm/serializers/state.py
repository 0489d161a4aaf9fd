"""The status object of a sweep on an EVM chain."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
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

    status = serializers.ChoiceField(choices=SweepStatus.choices)
    txHash = HashField(default=None, allow_null=True)
    submittedAt = UtcDateTimeField(default=None, allow_null=True)
    confirmedAt = UtcDateTimeField(allow_null=True)
    nonce = serializers.CharField(read_only=True, allow_null=True, help_text="Of the fee authorization; null on V4.")
    deadline = UtcDateTimeField(
        allow_null=True,
        help_text=f"Of the fee authorization on V5, of the user's permit on V4. {NULL_IF_ADOPTED}",
    )
    totalFeeBps = serializers.IntegerField(allow_null=True, help_text=NULL_IF_ADOPTED)
    partnerShareBps = serializers.IntegerField(allow_null=True, help_text=NULL_IF_ADOPTED)
    expectedFees = FeeSplitSerializer(allow_null=True, help_text=NULL_IF_ADOPTED)
    actualFees = FeeSplitSerializer(allow_null=True)


class CancellationSerializer(serializers.Serializer[Any]):
    """The cancellation of a sweep on chain, after which what the user signed can't be executed."""

    requestedAt = UtcDateTimeField(
        allow_null=True, help_text="When you or our operators asked for it. Null if a transaction came without that."
    )
    txHash = HashField(
        allow_null=True, help_text="The transaction that cancelled it. Null until a safe block shows it."
    )


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

    chainId = serializers.IntegerField(read_only=True)
    flags = serializers.ListField(child=serializers.ChoiceField(choices=FLAGS))
    contractVersion = serializers.ChoiceField(choices=CONTRACT_VERSIONS)
    contractAddress = serializers.CharField(read_only=True)
    cancellation = CancellationSerializer(
        allow_null=True, help_text="Null unless it was requested or made; V4 has none, so voiding is all there is."
    )
    feeAuthorization = FeeAuthorizationStateSerializer()
