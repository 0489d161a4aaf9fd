"""Describes the part of the status object that all rails share; ``sweeps.shown.parts`` makes it."""

from typing import Any

from rest_framework import serializers

from ledger.serializers import PostingSerializer
from sweepapi.api.input.fields import AmountOutputField, OpenEnumField, UtcDateTimeField
from sweeps.models import EventKind, SkippedToken, SweepEvent, SweepStatus, SweepTransaction, TokenOutcome
from sweeps.serializers.answer import SECONDS_LEFT, ClientReferenceOutputField
from sweeps.shown.parts import AWAITED

EVENT_TYPES = (
    *(f"sweep_{status}" for status in SweepStatus.values),
    *(kind for kind in EventKind.values if kind != EventKind.STATUS),
)
# Our database lost the sweep, with its offer and its tokens, and it was stored again from the chain.
NULL_IF_ADOPTED = "Null if the sweep is flagged adopted."
SKIP_REASONS = (SkippedToken.Reason.BELOW_LEAST.value, SkippedToken.Reason.NOT_FILLED.value)


class SweepTransactionSerializer(serializers.Serializer[SweepTransaction]):
    """A transaction that was reported or found for a sweep."""

    txHash = serializers.CharField()
    status = serializers.ChoiceField(choices=SweepTransaction.Status.choices)
    source = serializers.ChoiceField(choices=SweepTransaction.Source.choices)  # type: ignore[assignment]  # DRF takes declared fields out of the class
    blockNumber = serializers.IntegerField(allow_null=True, help_text="On Solana the slot.")
    blockHash = serializers.CharField(read_only=True, allow_null=True)
    confirmations = serializers.IntegerField()
    finality = serializers.ChoiceField(choices=SweepTransaction.Finality.choices)
    gasUsed = AmountOutputField(allow_null=True, help_text="On Solana compute units.")
    submittedAt = UtcDateTimeField()
    confirmedAt = UtcDateTimeField(allow_null=True)
    reason = serializers.CharField()


class FeeSplitSerializer(serializers.Serializer[Any]):
    """A gross output and its split, in the output token's smallest unit."""

    grossOutput = AmountOutputField(source="gross_output")
    totalFee = AmountOutputField(source="total_fee")
    partnerFee = AmountOutputField(source="partner_fee")
    protocolFee = AmountOutputField(source="protocol_fee")
    userAmount = AmountOutputField(source="user_amount")


class FeesSerializer(serializers.Serializer[Any]):
    """The fee terms of a sweep, and the expected and the actual fees."""

    totalFeeBps = serializers.IntegerField(allow_null=True, help_text=NULL_IF_ADOPTED)
    partnerShareBps = serializers.IntegerField(allow_null=True, help_text=NULL_IF_ADOPTED)
    expectedFees = FeeSplitSerializer(allow_null=True, help_text=NULL_IF_ADOPTED)
    actualFees = FeeSplitSerializer(allow_null=True, help_text="Null unless completed.")


class SweptTokenSerializer(serializers.Serializer[Any]):
    """One token that goes in, and what became of it."""

    mint = serializers.CharField()
    symbol = serializers.CharField()
    decimals = serializers.IntegerField()
    amount = AmountOutputField()
    outcome = OpenEnumField(
        values=TokenOutcome.values,
        allow_null=True,
        help_text="Whether it was swept. One that was not stayed with the user: it was skipped by the contract, or "
        "dropped by the offer that was executed. Null until its transaction has executed.",
    )
    skipReason = OpenEnumField(
        values=SKIP_REASONS,
        allow_null=True,
        help_text="Why the contract skipped it: its pool would have paid less than the minimum, or could not take the "
        "whole amount. Null unless skipped.",
    )


class SweepEventSerializer(serializers.Serializer[SweepEvent]):
    """One thing that happened to the sweep."""

    type = OpenEnumField(values=EVENT_TYPES, help_text="New types may be added.")
    at = UtcDateTimeField()
    txHash = serializers.CharField(allow_null=True)
    message = serializers.CharField(read_only=True, help_text="For people; may change.")


class SweepLedgerSerializer(serializers.Serializer[Any]):
    """The postings about a sweep."""

    entries = PostingSerializer(many=True)


class SweepFactsSerializer(serializers.Serializer[Any]):
    """What is shown of a sweep wherever it appears."""

    sweepId = serializers.UUIDField()
    clientReference = ClientReferenceOutputField()
    chain = serializers.CharField(read_only=True)
    status = serializers.ChoiceField(choices=SweepStatus.choices)
    open = serializers.BooleanField(
        help_text="Whether its outcome may still change. A closed one changes only if a final block shows that it was "
        "executed after all, as users of V4 can do past the deadline; then it is flagged executed_after_close.",
    )
    mode = serializers.CharField()
    wallet = serializers.CharField()
    tokenCount = serializers.IntegerField(read_only=True)
    skippedCount = serializers.IntegerField(help_text="How many of the tokens the executed transactions left out.")
    outputMint = serializers.CharField()
    outputSymbol = serializers.CharField()
    outputDecimals = serializers.IntegerField()
    createdAt = UtcDateTimeField()
    expiresAt = UtcDateTimeField(allow_null=True, help_text=NULL_IF_ADOPTED)
    expiresInSeconds = serializers.IntegerField(
        required=False,
        min_value=0,
        allow_null=True,
        help_text=f"{SECONDS_LEFT} Null once the sweep was executed or is closed, on Solana, and until a block of the "
        "chain was read.",
    )


class SweepStateSerializer(SweepFactsSerializer):
    """A sweep: its state, its transactions, its events and its postings."""

    tokens = SweptTokenSerializer(many=True)
    awaits = OpenEnumField(
        values=AWAITED,
        allow_null=True,
        help_text="What is missing before a submitted transaction counts: its receipt, its block (one that providers "
        "show at that height or, for an output far above the quote, a safe one), or the agreement of a second "
        "provider. Null if no transaction is submitted.",
    )
    transaction = SweepTransactionSerializer(
        allow_null=True, help_text="The accepted transaction, otherwise the newest."
    )
    transactions = SweepTransactionSerializer(many=True)
    events = SweepEventSerializer(many=True, help_text="Oldest first.")
    ledger = SweepLedgerSerializer()


class ChecksSerializer(serializers.Serializer[Any]):
    """How the worker follows a sweep."""

    checkAttempts = serializers.IntegerField()
    lastCheckedAt = UtcDateTimeField(allow_null=True)
    nextCheckAt = UtcDateTimeField(allow_null=True)
    lastError = serializers.CharField(read_only=True, allow_null=True)
