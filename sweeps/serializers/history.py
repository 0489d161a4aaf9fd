"""Describes the history: a partner's sweeps in brief, newest first, page by page."""

from pathlib import Path
from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from sweepapi.api.input.fields import OpenEnumField, UtcDateTimeField, WholeTokensField
from sweepapi.api.openapi.schema import example
from sweeps.models import Flag
from sweeps.serializers.answer import FeeModeField
from sweeps.serializers.state import NULL_IF_ADOPTED, FeesSerializer, SweepFactsSerializer


class FormattedSplitSerializer(serializers.Serializer[Any]):
    """A gross output and its split, in whole tokens."""

    grossOutput = WholeTokensField()
    totalFee = WholeTokensField()
    partnerFee = WholeTokensField()
    protocolFee = WholeTokensField()
    userAmount = WholeTokensField()


class FormattedFeesSerializer(serializers.Serializer[Any]):
    """The expected and the actual fees, in whole tokens of the output."""

    expectedFees = FormattedSplitSerializer(read_only=True, allow_null=True, help_text=NULL_IF_ADOPTED)
    actualFees = FormattedSplitSerializer(read_only=True, allow_null=True, help_text="Null unless completed.")


class SweepSummarySerializer(SweepFactsSerializer):
    """A sweep in brief."""

    network = serializers.CharField(help_text="The chain's CAIP-2 identifier.")
    feeMode = FeeModeField()
    flags = serializers.ListField(child=OpenEnumField(values=Flag.values))
    confirmedAt = UtcDateTimeField(allow_null=True)
    txHashes = serializers.ListField(
        child=serializers.CharField(),
        help_text="Of the accepted transactions, one per execution.",
    )
    fees = FeesSerializer()


class ListedSweepSerializer(SweepSummarySerializer):
    """A sweep in a list."""

    feesFormatted = FormattedFeesSerializer()


@extend_schema_serializer(
    many=False,  # a page of a list is one object
    examples=[example(Path(__file__).parent / "examples" / "history_page.json", "Two sweeps")],
)
class SweepPage(serializers.Serializer[Any]):
    """One page of sweeps, newest first."""

    items = ListedSweepSerializer(many=True)
    nextCursor = serializers.CharField(allow_null=True, help_text="Null on the last page.")
