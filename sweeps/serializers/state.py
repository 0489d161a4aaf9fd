"""How a stored sweep is shown: the status object."""

from typing import Any

from rest_framework import serializers

from ledger.serializers import PostingSerializer
from sweepapi.api.fields import AmountOutputField, EvmAddressField, HashField, UtcDateTimeField
from sweeps.models import Flag, SweepStatus, SweepTransaction


class TransactionSerializer(serializers.Serializer[SweepTransaction]):
    """A transaction that was reported or found for a sweep."""

    txHash = HashField(source="tx_hash")
    status = serializers.ChoiceField(choices=SweepTransaction.Status.choices)
    source = serializers.ChoiceField(choices=SweepTransaction.Source.choices)  # type: ignore[assignment]  # DRF takes declared fields out of the class
    blockNumber = serializers.IntegerField(source="block_number", allow_null=True)
    blockHash = HashField(source="block_hash", allow_null=True)
    confirmations = serializers.IntegerField()
    finality = serializers.ChoiceField(choices=SweepTransaction.Finality.choices)
    gasUsed = AmountOutputField(source="gas_used", allow_null=True)
    submittedAt = UtcDateTimeField(source="submitted_at")
    confirmedAt = UtcDateTimeField(source="confirmed_at", allow_null=True)
    reason = serializers.CharField()


class FeesSerializer(serializers.Serializer[Any]):
    """A gross output and its split, in the output token's smallest unit."""

    grossOutput = AmountOutputField(source="gross_output")
    totalFee = AmountOutputField(source="total_fee")
    partnerFee = AmountOutputField(source="partner_fee")
    protocolFee = AmountOutputField(source="protocol_fee")
    userAmount = AmountOutputField(source="user_amount")


class AuthorizationStateSerializer(serializers.Serializer[Any]):
    """What became of the fee authorization, and what its fees were meant to be and were."""

    status = serializers.ChoiceField(choices=SweepStatus.choices)
    txHash = HashField(allow_null=True)
    submittedAt = UtcDateTimeField(allow_null=True)
    confirmedAt = UtcDateTimeField(allow_null=True)
    checkAttempts = serializers.IntegerField()
    lastCheckedAt = UtcDateTimeField(allow_null=True)
    nextCheckAt = UtcDateTimeField(allow_null=True)
    lastError = serializers.CharField(allow_null=True)
    nonce = AmountOutputField()
    deadline = UtcDateTimeField()
    totalFeeBps = serializers.IntegerField()
    partnerShareBps = serializers.IntegerField()
    expectedFees = FeesSerializer()
    actualFees = FeesSerializer(allow_null=True)


class LedgerOfSweepSerializer(serializers.Serializer[Any]):
    """The postings about a sweep."""

    entries = PostingSerializer(many=True)


class SweepStateSerializer(serializers.Serializer[Any]):
    """A sweep: its state, its transactions, its authorization and its books."""

    sweepId = serializers.UUIDField()
    chain = serializers.CharField()
    chainId = serializers.IntegerField()
    status = serializers.ChoiceField(choices=SweepStatus.choices)
    open = serializers.BooleanField(help_text="Whether the chain may still change this.")
    flags = serializers.ListField(child=serializers.ChoiceField(choices=Flag.choices))
    mode = serializers.CharField()
    contractVersion = serializers.CharField()
    contractAddress = EvmAddressField()
    wallet = EvmAddressField()
    outputMint = EvmAddressField()
    tokenCount = serializers.IntegerField()
    createdAt = UtcDateTimeField()
    expiresAt = UtcDateTimeField()
    transaction = TransactionSerializer(allow_null=True, help_text="The accepted one, or else the newest.")
    transactions = TransactionSerializer(many=True)
    feeAuthorization = AuthorizationStateSerializer()
    ledger = LedgerOfSweepSerializer()
