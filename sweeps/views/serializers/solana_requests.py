"""The request bodies of /v1: which tokens of a wallet on Solana to read, and which to sweep."""

from dataclasses import replace
from typing import Any

from django.conf import settings
from drf_spectacular.utils import OpenApiExample, extend_schema_serializer
from rest_framework.exceptions import ErrorDetail, ValidationError

from partners.authentication import Requester
from sweepapi.api.input.chains import ClusterField
from sweepapi.api.input.fields import (
    SolanaAmountField,
    SolanaKeyField,
    SolanaWalletField,
    StrictBooleanField,
    StrictChoiceField,
)
from sweepapi.api.input.lists import StrictListField
from sweepapi.api.input.pagination import Scope
from sweepapi.api.input.serializers import StrictSerializer
from sweepapi.solana.packing.compute_budget import PERCENTILES, USUAL_PERCENTILE
from sweeps.protocol.request import BuildRequest, BurnInput, HoldingsRequest
from sweeps.views.serializers.discovery_request import CursorField
from sweeps.views.serializers.requests import HintedToken, SweepRequest, slippage_field

_DISCOVER = {
    "wallet": "9VMqTbzWzv4T8Y6sk8oopessZq1vcUWS5LbgDymZRkoa",
    "outputMint": "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
}
_SWEEP_BONK = {
    **_DISCOVER,
    "tokens": [{"mint": "DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263", "amount": "4200000000"}],
    "slippageBps": 100,
}
MAX_CANDIDATES = 50  # a page has room for more
MAX_CURSOR_CHARACTERS = 220_000  # of 20,000 accounts with 8 bytes each, in base64
_CHAIN_HELP = "Name of a chain, as in GET /v1/status; by default its first one."


@extend_schema_serializer(examples=[OpenApiExample("A wallet, and what it could become in USDC", value=_DISCOVER)])
class DiscoverRequestSerializer(StrictSerializer):
    """The wallet to read."""

    chain = ClusterField(required=False, source="network", help_text=_CHAIN_HELP)
    wallet = SolanaWalletField(help_text="The user's wallet.")
    outputMint = SolanaKeyField(
        required=False, source="output_asset", help_text="One of the output tokens; by default the first one."
    )
    slippageBps = slippage_field(
        required=False,
        source="slippage_bps",
        help_text="The slippage of the build that may follow, in basis points; by default 100. Within 15 seconds, a "
        "build with the same slippage uses the quotes of this discovery.",
    )
    candidates = StrictListField(
        child=SolanaKeyField(),
        required=False,
        max_length=MAX_CANDIDATES,
        help_text=f"Mints of tokens to look at first, at most {MAX_CANDIDATES}: what the wallet holds of them is on "
        "the first page, however much else it holds.",
    )
    cursor = CursorField(
        required=False,
        max_length=MAX_CURSOR_CHARACTERS,
        help_text="The `nextCursor` of an answer about the same chain, wallet and output, to go on with what was on "
        "no page yet.",
    )

    def scope(self, requester: Requester) -> Scope:
        """Return what the cursors of this request's pages belong to."""
        filters = {name: self.validated_data.get(name) for name in ("network", "wallet", "output_asset")}
        return Scope("wallet accounts", requester.partner_id, requester.mode, filters)

    def to_request(self, scope: Scope) -> HoldingsRequest:
        """Return the validated body as the domain takes it; raises ``InvalidRequest`` for the cursor of another one."""
        body = dict(self.validated_data)
        cursor = body.pop("cursor", None)
        return HoldingsRequest(**body, place=None if cursor is None else scope.unseal(cursor))


class SolanaTokenRequest(HintedToken):
    """One token to be swept."""

    mint = SolanaKeyField(help_text="The token's mint.")
    amount = SolanaAmountField(help_text="How much of it, in its smallest unit.")


class SolanaBurnRequest(StrictSerializer):
    """An amount to burn."""

    mint = SolanaKeyField(help_text="The token's mint.")
    amount = SolanaAmountField(help_text="How much of it, in its smallest unit.")
    acceptedValue = SolanaAmountField(
        required=False,
        help_text="The value that the user accepts to lose, in the smallest unit of the chain's reference stablecoin: "
        "needed for what would sell for more than a cent or so, and named by the refusal without it.",
    )


@extend_schema_serializer(examples=[OpenApiExample("Sweep BONK into USDC", value=_SWEEP_BONK)])
class SolanaBuildRequestSerializer(SweepRequest):
    """The sweep to build on Solana."""

    chain = ClusterField(required=False, help_text=_CHAIN_HELP)
    wallet = SolanaWalletField(help_text="The user's wallet, which will sign and pay for the transactions.")
    # The length is checked before any token. The stubs do not know what many=True takes.
    tokens = SolanaTokenRequest(  # type: ignore[call-arg]
        many=True,
        allow_empty=True,
        max_length=settings.MAX_TOKENS,
        help_text="What to sell; empty to close and unwrap accounts only, which costs no platform fee.",
    )
    outputMint = SolanaKeyField(help_text="One of the output tokens, GET /v1/sweep/output-tokens.")
    closeEmptyAccounts = StrictBooleanField(
        default=True,
        help_text="Whether to close the token accounts that the sweep empties and those that are empty, whose rent the "
        "wallet gets back, and to withdraw what the others hold above today's rent.",
    )
    computeUnitPricePercentile = StrictChoiceField(
        choices=list(PERCENTILES),
        default=USUAL_PERCENTILE,
        help_text="The priority fee, by what others pay lately: the 25th, 50th or 75th percentile, up to the cluster's "
        "`maxPriorityFeeLamports`.",
    )
    burn = SolanaBurnRequest(  # type: ignore[call-arg]
        many=True,
        required=False,
        allow_empty=True,
        max_length=settings.MAX_TOKENS,
        help_text="Amounts to burn, such as of spam, so that their accounts can be closed. That can't be undone.",
    )
    unwrapSol = StrictBooleanField(
        default=False, help_text="Whether the wallet's wrapped SOL, where it is not sold, becomes SOL."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse to burn what is sold, received, or burnt already."""
        attrs = super().validate(attrs)
        taken = {attrs["outputMint"], *(token["mint"] for token in attrs["tokens"])}
        problems: dict[int, dict[str, list[ErrorDetail]]] = {}
        for position, burn in enumerate(attrs.get("burn", ())):
            if burn["mint"] in taken:
                problems[position] = {"mint": [ErrorDetail("It is sold, received or burnt already.", "duplicate")]}
            taken.add(burn["mint"])
        if problems:
            raise ValidationError({"burn": problems})  # type: ignore[dict-item]  # DRF renders a mapping by index
        return attrs

    def to_request(self) -> BuildRequest:
        """Return the validated body as the domain takes it."""
        body = self.validated_data
        return replace(
            super().to_request(),
            close_empty_accounts=body["closeEmptyAccounts"],
            unwraps_coin=body["unwrapSol"],
            burns=[BurnInput(one["mint"], one["amount"], one.get("acceptedValue")) for one in body.get("burn", ())],
            price_percentile=body["computeUnitPricePercentile"],
        )
