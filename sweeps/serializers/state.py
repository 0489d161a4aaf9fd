"""The JSON of a stored sweep: the part of the status object that all rails share."""

from typing import Any

from rest_framework import serializers

from ledger.serializers import PostingSerializer
from sweepapi import networks
from sweepapi.api.input.fields import AmountOutputField, OpenEnumField, UtcDateTimeField
from sweeps.models import EventKind, SkippedToken, SweepEvent, SweepStatus, SweepTransaction, TokenOutcome
from sweeps.serializers.answer import ClientReferenceOutputField
from sweeps.shown import timeline

EVENT_TYPES = (
    *(f"sweep_{status}" for status in SweepStatus.values),
    *(kind for kind in EventKind.values if kind != EventKind.STATUS),
)
# Our database lost the sweep, with its offer and its tokens, and it was stored again from the chain.
NULL_IF_ADOPTED = "Null if the sweep is flagged adopted."
SKIP_REASONS = (SkippedToken.Reason.BELOW_LEAST.value, SkippedToken.Reason.NOT_FILLED.value)


class SweepTransactionSerializer(serializers.Serializer[SweepTransaction]):
    """A transaction that was reported or found for a sweep."""

    txHash = serializers.CharField(source="tx_hash")
    status = serializers.ChoiceField(choices=SweepTransaction.Status.choices)
    source = serializers.ChoiceField(choices=SweepTransaction.Source.choices)  # type: ignore[assignment]  # DRF takes declared fields out of the class
    blockNumber = serializers.IntegerField(source="block_number", allow_null=True, help_text="On Solana the slot.")
    blockHash = serializers.SerializerMethodField()
    confirmations = serializers.IntegerField()
    finality = serializers.ChoiceField(choices=SweepTransaction.Finality.choices)
    gasUsed = AmountOutputField(source="gas_used", allow_null=True, help_text="On Solana compute units.")
    submittedAt = UtcDateTimeField(source="submitted_at")
    confirmedAt = UtcDateTimeField(source="confirmed_at", allow_null=True)
    reason = serializers.CharField()

    def get_blockHash(self, transaction: SweepTransaction) -> str | None:  # noqa: N802 - named after its field
        return transaction.block_hash or None


class FeeSplitSerializer(serializers.Serializer[Any]):
    """A gross output and its split, in the output token's smallest unit."""

    grossOutput = AmountOutputField(source="gross_output")
    totalFee = AmountOutputField(source="total_fee")
    partnerFee = AmountOutputField(source="partner_fee")
    protocolFee = AmountOutputField(source="protocol_fee")
    userAmount = AmountOutputField(source="user_amount")


class FeesSerializer(serializers.Serializer[Any]):
    """The fee terms of a sweep, and the expected and the actual fees."""

    totalFeeBps = serializers.IntegerField(source="sweep.total_fee_bps", allow_null=True, help_text=NULL_IF_ADOPTED)
    partnerShareBps = serializers.IntegerField(
        source="sweep.partner_share_bps", allow_null=True, help_text=NULL_IF_ADOPTED
    )
    expected = FeeSplitSerializer(source="expected_fees", allow_null=True, help_text=NULL_IF_ADOPTED)
    actual = FeeSplitSerializer(source="actual_fees", allow_null=True, help_text="Null unless completed.")


class SweptTokenSerializer(serializers.Serializer[Any]):
    """One token that goes in, and what became of it; its values are ``TokenState``s, which lie above."""

    mint = serializers.CharField(source="token.asset")
    symbol = serializers.CharField(source="token.symbol")
    decimals = serializers.IntegerField(source="token.decimals")
    amount = AmountOutputField(source="token.amount")
    outcome = OpenEnumField(
        values=TokenOutcome.values,
        allow_null=True,
        help_text="Whether it was swept. One that was not stayed with the user: it was skipped by the contract, or "
        "dropped by the offer that was executed. Null until its transaction has executed.",
    )
    skipReason = OpenEnumField(
        source="skip_reason",
        values=SKIP_REASONS,
        allow_null=True,
        help_text="Why the contract skipped it: its pool would have paid less than the minimum, or could not take the "
        "whole amount. Null unless skipped.",
    )


class SweepEventSerializer(serializers.Serializer[SweepEvent]):
    """One thing that happened to the sweep."""

    type = OpenEnumField(values=EVENT_TYPES, help_text="New types may be added.")
    at = UtcDateTimeField()
    txHash = serializers.CharField(source="tx_hash", allow_null=True)
    message = serializers.SerializerMethodField(help_text="For people; may change.")

    def get_message(self, event: SweepEvent) -> str:
        return timeline.sentence(event)


class SweepLedgerSerializer(serializers.Serializer[Any]):
    """The postings about a sweep."""

    entries = PostingSerializer(many=True)


class SweepFactsSerializer(serializers.Serializer[Any]):
    """What is shown of a sweep wherever it appears."""

    sweepId = serializers.UUIDField(source="sweep.id")
    clientReference = ClientReferenceOutputField(source="sweep.client_reference")
    chain = serializers.SerializerMethodField()
    status = serializers.ChoiceField(source="sweep.status", choices=SweepStatus.choices)
    open = serializers.BooleanField(
        source="sweep.is_open",
        help_text="Whether its outcome may still change. A closed one changes only if a final block shows that it was "
        "executed after all, as users of V4 can do past the deadline; then it is flagged executed_after_close.",
    )
    mode = serializers.CharField(source="rail.mode")
    wallet = serializers.CharField(source="sweep.wallet")
    tokenCount = serializers.SerializerMethodField()
    skippedCount = serializers.IntegerField(
        source="skipped_count", help_text="How many of the tokens the executed transactions left out."
    )
    outputMint = serializers.CharField(source="sweep.output_asset")
    outputSymbol = serializers.CharField(source="sweep.output_symbol")
    outputDecimals = serializers.IntegerField(source="sweep.output_decimals")
    createdAt = UtcDateTimeField(source="sweep.created_at")
    expiresAt = UtcDateTimeField(source="sweep.deadline", allow_null=True, help_text=NULL_IF_ADOPTED)

    def get_chain(self, state: Any) -> str:  # noqa: ANN401
        return networks.current().name_of(state.sweep.network)

    def get_tokenCount(self, state: Any) -> int:  # noqa: ANN401, N802 - named after its field
        return len(state.sweep.tokens.all())


class SweepStateSerializer(SweepFactsSerializer):
    """A sweep: its state, its transactions, its events and its postings."""

    tokens = SweptTokenSerializer(source="token_states", many=True)
    transaction = SweepTransactionSerializer(
        source="shown_transaction", allow_null=True, help_text="The accepted transaction, otherwise the newest."
    )
    transactions = SweepTransactionSerializer(many=True)
    events = SweepEventSerializer(source="sweep.events", many=True, help_text="Oldest first.")
    ledger = SweepLedgerSerializer(source="*")


class ChecksSerializer(serializers.Serializer[Any]):
    """How the worker follows a sweep."""

    checkAttempts = serializers.IntegerField(source="sweep.check_attempts")
    lastCheckedAt = UtcDateTimeField(source="sweep.last_checked_at", allow_null=True)
    nextCheckAt = UtcDateTimeField(source="sweep.planned_check_at", allow_null=True)
    lastError = serializers.SerializerMethodField()

    def get_lastError(self, state: Any) -> str | None:  # noqa: ANN401, N802 - as above
        return state.sweep.last_error or None
