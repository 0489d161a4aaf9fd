"""How a built sweep is answered, field by field."""

from typing import Any

from rest_framework import serializers

from sweepapi.api.fields import AmountOutputField, EvmAddressField, HashField, UtcDateTimeField
from sweeps.models import SweepStatus


class RouteSerializer(serializers.Serializer[Any]):
    """The way one token goes."""

    router = serializers.CharField()
    kind = serializers.CharField()
    target = EvmAddressField()
    path = serializers.ListField(child=EvmAddressField())
    feeTiers = serializers.ListField(child=serializers.IntegerField(), help_text="Hundredths of a basis point, a hop.")
    priceImpactBps = serializers.IntegerField(allow_null=True, help_text="Null: not measured yet.")


class BuiltTokenSerializer(serializers.Serializer[Any]):
    """One token, what it should give and what it must give at least, in the output token's smallest unit."""

    mint = EvmAddressField()
    amount = AmountOutputField()
    symbol = serializers.CharField()
    decimals = serializers.IntegerField()
    expectedOutput = AmountOutputField()
    minOutput = AmountOutputField()
    route = RouteSerializer(help_text="Of kind unwrap where the wrapped coin becomes the native one without a swap.")


class SkippedTokenSerializer(serializers.Serializer[Any]):
    """A token that was left out."""

    mint = EvmAddressField()
    amount = AmountOutputField()
    reason = serializers.CharField()
    message = serializers.CharField()


class EstimatedOutputSerializer(serializers.Serializer[Any]):
    """What comes out: before the fee and for the user, expected and at least."""

    token = EvmAddressField()
    symbol = serializers.CharField()
    decimals = serializers.IntegerField()
    gross = AmountOutputField()
    minGross = AmountOutputField()
    user = AmountOutputField()
    minUser = AmountOutputField()


class FeeSummarySerializer(serializers.Serializer[Any]):
    """The fee at the expected output."""

    totalFeeBps = serializers.IntegerField()
    partnerShareBps = serializers.IntegerField()
    totalFee = AmountOutputField()
    partnerFee = AmountOutputField()
    protocolFee = AmountOutputField()
    userAmount = AmountOutputField()


class TypedDataSerializer(serializers.Serializer[Any]):
    """EIP-712 typed data as eth_signTypedData_v4 takes it; numbers of the message are strings."""

    domain = serializers.DictField()
    types = serializers.DictField()
    primaryType = serializers.CharField()
    message = serializers.DictField()


class FeeAuthorizationSerializer(serializers.Serializer[Any]):
    """The message that the service signed, and its signature."""

    user = EvmAddressField()
    partnerId = HashField()
    partnerRecipient = EvmAddressField()
    protocolRecipient = EvmAddressField()
    outputToken = EvmAddressField()
    totalFeeBps = serializers.IntegerField()
    partnerShareBps = serializers.IntegerField()
    nonce = AmountOutputField()
    deadline = AmountOutputField(help_text="Seconds since 1970.")
    legsHash = HashField()
    signature = serializers.CharField()
    signer = EvmAddressField()
    digest = HashField()


class CallSerializer(serializers.Serializer[Any]):
    """A transaction the user sends before the sweep."""

    to = EvmAddressField()
    data = serializers.CharField()  # type: ignore[assignment]  # DRF takes declared fields out of the class
    value = AmountOutputField()


class TransactionRequestSerializer(serializers.Serializer[Any]):
    """The sweep's transaction with a placeholder of 65 zero bytes for the Permit2 signature."""

    chainId = serializers.IntegerField()
    # A field may not be called from in Python, so it is added in get_fields.
    to = EvmAddressField()
    value = AmountOutputField()
    data = serializers.CharField()  # type: ignore[assignment]  # DRF takes declared fields out of the class
    gas = AmountOutputField(help_text="What to send, with margin.")

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Add the sender."""
        return {**super().get_fields(), "from": EvmAddressField(source="sender")}


class SignaturePlaceSerializer(serializers.Serializer[Any]):
    """Where the Permit2 signature goes: which argument, and at which byte of data."""

    argIndex = serializers.IntegerField()
    byteOffset = serializers.IntegerField()
    length = serializers.IntegerField()


class TransactionTemplateSerializer(serializers.Serializer[Any]):
    """The same call, taken apart for clients that encode it themselves."""

    chainId = serializers.IntegerField()
    to = EvmAddressField()
    value = AmountOutputField()
    functionName = serializers.CharField()
    abi = serializers.ListField(child=serializers.DictField())
    args = serializers.ListField(help_text="In order; numbers as strings, bytes as hex.")
    data = serializers.CharField()  # type: ignore[assignment]  # DRF takes declared fields out of the class
    signature = SignaturePlaceSerializer()


class AllowanceIssueSerializer(serializers.Serializer[Any]):
    """A token that Permit2 may not move yet, and the transactions that let it."""

    token = EvmAddressField()
    spender = EvmAddressField()
    actual = AmountOutputField()
    required = AmountOutputField()  # type: ignore[assignment]  # DRF takes declared fields out of the class
    resetTransaction = CallSerializer(allow_null=True, help_text="Send this first where it is given.")
    transaction = CallSerializer()


class BalanceIssueSerializer(serializers.Serializer[Any]):
    """A token of which the user holds too little."""

    token = EvmAddressField()
    actual = AmountOutputField()
    required = AmountOutputField()  # type: ignore[assignment]  # DRF takes declared fields out of the class


class SimulationSerializer(serializers.Serializer[Any]):
    """What a dry run would say; skipped in this release."""

    status = serializers.ChoiceField(choices=["ok", "reverted", "skipped"])
    gasUsed = AmountOutputField(allow_null=True)
    grossOutput = AmountOutputField(allow_null=True)
    failingToken = EvmAddressField(allow_null=True)
    reason = serializers.CharField(allow_null=True)


class IssuesSerializer(serializers.Serializer[Any]):
    """What the user can still fix before signing."""

    allowance = AllowanceIssueSerializer(many=True)
    balance = BalanceIssueSerializer(many=True)
    simulation = SimulationSerializer()


class BuiltSerializer(serializers.Serializer[Any]):
    """A sweep ready to be signed and sent."""

    sweepId = serializers.UUIDField()
    status = serializers.ChoiceField(choices=SweepStatus.choices)
    chain = serializers.CharField()
    chainId = serializers.IntegerField()
    mode = serializers.CharField()
    contractVersion = serializers.CharField()
    contractAddress = EvmAddressField()
    feeMode = serializers.CharField()
    createdAt = UtcDateTimeField()
    expiresAt = UtcDateTimeField(help_text="The authorization's deadline.")
    tokens = BuiltTokenSerializer(many=True)
    skippedTokens = SkippedTokenSerializer(many=True)
    estimatedOutput = EstimatedOutputSerializer()
    feeSummary = FeeSummarySerializer()
    permit2 = TypedDataSerializer()
    feeAuthorization = FeeAuthorizationSerializer()
    transaction = TransactionRequestSerializer()
    transactionTemplate = TransactionTemplateSerializer()
    issues = IssuesSerializer()
