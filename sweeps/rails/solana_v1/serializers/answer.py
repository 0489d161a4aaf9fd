"""The answer to a build on Solana: the transactions to sign, and everything the partner shows."""

import base64
from pathlib import Path
from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from sweepapi.api.input.fields import AmountOutputField, OpenEnumField, UtcDateTimeField
from sweepapi.api.openapi.schema import example
from sweepapi.networks import SOLANA_BUILD_MODE
from sweeps.models import SweepStatus
from sweeps.protocol.rail import Offered
from sweeps.rails.solana_v1.build.issuing import SolanaIssued
from sweeps.rails.solana_v1.build.stages import SolanaTransaction
from sweeps.serializers.answer import (
    WARNING_CODES,
    ClientReferenceOutputField,
    FeeModeField,
    FeeSummarySerializer,
    OutputAmountsSerializer,
)


class SolanaTokenSerializer(serializers.Serializer[Any]):
    """One token, with its expected and minimum output in the output token's smallest unit, before the fee."""

    mint = serializers.CharField(source="token.asset")
    account = serializers.CharField(source="token.holding.key", help_text="The token account that it is taken from.")
    amount = AmountOutputField(source="token.amount")
    symbol = serializers.CharField(source="token.symbol")
    decimals = serializers.IntegerField(source="token.decimals")
    expectedOutput = AmountOutputField(source="token.expected_output")
    minOutput = AmountOutputField(source="token.min_output")
    priceImpactBps = serializers.IntegerField(
        source="token.quote.price_impact_bps", allow_null=True, help_text="Null: not known."
    )
    exchanges = serializers.ListField(
        source="token.quote.labels", child=serializers.CharField(), help_text="Where it is sold, for people."
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
        "is the only signer and pays the fees. The recent blockhash is in it."
    )
    reference = serializers.CharField(
        source="packed.reference", help_text="The key by which the service finds the transaction on chain."
    )
    lastValidBlockHeight = serializers.IntegerField(
        source="last_valid_block_height",
        help_text="It can't land in a block of a greater height (`getBlockHeight`, which is not the slot).",
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

    def get_transaction(self, transaction: SolanaTransaction) -> str:
        return base64.b64encode(transaction.unsigned).decode()

    def get_closes(self, transaction: SolanaTransaction) -> list[str]:
        return [str(holding.key) for holding in transaction.closes]


class AccountRentSerializer(serializers.Serializer[Any]):
    """A token account of the wallet that the sweep creates or closes, and its rent."""

    account = serializers.CharField(source="key")
    mint = serializers.CharField(source="token.mint")
    lamports = AmountOutputField(source="rent_lamports", help_text="Its rent.")


class SolanaWarningSerializer(serializers.Serializer[Any]):
    """A warning that does not stop the sweep."""

    code = OpenEnumField(values=WARNING_CODES, help_text="Stable; new codes may be added.")
    message = serializers.CharField()
    token = serializers.CharField(help_text="The token that the warning is about.")


@extend_schema_serializer(
    component_name="BuiltSolanaSweep",
    examples=[example(Path(__file__).parent / "examples" / "built.json", "Four tokens in one transaction")],
)
class SolanaBuiltSerializer(serializers.Serializer[Offered[SolanaIssued]]):
    """A sweep ready to be signed and sent; it is found on chain, so nothing needs to be reported."""

    sweepId = serializers.UUIDField(source="sweep.id")
    clientReference = ClientReferenceOutputField(source="sweep.client_reference")
    status = serializers.ChoiceField(source="sweep.status", choices=SweepStatus.choices)
    chain = serializers.CharField(source="issued.planned.cluster.name")
    network = serializers.CharField(source="sweep.network", help_text="The CAIP-2 identifier of the cluster.")
    mode = serializers.ChoiceField(source="rail.mode", choices=[SOLANA_BUILD_MODE])
    feeMode = FeeModeField(source="issued.planned.fees.settlement")
    createdAt = UtcDateTimeField(source="sweep.created_at")
    expiresAt = UtcDateTimeField(
        source="issued.deadline",
        help_text="About when the transactions can't land any more; the cluster decides by lastValidBlockHeight.",
    )
    tokens = SolanaTokenSerializer(source="issued.planned.placed_tokens", many=True)
    warnings = SolanaWarningSerializer(source="issued.planned.warnings", many=True)
    estimatedOutput = SolanaOutputSerializer(source="issued")
    feeSummary = FeeSummarySerializer(source="issued.planned")
    networkFeeLamports = AmountOutputField(
        source="issued.planned.network_fee_lamports", help_text="What the wallet pays for all transactions."
    )
    createdAccounts = AccountRentSerializer(
        source="issued.planned.created_accounts", many=True, help_text="Accounts for the output that the wallet lacks."
    )
    rentLamports = AmountOutputField(
        source="issued.planned.rent_lamports", help_text="The rent that the wallet pays for the created accounts."
    )
    closedAccounts = AccountRentSerializer(source="issued.planned.closed_accounts", many=True)
    reclaimedLamports = AmountOutputField(
        source="issued.planned.reclaimed_lamports",
        help_text="The rent that the closed accounts give back to the wallet.",
    )
    transactions = SolanaTransactionSerializer(
        source="issued.planned.transactions", many=True, help_text="In any order; each may land without the others."
    )
