"""The economics of a built sweep, for each token and in total."""

from typing import Any

from rest_framework import serializers

from sweepapi.api.input.fields import AmountOutputField, OpenEnumField
from sweepapi.evm.worth.ways import WayKind
from sweeps.rails.evm.serializers.transactions import DATA_FEE_HELP
from sweeps.serializers.worth import SignedAmountResponseField, SweepWorthSerializer, TokenWorthSerializer

UNKNOWN = "Null if no pool shows a price."


class TokenEconomicsSerializer(TokenWorthSerializer):
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
    gasValue = AmountOutputField(
        source="token.economics.gas_value", allow_null=True, help_text="The value of `gasShare`."
    )


class EconomicsSerializer(SweepWorthSerializer):
    """What the sweep brings; values are at the mid prices of pools, and of no other source."""

    transferTaxBps = serializers.IntegerField(
        source="transfer_tax_bps",
        allow_null=True,
        help_text="As for each token, over all of them at mid prices. Null if it is not known for one.",
    )
    execution = OpenEnumField(
        values=list(WayKind), help_text="The kind of the entry of `executions` that this is about: the first one."
    )
    gasPrice = AmountOutputField(
        source="gas_price",
        allow_null=True,
        help_text="In wei; zero if the gas is sponsored. Null if the provider did not report it.",
    )

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
