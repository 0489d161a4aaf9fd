"""What tokens and sweeps are worth, and what is left out or lacking: the fields that all rails share."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from sweepapi.api.input.fields import AmountOutputField, OpenEnumField
from sweepapi.worth.losses import Valued
from sweeps.protocol.value_warnings import VALUE_WARNINGS, value_warning

WARNED = (
    "A code that `warnings` has as well: the price impact is high, or the loss against mid prices to tax, impact, fee "
    "and cost together. Null if neither is. New codes may be added."
)
LEFT_OUT_REASONS = (
    "not_a_token",
    "no_route",
    "transfer_fee",
    "transfer_refused",
    "insufficient_balance",
    "uneconomic",
    "output_too_small",
    "price_impact_too_high",
    "simulation_failed",
    "takes_other_tokens",
)


@extend_schema_field({"type": "string", "pattern": "^(0|-?[1-9][0-9]{0,77})$", "examples": ["25000000", "-1200"]})
class SignedAmountResponseField(serializers.Field[int, str, str, Any]):
    """An amount that may be negative: a decimal string in the token's smallest unit."""

    def to_representation(self, value: int) -> str:
        return str(value)


@extend_schema_field(OpenEnumField(values=VALUE_WARNINGS, help_text=WARNED))
class ValueWarningField(serializers.Field[Any, Any, str | None, Any]):
    """The code of the warning about economics."""

    def to_representation(self, economics: Valued) -> str | None:
        return value_warning(economics)


class TokenWorthSerializer(serializers.Serializer[Any]):
    """What one token brings; the answer's tokens have these fields among their own."""

    netOutput = SignedAmountResponseField(
        source="token.economics.net_output",
        allow_null=True,
        help_text="The expected output after the fee and `gasShare`; negative if they are more. Null if `gasShare` is.",
    )
    value = AmountOutputField(
        source="token.economics.value",
        allow_null=True,
        help_text="The value of the expected output, in the smallest unit of `economics.reference`. Null if no price "
        "is known.",
    )
    minValue = AmountOutputField(
        source="token.economics.min_value", allow_null=True, help_text="The value of the minimum output."
    )
    netValue = SignedAmountResponseField(
        source="token.economics.net_value", allow_null=True, help_text="The value of `netOutput`."
    )
    valueWarning = ValueWarningField(source="token.economics", allow_null=True)


class ReferenceSerializer(serializers.Serializer[Any]):
    """The stablecoin in which values are stated."""

    symbol = serializers.CharField()
    decimals = serializers.IntegerField()


class SweepWorthSerializer(serializers.Serializer[Any]):
    """What the sweep brings."""

    reference = ReferenceSerializer(allow_null=True)
    value = AmountOutputField(allow_null=True, help_text="The value of the expected output, before the fee.")
    minValue = AmountOutputField(
        source="min_value", allow_null=True, help_text="The value of the minimum output, before the fee."
    )
    priceImpactBps = serializers.IntegerField(
        source="price_impact_bps",
        allow_null=True,
        help_text="As for each token, over all of them. Null if it is not known for one.",
    )
    summary = serializers.CharField(
        allow_null=True, help_text="The same for people, in English. Null if a value is not known."
    )
    valueWarning = ValueWarningField(source="*", allow_null=True)


class GasIssueSerializer(serializers.Serializer[Any]):
    """That the user holds too little of the native coin, in its smallest unit."""

    actual = AmountOutputField()
    needed = AmountOutputField(help_text="The most that is asked for before one of the transactions.")


class SkippedTokenSerializer(serializers.Serializer[Any]):
    """A token of the request that the sweep does not take."""

    mint = serializers.CharField(source="asset")
    amount = AmountOutputField()
    reason = OpenEnumField(values=LEFT_OUT_REASONS, help_text="Stable; new reasons may be added.")
    message = serializers.CharField()
    expectedOutput = AmountOutputField(
        source="expected_output", allow_null=True, help_text="Before the fee; null if it can't be swapped."
    )
    value = AmountOutputField(
        allow_null=True, help_text="The value of the expected output, in the reference stablecoin."
    )
