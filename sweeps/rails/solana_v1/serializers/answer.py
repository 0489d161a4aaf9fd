"""The answer to a build on Solana: the transactions to sign, and everything the partner shows."""

import base64
from pathlib import Path
from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from sweepapi.api.input.fields import AmountOutputField, OpenEnumField, UtcDateTimeField
from sweepapi.api.openapi.schema import example
from sweepapi.networks import SOLANA_BUILD_MODE
from sweepapi.solana.worth.economics import CostKind
from sweeps.models import SweepStatus
from sweeps.protocol.rail import Offered
from sweeps.protocol.value_warnings import value_warnings
from sweeps.rails.solana_v1.build.burning import Burn
from sweeps.rails.solana_v1.build.closings import Overfunded
from sweeps.rails.solana_v1.build.consistency import require_consistency
from sweeps.rails.solana_v1.build.issuing import SolanaIssued
from sweeps.rails.solana_v1.build.stages import SolanaTransaction
from sweeps.rails.solana_v1.obstacles import CODES
from sweeps.serializers.answer import (
    SECONDS_LEFT,
    WARNING_CODES,
    ClientReferenceOutputField,
    FeeModeField,
    FeeSummarySerializer,
    OutputAmountsSerializer,
)
from sweeps.serializers.rendering import rendered
from sweeps.serializers.worth import (
    GasIssueSerializer,
    SignedAmountResponseField,
    SkippedTokenSerializer,
    SweepWorthSerializer,
    TokenWorthSerializer,
)

LEFT_OUT_REASONS = sorted(
    {*CODES, "insufficient_balance", "output_too_small", "too_large", "uneconomic"} - {"is_output", "not_simulated"}
)


class SolanaTokenSerializer(TokenWorthSerializer):
    """One token, with its expected and minimum output in the output token's smallest unit, before the fee."""

    mint = serializers.CharField(source="token.asset")
    tokenAccount = serializers.CharField(source="token.holding.key", help_text="The account that it is taken from.")
    amount = AmountOutputField(source="token.amount")
    symbol = serializers.CharField(source="token.symbol")
    decimals = serializers.IntegerField(source="token.decimals")
    expectedOutput = AmountOutputField(source="token.expected_output")
    minOutput = AmountOutputField(source="token.min_output")
    priceImpactBps = serializers.IntegerField(
        source="token.quote.price_impact_bps", allow_null=True, help_text="Null: not known."
    )
    transferTaxBps = serializers.IntegerField(
        source="token.transfer_tax_bps",
        help_text="What the token keeps of a transfer; the expected and the minimum output are without it.",
    )
    gasShare = SignedAmountResponseField(
        source="token.economics.gas_share",
        allow_null=True,
        help_text="What it adds to the cost, in the output token: its part of its transaction's cost, less the rent "
        "that its account gives back; negative if that is more. Null if the price of SOL is not known.",
    )
    gasValue = SignedAmountResponseField(
        source="token.economics.gas_value", allow_null=True, help_text="The value of `gasShare`."
    )
    venues = serializers.ListField(
        source="token.quote.labels", child=serializers.CharField(), help_text="Whose pools swap it, for people."
    )
    transactionIndex = serializers.IntegerField(
        source="transaction_index", help_text="The position in `transactions` of the one that sells it."
    )


