"""The request bodies of the sweep endpoints: what every build shares, and those of EVM chains."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.conf import settings
from drf_spectacular.utils import OpenApiExample, extend_schema_field, extend_schema_serializer
from rest_framework.exceptions import ErrorDetail, ValidationError

from sweepapi.api.input.chains import EvmChainField
from sweepapi.api.input.fields import (
    AmountField,
    EvmAddressField,
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictIntegerField,
    WalletField,
)
from sweepapi.api.input.listing import ListQuery
from sweepapi.api.input.serializers import StrictSerializer
from sweepapi.evm.encoding.addresses import NATIVE_COIN, ZERO_ADDRESS
from sweepapi.fees import BPS_DENOMINATOR
from sweeps.models.sweep import MAX_REFERENCE_LENGTH, MAX_SLIPPAGE_BPS, MIN_SLIPPAGE_BPS, SweepStatus
from sweeps.protocol.request import BuildRequest, TokenInput, WalletAtomic, WalletSays

MAX_DECIMALS = 255
SPONSORED = "sponsored"
_SWEEP_USDC = {
    "chain": "base",
    "wallet": "0xC45AbE1c48539b9D69801EF05c5dB34155fe45CF",
    "tokens": [{"mint": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "amount": "25000000"}],
    "outputMint": "0x4200000000000000000000000000000000000006",
    "slippageBps": 50,
}


class HintedToken(StrictSerializer):
    """What a token to be swept may say about itself."""

    symbol = StrictCharField(
        required=False, min_length=1, max_length=64, help_text="A hint; one that differs gives a warning."
    )
    decimals = StrictIntegerField(
        required=False, min_value=0, max_value=MAX_DECIMALS, help_text="A hint; one that differs is refused."
    )


@extend_schema_field({"type": "string", "pattern": "^[ -~]{1,64}$", "examples": ["order 1017"]})
class ClientReferenceField(StrictCharField):
    """A reference that the partner chose: printable ASCII characters."""

    default_error_messages = {"invalid_format": "A reference has only printable ASCII characters."}

    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401 DRF's own
        super().__init__(max_length=MAX_REFERENCE_LENGTH, **kwargs)

    def to_internal_value(self, data: str) -> str:
        """Return the reference unchanged."""
        if not (data.isascii() and data.isprintable()):
            self.fail("invalid_format")
        return data


def slippage_field(**options: Any) -> StrictIntegerField:  # noqa: ANN401 DRF's own
    """Return a field for the slippage in basis points that a sweep may have."""
    return StrictIntegerField(min_value=MIN_SLIPPAGE_BPS, max_value=MAX_SLIPPAGE_BPS, **options)


class SweepRequest(StrictSerializer):
    """A sweep to build on a chain of any family, whose serializer adds ``chain``, ``wallet``, ``tokens`` and output."""

    slippageBps = slippage_field(
        help_text="How much less than quoted the sweep may give, in basis points.",
    )
    acceptPriceImpactBps = StrictIntegerField(
        min_value=0,
        max_value=BPS_DENOMINATOR,
        required=False,
        help_text="The price impact in basis points that the user accepts, where the sweep would be refused otherwise.",
    )
    onUnroutable = StrictChoiceField(
        choices=["reject", "skip"],
        required=False,
        help_text="What to do about tokens that can't be swept, are worth less than what they cost, or would be sold "
        "further below their price than `acceptPriceImpactBps` allows: refuse the whole sweep, which is the default, "
        "or leave them out and report them in `skippedTokens`.",
    )
    acceptUneconomic = StrictBooleanField(
        required=False,
        help_text="Whether to build a sweep that costs the user more than it brings, which is refused otherwise.",
    )
    clientReference = ClientReferenceField(
        required=False,
        help_text="Your own reference, shown wherever the sweep is, and a filter of the history; several sweeps may "
        "share one.",
    )

    def validate_tokens(self, tokens: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Refuse the tokens that can't be swept together."""
        problems = self.unsweepable(tokens)
        if problems:
            raise ValidationError(_by_mint(problems))  # type: ignore[arg-type]  # DRF renders a mapping by index
        return tokens

    def unsweepable(self, tokens: Sequence[Mapping[str, Any]]) -> dict[int, ErrorDetail]:
        """Return by its position each token that is listed twice."""
        first_at = {token["mint"]: i for i, token in reversed(list(enumerate(tokens)))}
        return {
            i: ErrorDetail("This token is listed twice.", "duplicate")
            for i, token in enumerate(tokens)
            if first_at[token["mint"]] != i
        }

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse the output token as an input."""
        problems = {
            i: ErrorDetail("This is the output token.", "is_output")
            for i, token in enumerate(attrs["tokens"])
            if token["mint"] == attrs["outputMint"]
        }
        if problems:
            raise ValidationError({"tokens": _by_mint(problems)})  # type: ignore[dict-item]  # as above
        return attrs

    def to_request(self) -> BuildRequest:
        """Return the validated body as the domain takes it."""
        body = self.validated_data
        return BuildRequest(
            network=body["chain"],
            wallet=body["wallet"],
            tokens=[
                TokenInput(token["mint"], token["amount"], token.get("symbol"), token.get("decimals"))
                for token in body["tokens"]
            ],
            output_asset=body["outputMint"],
            slippage_bps=body["slippageBps"],
            client_reference=body.get("clientReference", ""),
            accepted_impact_bps=body.get("acceptPriceImpactBps"),
            leaves_out=body.get("onUnroutable") == "skip",
            accepts_uneconomic=body.get("acceptUneconomic", False),
        )


def _by_mint(problems: Mapping[int, ErrorDetail]) -> dict[int, dict[str, list[ErrorDetail]]]:
    return {i: {"mint": [problem]} for i, problem in problems.items()}


class NonZeroAddressField(EvmAddressField):
    """An EVM address other than zero."""

    default_error_messages = {"zero_address": "The zero address cannot take part in a sweep."}

    def to_internal_value(self, data: str) -> str:
        """Return the EIP-55 form."""
        address = super().to_internal_value(data)
        if address == ZERO_ADDRESS:
            self.fail("zero_address")
        return address


class EvmWalletField(NonZeroAddressField):
    """The address of an account that can sign."""

    default_error_messages = {"native_coin": "This address stands for the native coin."}

    def to_internal_value(self, data: str) -> str:
        """Return the EIP-55 form; the placeholder of the native coin is refused, because no one can sign for it."""
        address = super().to_internal_value(data)
        if address == NATIVE_COIN:
            self.fail("native_coin")
        return address


class TokenRequest(HintedToken):
    """One token to be swept."""

    mint = NonZeroAddressField(help_text="The token's address.")
    amount = AmountField(help_text="How much of it, in its smallest unit.")


class WalletRequest(StrictSerializer):
    """What the user's wallet said about itself."""

    atomic = StrictChoiceField(
        choices=[one.value for one in WalletAtomic],
        required=False,
        help_text="The `atomic.status` of the sweep's chain in the answer of `wallet_getCapabilities` (EIP-5792).",
    )
    gasLimitOverride = StrictBooleanField(
        default=False,
        help_text="Whether that answer has `gasLimitOverride` as supported (ERC-8132): then each call of a batch has "
        "its own limit.",
    )
    gas = StrictChoiceField(
        choices=[SPONSORED],
        required=False,
        help_text="`sponsored` if someone else pays the gas, as with a paymaster: then no gas is counted against the "
        "sweep. By default the user pays it.",
    )


