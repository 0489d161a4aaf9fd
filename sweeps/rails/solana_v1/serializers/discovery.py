"""The answer about the tokens of a wallet."""

from pathlib import Path
from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from sweepapi.api.input.fields import AmountOutputField, OpenEnumField
from sweepapi.api.openapi.schema import example
from sweepapi.solana.encoding.accounts import Holding
from sweepapi.solana.swap_api.verified_list import ListState
from sweepapi.worth.left_out import SIMULATION_FAILED
from sweeps.protocol.verdicts import Exclusion, TokenVerdict
from sweeps.rails.solana_v1.discover.basket import SolanaBasket
from sweeps.rails.solana_v1.discover.found import FoundTokenAccount, SolanaDiscovery
from sweeps.rails.solana_v1.discover.ranking import AccountPage, PriceState
from sweeps.rails.solana_v1.obstacles import CODES
from sweeps.rails.solana_v1.serializers.answer import OverfundedAccountSerializer, SolanaEconomicsSerializer
from sweeps.serializers.worth import ReferenceSerializer, SignedAmountResponseField


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
        source="is_routable",
        allow_null=True,
        help_text="Whether it can be swept: true if a simulation sold it. Null: not found out, as `reason` says.",
    )
    reason = OpenEnumField(
        values=[*CODES, SIMULATION_FAILED, "transfer_fee"],
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


class EmptyAccountSerializer(serializers.Serializer[Holding]):
    """A token account that holds nothing but its rent."""

    tokenAccount = serializers.CharField(source="key")
    mint = serializers.CharField(source="token.mint")
    lamports = AmountOutputField(source="rent_lamports", help_text="The rent that closing it gives back.")


class AccountCoverageSerializer(serializers.Serializer[AccountPage]):
    """What a page has of a wallet's token accounts with a balance; all of them were read."""

    complete = serializers.SerializerMethodField(
        method_name="is_complete", help_text="Whether no account is left for a later page."
    )
    tokensLeft = serializers.IntegerField(
        source="left", help_text="How many token accounts with a balance are left for later pages, not looked at yet."
    )
    verifiedList = OpenEnumField(
        source="verified_list",
        values=list(ListState),
        help_text="The list of verified tokens, which come first: `complete`; `stale`, an old one; `unavailable`.",
    )
    prices = OpenEnumField(
        values=list(PriceState),
        help_text="The prices, which rank the others: `not_needed`, the page has room for all; `complete`; `partial`, "
        "later pages know more; `unavailable`. They change the order only, and no figure.",
    )
    nextCursor = serializers.SerializerMethodField(
        method_name="sealed_place",
        help_text="Send it as `cursor` to go on with what was on no page yet, the best first, whatever the wallet "
        "received meanwhile. It may have 220,000 characters. Null if nothing is left, or after 20,000 accounts.",
    )

    @extend_schema_field({"type": "boolean"})
    def is_complete(self, page: AccountPage) -> bool:
        return page.left == 0

    @extend_schema_field({"type": ["string", "null"]})
    def sealed_place(self, page: AccountPage) -> str | None:
        """Return the cursor, sealed for who asked and about what."""
        if page.next_place is None:
            return None
        cursor: str = self.context["scope"].seal(page.next_place)
        return cursor


class SolanaBasketTokenSerializer(serializers.Serializer[Any]):
    """A token of the basket, as a build takes it."""

    mint = serializers.CharField(source="asset")
    amount = AmountOutputField()


class SolanaBasketSerializer(serializers.Serializer[SolanaBasket]):
    """The tokens of this page that are worth sweeping together, of those whose sales a simulation proved."""

    tokens = SolanaBasketTokenSerializer(
        many=True, help_text="The best first; empty if nothing leaves more than it costs."
    )
    expectedOutput = AmountOutputField(source="expected_output", help_text="Before the fee, as simulated.")
    economics = SolanaEconomicsSerializer(
        allow_null=True,
        help_text="Those of a sweep that sells each token in a transaction of its own; a build puts several into one, "
        "and then fees are less. Null without tokens.",
    )


class DiscoveryTotalsSerializer(serializers.Serializer[SolanaDiscovery]):
    """The sums."""

    estimatedOutput = AmountOutputField(source="estimated_output", help_text="Of the tokens that can be swept.")
    reclaimableLamports = AmountOutputField(
        source="reclaimable.lamports", help_text="Of the listed empty and overfunded accounts."
    )


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
    coverage = AccountCoverageSerializer(
        source="page", help_text="What was looked at, in which order, and what was not."
    )
    emptyAccounts = EmptyAccountSerializer(
        source="reclaimable.listed_empty",
        many=True,
        help_text="Those with most rent first, on the first page only.",
    )
    emptyAccountsLeft = serializers.IntegerField(
        source="reclaimable.empty_left", help_text="How many more empty accounts the wallet has."
    )
    overfundedAccounts = OverfundedAccountSerializer(
        source="reclaimable.listed_overfunded",
        many=True,
        help_text="Those of the others that hold more than today's rent, which a build withdraws: those with most "
        "first, on the first page only.",
    )
    overfundedAccountsLeft = serializers.IntegerField(
        source="reclaimable.overfunded_left", help_text="How many more overfunded accounts the wallet has."
    )
    retryAfterSeconds = serializers.IntegerField(
        source="retry_after_seconds",
        allow_null=True,
        help_text="In how many seconds another discovery quotes tokens that this one could not, whose reason is "
        "`not_quoted`: the swap API takes so many requests a minute. Null: it took all.",
    )
    totals = DiscoveryTotalsSerializer(source="*")
    bestBasket = SolanaBasketSerializer(source="best_basket")
