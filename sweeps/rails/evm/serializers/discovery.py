"""The answer of discover on EVM chains."""

from pathlib import Path
from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from sweepapi.api.input.fields import AmountOutputField, EvmAddressField, OpenEnumField
from sweepapi.api.openapi.schema import example
from sweepapi.evm.trial.trial_result import SimulationStatus
from sweeps.protocol.verdicts import Exclusion, TokenVerdict
from sweeps.rails.evm.discover.consistency import require_consistent_discovery
from sweeps.rails.evm.discover.found import EvmDiscovery, FoundToken, TokenNote
from sweeps.rails.evm.serializers.coverage import CoverageSerializer
from sweeps.rails.evm.serializers.economics import (
    EconomicsSerializer,
    TokenEconomicsSerializer,
)
from sweeps.serializers.worth import ReferenceSerializer

REASONS = (
    "no_route",
    "transfer_fee",
    "transfer_refused",
    "uneconomic",
    "output_too_small",
    "simulation_failed",
    "takes_other_tokens",
    "imitates_symbol",
    "mixed_scripts",
    "contains_link",
    "not_a_token",
)
NO_OFFER = "Null if there is no way to sell it, or if it was not tried."


class WalletTokenSerializer(TokenEconomicsSerializer):
    """A token of the wallet, and what it would bring if it were swept alone, in the output token."""

    mint = EvmAddressField(source="asset")
    symbol = serializers.CharField(source="facts.symbol", default="")
    name = serializers.CharField(source="facts.name", default="")
    decimals = serializers.IntegerField(
        source="facts.decimals", default=None, allow_null=True, help_text="Null if the contract does not report it."
    )
    untrusted = serializers.SerializerMethodField(
        help_text="Whether `symbol` and `name` are what the contract chose to say, only made printable and short: "
        "never show them as facts, and never as links. False for the tokens that the chain's operators or Uniswap's "
        "default token list have."
    )
    amount = AmountOutputField(
        source="facts.balance",
        default=None,
        allow_null=True,
        help_text="All that the wallet has of it. Null if the contract does not report that.",
    )
    verdict = OpenEnumField(
        source="finding.verdict",
        values=list(TokenVerdict),
        help_text="`sellable`; `taxed`, which is sellable although it keeps a part of transfers; `uneconomic`, which "
        "brings less than the gas that it adds; `no_route`; `unsellable`: a sale fails, or takes other tokens of the "
        "wallet as well; `suspect`, whose name is made to deceive; `broken`, which is not a token. "
        "New values may be added.",
    )
    reason = OpenEnumField(
        source="finding.reason", values=REASONS, allow_null=True, help_text="Null if `sellable`; new ones may be added."
    )
    message = serializers.CharField(source="finding.message", allow_null=True)
    notes = serializers.ListField(
        child=OpenEnumField(values=list(TokenNote)),
        help_text="What to know of the token beside its verdict: `symbol_of_listed_token`: its symbol is that of "
        "another token, which Uniswap's default token list has. New ones may be added.",
    )
    simulation = OpenEnumField(
        source="sale.simulation.status",
        values=list(SimulationStatus),
        default=None,
        allow_null=True,
        help_text="How the simulated sale of the whole balance ended, as in a build. Null if it was not tried.",
    )
    expectedOutput = AmountOutputField(
        source="token.expected_output", default=None, allow_null=True, help_text=f"Before the fee. {NO_OFFER}"
    )
    gas = AmountOutputField(
        allow_null=True,
        help_text=f"What it adds to the gas of a sweep, its approval or permit included. {NO_OFFER}",
    )
    excludedBecause = OpenEnumField(
        source="excluded_because",
        values=list(Exclusion),
        allow_null=True,
        help_text="Why a token that can be sold is not in `bestBasket`: its price impact is too high; its price is not "
        "known; all tokens that are worth their own gas do not pay for a sweep together; others bring more than the "
        "most tokens of a sweep; those that need another hop do not pay for it; it can't be approved in the way in "
        "which the basket is executed. Null if it is in the basket, or can't be sold. New values may be added.",
    )

    @extend_schema_field(serializers.BooleanField())
    def get_untrusted(self, token: FoundToken) -> bool:
        return not token.is_listed


class BasketTokenSerializer(serializers.Serializer[Any]):
    """A token as the `tokens` of a build take it."""

    mint = EvmAddressField(source="asset")
    amount = AmountOutputField(source="facts.balance")


class BasketSerializer(serializers.Serializer[Any]):
    """The tokens that are worth sweeping together."""

    tokens = BasketTokenSerializer(
        many=True, help_text="The best first; empty if no sweep leaves more than half a percent of its output and cost."
    )
    expectedOutput = AmountOutputField(
        source="expected_output",
        help_text="Before the fee, of all tokens in one sweep: as its simulation showed it, or else the sum of the "
        "tokens, each sold alone.",
    )
    economics = EconomicsSerializer(
        allow_null=True, help_text="Those of one sweep of these tokens; null without tokens."
    )


class DiscoveryOutputTokenSerializer(serializers.Serializer[Any]):
    """The token that the outputs are in."""

    mint = EvmAddressField(source="asset")
    symbol = serializers.CharField()
    decimals = serializers.IntegerField()


@extend_schema_serializer(
    component_name="DiscoveredTokens",
    examples=[example(Path(__file__).parent / "examples" / "discovery.json", "A wallet with good and bad tokens")],
)
class EvmDiscoverySerializer(serializers.Serializer[EvmDiscovery]):
    """What was found in a wallet."""

    chain = serializers.CharField(source="chain.name")
    chainId = serializers.IntegerField(source="chain.chain_id")
    wallet = EvmAddressField()
    output = DiscoveryOutputTokenSerializer()
    reference = ReferenceSerializer(allow_null=True, help_text="The stablecoin in which values are stated.")
    tokens = WalletTokenSerializer(many=True)
    hiddenTokens = serializers.IntegerField(
        source="hidden_count", help_text="How many `suspect` tokens are not shown, unless `includeHidden` is true."
    )
    coverage = CoverageSerializer(help_text="What was searched for the wallet's tokens, and what was not.")
    bestBasket = BasketSerializer(source="best_basket")

    def to_representation(self, instance: EvmDiscovery) -> Any:  # noqa: ANN401 - JSON
        """Return the answer, whose figures must hold together."""
        require_consistent_discovery(instance)
        return super().to_representation(instance)