class SolanaOutputSerializer(OutputAmountsSerializer):
    """The expected and minimum output, before the fee and for the user."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {"token": serializers.CharField(source="planned.output.asset"), **super().get_fields()}


class SolanaTransactionSerializer(serializers.Serializer[SolanaTransaction]):
    """A transaction for the wallet to sign and send; each is executed on its own."""

    transaction = serializers.SerializerMethodField(
        help_text="A serialized v0 transaction in base64, with an empty signature in the place of the wallet's, which "
        "is the only signer and pays the fees. A recent blockhash is in it, which you may replace by a newer one "
        "before the wallet signs."
    )
    referenceKey = serializers.CharField(
        source="packed.reference", help_text="The key by which the service finds the transaction on chain."
    )
    lastValidBlockHeight = serializers.IntegerField(
        source="last_valid_block_height",
        help_text="With the blockhash in it, it can't land in a block of a greater height (`getBlockHeight`, which is "
        "not the slot).",
    )
    computeUnitLimit = serializers.IntegerField(source="unit_limit")
    networkFeeLamports = AmountOutputField(source="fee_lamports")
    priorityFeeLamports = AmountOutputField(
        source="priority_fee_lamports", help_text="The part of the network fee that buys priority."
    )
    tokens = serializers.ListField(
        source="mints", child=serializers.CharField(), help_text="The mints of the tokens that it sells."
    )
    closes = serializers.SerializerMethodField(help_text="The token accounts that it closes.")
    summary = serializers.CharField(
        source="sentence",
        help_text="What it sells, for how much after the fee, closes and returns, in a sentence for the user.",
    )

    def get_transaction(self, transaction: SolanaTransaction) -> str:
        return base64.b64encode(transaction.unsigned).decode()

    def get_closes(self, transaction: SolanaTransaction) -> list[str]:
        return [str(holding.key) for holding in transaction.closes]


class AccountRentSerializer(serializers.Serializer[Any]):
    """A token account of the wallet that the sweep creates or closes, and its rent."""

    tokenAccount = serializers.CharField(source="key")
    mint = serializers.CharField(source="token.mint")
    lamports = AmountOutputField(source="rent_lamports", help_text="Its rent.")


class OverfundedAccountSerializer(serializers.Serializer[Overfunded]):
    """A token account that stays open, and what it holds above today's rent."""

    tokenAccount = serializers.CharField(source="holding.key")
    mint = serializers.CharField(source="holding.token.mint")
    lamports = AmountOutputField(help_text="What is withdrawn to the wallet.")


class BurnedSerializer(serializers.Serializer[Burn]):
    """An amount that the sweep burns."""

    mint = serializers.CharField(source="wanted.asset")
    tokenAccount = serializers.CharField(source="holding.key")
    amount = AmountOutputField(source="wanted.amount")
    value = AmountOutputField(
        allow_null=True,
        help_text="What it would sell for, in the smallest unit of the reference stablecoin. Null: for nothing.",
    )


class SolanaWarningSerializer(serializers.Serializer[Any]):
    """A warning that does not stop the sweep."""

    code = OpenEnumField(values=WARNING_CODES, help_text="Stable; new codes may be added.")
    message = serializers.CharField()
    token = serializers.CharField(help_text="The token that the warning is about.")


class SolanaSkippedTokenSerializer(SkippedTokenSerializer):
    """A token of the request that the sweep does not take."""

    reason = OpenEnumField(values=LEFT_OUT_REASONS, help_text="Stable; new reasons may be added.")


class CostSerializer(serializers.Serializer[Any]):
    """One part of what the sweep costs."""

    kind = OpenEnumField(
        values=list(CostKind),
        help_text="`platform_fee` is taken from the output; the wallet pays the others in SOL. `route_rent` is that of "
        "accounts that an exchange opens for the user.",
    )
    lamports = SignedAmountResponseField(
        allow_null=True, help_text="Negative if the wallet gets it. Null if the price of SOL is not known."
    )
    outputAmount = SignedAmountResponseField(
        source="output", allow_null=True, help_text="The same in the output token."
    )
    value = SignedAmountResponseField(allow_null=True, help_text="The same in the reference stablecoin.")


class SolanaEconomicsSerializer(SweepWorthSerializer):
    """What the sweep brings; values are at what the swap API last quoted SOL at."""

    costs = CostSerializer(many=True)
    cost = SignedAmountResponseField(
        help_text="Fees and rent together, in lamports, without the platform fee; negative if more rent comes back."
    )
    gasShare = SignedAmountResponseField(
        source="gas_share", allow_null=True, help_text="`cost` in the output token. Null if its price is not known."
    )
    gasValue = SignedAmountResponseField(source="gas_value", allow_null=True, help_text="The value of `gasShare`.")
    netOutput = SignedAmountResponseField(
        source="net_output",
        allow_null=True,
        help_text="The expected output after the fee and `gasShare`; negative if they are more.",
    )
    netValue = SignedAmountResponseField(source="net_value", allow_null=True, help_text="The value of `netOutput`.")


class SolanaIssuesSerializer(serializers.Serializer[Any]):
    """What the user still has to fix before sending."""

    gas = GasIssueSerializer(
        source="gas_issues", many=True, help_text="In lamports, for fees and rents; empty if the wallet has enough."
    )


