"""The JSON of the history: a partner's sweeps in brief, newest first, page by page."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from sweepapi.api.input.fields import OpenEnumField, UtcDateTimeField, WholeTokensField
from sweepapi.api.openapi.schema import example
from sweepapi.fees import Split
from sweepapi.token_amounts import whole_tokens
from sweeps.models import Flag
from sweeps.serializers.answer import FeeModeField
from sweeps.serializers.state import NULL_IF_ADOPTED, FeesSerializer, SweepFactsSerializer


class FormattedSplitSerializer(serializers.Serializer[Any]):
    """A gross output and its split, in whole tokens."""

    grossOutput = WholeTokensField(source="gross_output")
    totalFee = WholeTokensField(source="total_fee")
    partnerFee = WholeTokensField(source="partner_fee")
    protocolFee = WholeTokensField(source="protocol_fee")
    userAmount = WholeTokensField(source="user_amount")


class FormattedFeesSerializer(serializers.Serializer[Any]):
    """The expected and the actual fees, in whole tokens of the output; its values are ``SweepState``s."""

    expected = serializers.SerializerMethodField(help_text=NULL_IF_ADOPTED)
    actual = serializers.SerializerMethodField(help_text="Null unless completed.")

    @extend_schema_field(FormattedSplitSerializer(allow_null=True))
    def get_expected(self, state: Any) -> Any:  # noqa: ANN401
        return _formatted(state.expected_fees, state.sweep.output_decimals)

    @extend_schema_field(FormattedSplitSerializer(allow_null=True))
    def get_actual(self, state: Any) -> Any:  # noqa: ANN401
        return _formatted(state.actual_fees, state.sweep.output_decimals)


def _formatted(split: Split | None, decimals: int) -> Any:  # noqa: ANN401 - DRF's own
    if split is None:
        return None
    amounts = {name: whole_tokens(units, decimals) for name, units in asdict(split).items()}
    return FormattedSplitSerializer(amounts).data


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


class ListedSweepSerializer(SweepSummarySerializer):
    """A sweep in a list."""

    feesFormatted = FormattedFeesSerializer(source="*")


@extend_schema_serializer(
    many=False,  # a page of a list is one object
    examples=[example(Path(__file__).parent / "examples" / "history_page.json", "Two sweeps")],
)
class SweepPage(serializers.Serializer[Any]):
    """One page of sweeps, newest first."""

    items = ListedSweepSerializer(many=True)
    nextCursor = serializers.CharField(allow_null=True, help_text="Null on the last page.")
