"""The economics of a built sweep, for each token and in total."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from sweepapi.api.input.fields import AmountOutputField, OpenEnumField
from sweepapi.evm.worth.valuing import Economics
from sweeps.rails.evm.build.shown import ShownToken
from sweeps.rails.evm.build.value_warnings import VALUE_WARNINGS, value_warning
from sweeps.rails.evm.discover.found import FoundToken
from sweeps.rails.evm.serializers.transactions import DATA_FEE_HELP

UNKNOWN = "Null if no pool shows a price."
WARNED = (
    "A code that `warnings` has as well: the price impact is high, or the loss against mid prices to tax, impact, fee "
    "and gas together. Null if neither is. New codes may be added."
)


@extend_schema_field({"type": "string", "pattern": "^(0|-?[1-9][0-9]{0,77})$", "examples": ["25000000", "-1200"]})
class SignedAmountResponseField(serializers.Field[int, str, str, Any]):
    """An amount that may be negative: a decimal string in the token's smallest unit."""

    def to_representation(self, value: int) -> str:
        return str(value)


class TokenEconomicsSerializer(serializers.Serializer[Any]):
    """What one token brings; the answer's tokens have these fields among their own."""

    priceImpactBps = serializers.IntegerField(
        source="token.economics.price_impact_bps",
        allow_null=True,
        help_text="How much less is expected, pool fees included, than at the mid price of the deepest pool of each "
        f"pair on the way; rounded up, and zero if it is not less. {UNKNOWN}",
    )
    transferTaxBps = serializers.IntegerField(
        source="token.economics.transfer_tax_bps",
        allow_null=True,
        help_text="What the token keeps of transfers on the way to its pool. Null if that could not be tested.",
    )
    gasShare = AmountOutputField(
        source="token.economics.gas_share",
        allow_null=True,
        help_text=f"What the gas of its own leg costs, in the output token. {UNKNOWN}",
    )
    netOutput = SignedAmountResponseField(
        source="token.economics.net_output",
        allow_null=True,
        help_text="The expected output after the fee and `gasShare`; negative if they are more. Null if `gasShare` is.",
    )
    value = AmountOutputField(
        source="token.economics.value",
        allow_null=True,
        help_text=f"The value of the expected output, in the smallest unit of `economics.reference`. {UNKNOWN}",
    )
    minValue = AmountOutputField(
        source="token.economics.min_value", allow_null=True, help_text="The value of the minimum output."
    )
    gasValue = AmountOutputField(
        source="token.economics.gas_value", allow_null=True, help_text="The value of `gasShare`."
    )
    netValue = SignedAmountResponseField(
        source="token.economics.net_value", allow_null=True, help_text="The value of `netOutput`."
    )
    valueWarning = serializers.SerializerMethodField()

    @extend_schema_field(OpenEnumField(values=VALUE_WARNINGS, allow_null=True, help_text=WARNED))
    def get_valueWarning(self, shown: ShownToken | FoundToken) -> str | None:  # noqa: N802 - named after its field
        return None if shown.token is None else value_warning(shown.token.economics)


class ReferenceSerializer(serializers.Serializer[Any]):
    """The stablecoin in which values are stated."""

    symbol = serializers.CharField()
    decimals = serializers.IntegerField()


class EconomicsSerializer(serializers.Serializer[Any]):
    """What the sweep brings; values are at the mid prices of pools, and of no other source."""

    reference = ReferenceSerializer(allow_null=True)
    value = AmountOutputField(allow_null=True, help_text="The value of the expected output, before the fee.")
    minValue = AmountOutputField(
        source="min_value", allow_null=True, help_text="The value of the minimum output, before the fee."
    )
    priceImpactBps = serializers.IntegerField(
        source="price_impact_bps", allow_null=True, help_text=f"As for each token, over all of them. {UNKNOWN}"
    )
    transferTaxBps = serializers.IntegerField(
        source="transfer_tax_bps",
        allow_null=True,
        help_text="As for each token, over all of them at mid prices. Null if it is not known for one.",
    )
    gas = AmountOutputField(
        help_text="What the sweep's transaction uses, in units of gas; estimated if it was not simulated."
    )
    gasPrice = AmountOutputField(
        source="gas_price", allow_null=True, help_text="In wei. Null if the provider did not report it."
    )
    dataFee = AmountOutputField(
        source="data_fee",
        allow_null=True,
        help_text=DATA_FEE_HELP,
    )
    gasShare = AmountOutputField(
        source="gas_share",
        allow_null=True,
        help_text="What the whole transaction costs, in the output token: more than the legs' shares together.",
    )
    gasValue = AmountOutputField(source="gas_value", allow_null=True, help_text="The value of `gasShare`.")
    netOutput = SignedAmountResponseField(
        source="net_output", allow_null=True, help_text="The expected output after the fee and `gasShare`."
    )
    netValue = SignedAmountResponseField(source="net_value", allow_null=True, help_text="The value of `netOutput`.")
    valueWarning = serializers.SerializerMethodField()

    @extend_schema_field(OpenEnumField(values=VALUE_WARNINGS, allow_null=True, help_text=WARNED))
    def get_valueWarning(self, economics: Economics) -> str | None:  # noqa: N802 - named after its field
        return value_warning(economics)
