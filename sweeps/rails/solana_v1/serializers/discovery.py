"""The answer about the tokens of a wallet."""

from pathlib import Path
from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from sweepapi.api.input.fields import AmountOutputField, OpenEnumField
from sweepapi.api.openapi.schema import example
from sweeps.protocol.verdicts import Exclusion, TokenVerdict
from sweeps.rails.solana_v1.build import obstacles
from sweeps.rails.solana_v1.discover.found import EmptyAccount, FoundTokenAccount, SolanaDiscovery
from sweeps.serializers.worth import ReferenceSerializer, SignedAmountResponseField

REASONS = sorted(one.code for one in vars(obstacles).values() if isinstance(one, obstacles.Obstacle))


class FoundTokenSerializer(serializers.Serializer[FoundTokenAccount]):
    """A token account with a balance."""

    mint = serializers.CharField()
    tokenAccount = serializers.CharField(source="account")
    amount = AmountOutputField()
    decimals = serializers.IntegerField(allow_null=True, help_text="Null: the mint is unknown.")
    symbol = serializers.CharField()
    name = serializers.CharField()
    estimatedOutput = AmountOutputField(
        source="estimated_output", allow_null=True, help_text="For the user, after the fee. Null: not quoted."
    )
    routable = serializers.BooleanField(
        source="is_routable", allow_null=True, help_text="Whether it can be swept. Null: not found out."
    )
    reason = OpenEnumField(
        values=[*REASONS, "transfer_fee"],
        allow_null=True,
        help_text="Why it can't be swept, or why that was not found out; `transfer_fee` if it can be, and keeps a part "
        "of transfers. New values may be added.",
    )
    message = serializers.CharField(allow_null=True)
    verdict = OpenEnumField(
        values=list(TokenVerdict),
        allow_null=True,
        help_text="As in `/v2`. Null: not found out, or the output itself. New values may be added.",
    )
    excludedBecause = OpenEnumField(
        source="excluded_because",
        values=list(Exclusion),
        allow_null=True,
        help_text="Why it is better not swept, although it can be sold; null if it is worth it, or can't be sold.",
    )
    priceImpactBps = serializers.IntegerField(
        source="economics.price_impact_bps", default=None, allow_null=True, help_text="Null: not known."
    )
    gasShare = SignedAmountResponseField(
        source="economics.gas_share",
        default=None,
        allow_null=True,
        help_text="A transaction's fees in the output token, less the rent that the token's account gives back; "
        "negative if that is more. Null: not quoted, or the price of SOL is not known.",
    )
    netOutput = SignedAmountResponseField(
        source="economics.net_output",
        default=None,
        allow_null=True,
        help_text="What is left for the user after the fee and `gasShare`.",
    )
    value = AmountOutputField(
        source="economics.value",
        default=None,
        allow_null=True,
        help_text="Of the output before the fee, in the smallest unit of `reference`.",
    )
    netValue = SignedAmountResponseField(
        source="economics.net_value", default=None, allow_null=True, help_text="The value of `netOutput`."
    )


class EmptyAccountSerializer(serializers.Serializer[EmptyAccount]):
    """A token account that holds nothing but its rent."""

    tokenAccount = serializers.CharField(source="account")
    mint = serializers.CharField()
    lamports = AmountOutputField(help_text="The rent that closing it gives back.")


class DiscoveryTotalsSerializer(serializers.Serializer[SolanaDiscovery]):
    """The sums."""

    estimatedOutput = AmountOutputField(source="estimated_output", help_text="Of the tokens that can be swept.")
    reclaimableLamports = AmountOutputField(source="reclaimable_lamports", help_text="Of the empty accounts.")


class DiscoveryOutputSerializer(serializers.Serializer[Any]):
    """The token that the estimates are in."""

    mint = serializers.CharField()
    symbol = serializers.CharField()
    decimals = serializers.IntegerField()


@extend_schema_serializer(
    component_name="DiscoveredSolanaTokens",
    examples=[example(Path(__file__).parent / "examples" / "discovery.json", "Four tokens, and one without a route")],
)
class DiscoverySerializer(serializers.Serializer[SolanaDiscovery]):
    """What was found in a wallet."""

    chain = serializers.CharField(source="cluster.name")
    network = serializers.CharField(source="cluster.network", help_text="The chain's CAIP-2 identifier.")
    wallet = serializers.CharField()
    output = DiscoveryOutputSerializer()
    reference = ReferenceSerializer()
    tokens = FoundTokenSerializer(many=True)
    emptyAccounts = EmptyAccountSerializer(source="empty_accounts", many=True)
    omittedAccounts = serializers.IntegerField(
        source="omitted_accounts", help_text="How many more token accounts the wallet has, which were not read."
    )
    retryAfterSeconds = serializers.IntegerField(
        source="retry_after_seconds",
        allow_null=True,
        help_text="In how many seconds another discovery quotes tokens that this one could not, whose reason is "
        "`not_quoted`: the swap API takes so many requests a minute. Null: it took all.",
    )
    totals = DiscoveryTotalsSerializer(source="*")
