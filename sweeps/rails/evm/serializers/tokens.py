"""The tokens of a build with their routes, and those that it leaves out."""

from typing import Any

from rest_framework import serializers

from sweepapi.api.input.fields import AmountOutputField, EvmAddressField, OpenEnumField
from sweeps.rails.evm.models import Leg
from sweeps.rails.evm.serializers.economics import TokenEconomicsSerializer
from sweeps.serializers.worth import SkippedTokenSerializer


class RouteSerializer(serializers.Serializer[Any]):
    """The route of one token."""

    kind = OpenEnumField(
        values=[Leg.Hop.POOL, Leg.Hop.JOINED, Leg.Hop.ROUTER, Leg.Hop.UNWRAPPED],
        help_text="The contract swaps it in a pool, or in a pool into the wrapped coin and, with all other joined "
        "tokens, through `lastHop`, or has a router swap it; or the wrapped coin becomes the native one.",
    )
    venue = serializers.CharField(allow_null=True, help_text="Whose pool swaps it; null if it needs none of its own.")
    router = serializers.CharField(allow_null=True, help_text="Null unless a router swaps it.")
    target = EvmAddressField(allow_null=True, help_text="The pool or the router; null without either.")
    path = serializers.ListField(child=EvmAddressField(), help_text="The tokens up to the output, or its wrapped coin.")
    feeTiers = serializers.ListField(
        source="fee_tiers", child=serializers.IntegerField(), help_text="Hundredths of a basis point, per hop."
    )
    priceImpactBps = serializers.IntegerField(
        source="price_impact_bps", allow_null=True, help_text="The same as the token's."
    )


class LastHopSerializer(serializers.Serializer[Any]):
    """The pool that swaps what all joined tokens brought into the output token."""

    venue = serializers.CharField(source="venue.name")
    pool = EvmAddressField()
    tokenIn = EvmAddressField(source="token_in", help_text="The wrapped coin.")
    tokenOut = EvmAddressField(source="token_out")
    feeTier = serializers.IntegerField(
        source="fee_tier", allow_null=True, help_text="Hundredths of a basis point; null for venues without fee tiers."
    )


class BuiltTokenSerializer(TokenEconomicsSerializer):
    """One token, with its expected and minimum output in the output token's smallest unit."""

    mint = EvmAddressField(source="token.asset")
    amount = AmountOutputField(source="token.amount")
    symbol = serializers.CharField(source="token.symbol")
    decimals = serializers.IntegerField(source="token.decimals")
    expectedOutput = AmountOutputField(source="token.expected_output", help_text="Before the fee.")
    minOutput = AmountOutputField(source="token.min_output", help_text="Before the fee.")
    floor = AmountOutputField(
        source="token.floor", help_text="The least that the user receives for it after the fee, which the user signs."
    )
    skippable = serializers.BooleanField(
        source="token.skippable",
        help_text="Whether the contract leaves it out if its pool pays too little; then it stays with the user.",
    )
    route = RouteSerializer(allow_null=True, help_text="Null if this offer drops the token, which stays with the user.")


class EvmSkippedTokenSerializer(SkippedTokenSerializer):
    """A token of the request that the sweep does not take."""

    mint = EvmAddressField(source="asset")
    gas = AmountOutputField(allow_null=True, help_text="What its swap would add to the gas of the sweep.")