@extend_schema_serializer(
    component_name="BuiltSolanaSweep",
    examples=[example(Path(__file__).parent / "examples" / "built.json", "Four tokens in one transaction")],
)
class SolanaBuiltSerializer(serializers.Serializer[Offered[SolanaIssued]]):
    """A sweep ready to be signed and sent; it is found on chain, so nothing needs to be reported."""

    sweepId = serializers.UUIDField(source="sweep.id")
    clientReference = ClientReferenceOutputField(source="sweep.client_reference")
    status = serializers.ChoiceField(source="sweep.status", choices=SweepStatus.choices)
    chain = serializers.CharField(source="planned.cluster.name")
    network = serializers.CharField(source="sweep.network", help_text="The chain's CAIP-2 identifier.")
    mode = serializers.ChoiceField(source="rail.mode", choices=[SOLANA_BUILD_MODE])
    feeMode = FeeModeField(source="planned.fees.settlement")
    createdAt = UtcDateTimeField(source="sweep.created_at")
    expiresAt = UtcDateTimeField(
        source="issued.deadline",
        help_text="About when the transactions can't land any more with their blockhash, at the slot time of the last "
        "minute; the chain decides by `lastValidBlockHeight`.",
    )
    expiresInSeconds = serializers.IntegerField(
        source="issued.expires_in_seconds",
        required=False,
        min_value=0,
        help_text=f"{SECONDS_LEFT} Here by the blocks in which the transactions can still land, at the slot time of "
        "the last minute.",
    )
    tokens = SolanaTokenSerializer(source="planned.placed_tokens", many=True)
    skippedTokens = SolanaSkippedTokenSerializer(
        source="planned.left_out", many=True, help_text="What the sweep does not take; only with `onUnroutable: skip`."
    )
    warnings = serializers.SerializerMethodField()
    estimatedOutput = SolanaOutputSerializer(source="issued")
    feeSummary = FeeSummarySerializer(source="issued.planned")
    economics = SolanaEconomicsSerializer(source="planned.economics")
    issues = SolanaIssuesSerializer(source="planned")
    networkFeeLamports = AmountOutputField(
        source="planned.network_fee_lamports", help_text="What the wallet pays for all transactions."
    )
    createdAccounts = AccountRentSerializer(
        source="planned.created_accounts", many=True, help_text="Accounts for the output that the wallet lacks."
    )
    rentLamports = AmountOutputField(
        source="planned.rent_lamports", help_text="The rent that the wallet pays for the created accounts."
    )
    closedAccounts = AccountRentSerializer(source="planned.closed_accounts", many=True)
    overfundedAccounts = OverfundedAccountSerializer(
        source="planned.overfunded_accounts",
        many=True,
        help_text="Accounts that stay open and hold more than today's rent, which is withdrawn to the wallet.",
    )
    reclaimedLamports = AmountOutputField(
        source="planned.reclaimed_lamports",
        help_text="What the wallet gets back: the rent of the closed accounts, and what is withdrawn.",
    )
    unwrappedLamports = AmountOutputField(
        source="planned.unwrapped_lamports", help_text="The wrapped SOL that becomes SOL without being sold."
    )
    burned = BurnedSerializer(source="planned.burns", many=True, help_text="What it burns.")
    accountsLeft = serializers.IntegerField(
        source="planned.accounts_left",
        help_text="How many accounts the next build can close in addition, or withdraw lamports from: a sweep has 20 "
        "transactions at most.",
    )
    transactions = SolanaTransactionSerializer(
        source="planned.transactions",
        many=True,
        help_text="In any order; each may land without the others. In a Jito bundle they come before all others.",
    )

    def to_representation(self, instance: Offered[SolanaIssued]) -> Any:  # noqa: ANN401 - JSON
        """Return the answer, whose figures must hold together."""
        require_consistency(instance.issued.planned)
        return super().to_representation(instance)

    @extend_schema_field(SolanaWarningSerializer(many=True))
    def get_warnings(self, offered: Offered[SolanaIssued]) -> Any:  # noqa: ANN401 - as DRF renders it
        planned = offered.issued.planned
        return [rendered(SolanaWarningSerializer, warning) for warning in (*planned.warnings, *value_warnings(planned))]