class ExecutionRequest(StrictSerializer):
    """What is known of how the user can execute a sweep."""

    wallet = WalletRequest()


def wallet_says(body: Mapping[str, Any]) -> WalletSays:
    """Return what a validated body says of the user's wallet."""
    wallet = body.get("execution", {}).get("wallet", {})
    return WalletSays(
        atomic=WalletAtomic(wallet["atomic"]) if "atomic" in wallet else None,
        takes_gas_limits=wallet.get("gasLimitOverride", False),
        gas_is_sponsored=wallet.get("gas") == SPONSORED,
    )


def approvals_field() -> StrictChoiceField:
    """Return the field that says for which amounts the user approves tokens."""
    return StrictChoiceField(
        choices=["exact", "unlimited"],
        required=False,
        help_text="Whether the user approves the amounts of this sweep, which is the default, or any amount, so that "
        "later sweeps need no approval.",
    )


@extend_schema_serializer(examples=[OpenApiExample("Sweep 25 USDC into WETH", value=_SWEEP_USDC)])
class BuildRequestSerializer(SweepRequest):
    """The sweep to build."""

    chain = EvmChainField(min_length=1, help_text="Name of a chain, as in GET /v2/status.")
    wallet = EvmWalletField(help_text="The user's address, which will send the transaction.")
    # The length is checked before any token; the stubs do not know what many=True takes.
    tokens = TokenRequest(many=True, allow_empty=False, max_length=settings.MAX_TOKENS)  # type: ignore[call-arg]
    outputMint = NonZeroAddressField(help_text=f"The output token, or {NATIVE_COIN} for the native coin.")
    onLegFailure = StrictChoiceField(
        choices=["revert", "skip"],
        required=False,
        help_text="What the contract does about a token whose pool pays too little when the sweep is executed: revert "
        "the whole sweep, which is the default, or leave the token with the user. The user signs this.",
    )
    maxSkipped = StrictIntegerField(
        min_value=0,
        required=False,
        help_text='With `"onLegFailure": "skip"`, how many tokens the contract may leave out. By default, and at most, '
        "all but one of the tokens that are swapped in pools.",
    )
    approvals = approvals_field()
    execution = ExecutionRequest(required=False, help_text="How the user's wallet can execute the sweep.")

    def unsweepable(self, tokens: Sequence[Mapping[str, Any]]) -> dict[int, ErrorDetail]:
        """Add the native coin, which can't be pulled from a wallet."""
        native = {
            i: ErrorDetail("The native coin can't be swept.", "native_coin")
            for i, token in enumerate(tokens)
            if token["mint"] == NATIVE_COIN
        }
        return super().unsweepable(tokens) | native

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a number of tokens to leave out where none may be."""
        if "maxSkipped" in attrs and attrs.get("onLegFailure") != "skip":
            problem = ErrorDetail('This needs "onLegFailure": "skip".', "not_applicable")
            raise ValidationError({"maxSkipped": [problem]})
        return super().validate(attrs)

    def to_request(self) -> BuildRequest:
        """Add what the user and the partner chose."""
        body = self.validated_data
        return replace(
            super().to_request(),
            max_skipped=body.get("maxSkipped") if body.get("onLegFailure") == "skip" else 0,
            unlimited_approvals=body.get("approvals") == "unlimited",
            wallet_says=wallet_says(body),
        )


@extend_schema_serializer(examples=[OpenApiExample("Also stop a user who has signed", value={"onChain": True})])
class CancelRequestSerializer(StrictSerializer):
    """How to withdraw a sweep."""

    onChain = StrictBooleanField(
        default=False,
        help_text="Whether to cancel it on chain, too, so that it can't be executed even if it was signed.",
    )


class HistoryQuery(ListQuery):
    """Which sweeps to list."""

    verb = "Built"

    status = StrictChoiceField(choices=SweepStatus.choices, required=False, help_text="The sweeps' status.")
    wallet = WalletField(required=False, help_text="The user's address, in any valid casing, or key.")
    clientReference = ClientReferenceField(
        required=False, source="client_reference", help_text="The whole reference that you gave them."
    )
