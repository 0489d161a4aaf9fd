"""The economics of a built sweep, for each token and in total."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from sweepapi.api.input.fields import AmountOutputField, OpenEnumField
from sweepapi.evm.worth.valuing import Economics
from sweepapi.evm.worth.ways import WayKind
from sweeps.protocol.value_warnings import VALUE_WARNINGS, value_warning
from sweeps.rails.evm.build.shown import ShownToken
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
        help_text="What the gas that it adds to the sweep costs, its approval or permit included, in the output token. "
        f"{UNKNOWN}",
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
    execution = OpenEnumField(
        values=list(WayKind), help_text="The kind of the entry of `executions` that this is about: the first one."
    )
    summary = serializers.CharField(
        allow_null=True, help_text="The same for people, in English. Null if a value is not known."
    )
    gasPrice = AmountOutputField(
        source="gas_price",
        allow_null=True,
        help_text="In wei; zero if the gas is sponsored. Null if the provider did not report it.",
    )
    valueWarning = serializers.SerializerMethodField()

    @extend_schema_field(OpenEnumField(values=VALUE_WARNINGS, allow_null=True, help_text=WARNED))
    def get_valueWarning(self, economics: Economics) -> str | None:  # noqa: N802 - named after its field
        return value_warning(economics)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {**super().get_fields(), **cost_fields()}


def cost_fields(source: str = "") -> dict[str, serializers.Field[Any, Any, Any, Any]]:
    """Return the fields of what a way to execute the sweep costs and leaves; ``source`` leads to its ``Economics``."""
    return {
        "gas": AmountOutputField(
            source=f"{source}gas" if source else None,
            help_text="What everything that the user sends uses, approvals included, in units of gas.",
        ),
        "dataFee": AmountOutputField(
            source=f"{source}data_fee",
            allow_null=True,
            help_text=f"Of everything that the user sends. {DATA_FEE_HELP}",
        ),
        "cost": AmountOutputField(
            source=f"{source}cost" if source else None,
            allow_null=True,
            help_text="Of gas and data together, in wei. Null if it is not known.",
        ),
        "gasShare": AmountOutputField(
            source=f"{source}gas_share", allow_null=True, help_text=f"`cost` in the output token. {UNKNOWN}"
        ),
        "gasValue": AmountOutputField(
            source=f"{source}gas_value", allow_null=True, help_text="The value of `gasShare`."
        ),
        "netOutput": SignedAmountResponseField(
            source=f"{source}net_output",
            allow_null=True,
            help_text="The expected output after the fee and `gasShare`; negative if they are more.",
        ),
        "netValue": SignedAmountResponseField(
            source=f"{source}net_value", allow_null=True, help_text="The value of `netOutput`."
        ),
    }
