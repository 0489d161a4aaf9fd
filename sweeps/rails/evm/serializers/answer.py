"""The answer to a build on an EVM chain: everything the user's wallet needs, and everything the partner shows."""

from pathlib import Path
from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from sweepapi.api.fields import AmountOutputField, EvmAddressField, HashField, OpenEnumField, UtcDateTimeField
from sweepapi.api.schema import example
from sweeps.models import SweepStatus
from sweeps.rails.evm.models import Leg
from sweeps.rails.evm.sealing import ContractCall, EvmSealed
from sweeps.rails.rail import Offered
from sweeps.serializers.answer import WARNING_CODES, FeeModeField, FeeSummarySerializer, OutputAmountsSerializer

CONTRACT_VERSIONS = ("v5", "v4")
MODES = ("v5_partner_fees", "v4_fallback")
HEX = r"^0x([0-9a-f]{2})*$"
EXAMPLES = Path(__file__).parent / "examples"
NOT_SIMULATED = {"status": "skipped", "gasUsed": None, "grossOutput": None, "failingToken": None, "reason": None}


@extend_schema_field({"type": "string", "pattern": HEX})
class HexField(serializers.Field[bytes, str, str, Any]):
    """Bytes as 0x and lower-case hex digits."""

    def to_representation(self, value: bytes) -> str:
        return f"0x{value.hex()}"


class RouteSerializer(serializers.Serializer[Any]):
    """The route of one token."""

    kind = OpenEnumField(
        values=[Leg.Hop.POOL, Leg.Hop.JOINED, Leg.Hop.ROUTER, Leg.Hop.UNWRAPPED],
        help_text="The contract swaps it in a pool, or in a pool into the wrapped coin and, with all other joined "
        "tokens, through `lastHop`, or has a router swap it; or the wrapped coin becomes the native one.",
    )
    venue = serializers.CharField(allow_null=True, help_text="Whose pool swaps it; null if it needs none of its own.")
    router = serializers.CharField(allow_null=True, help_text="Null unless a router swaps it.")
    target = EvmAddressField(allow_null=True, help_text="The pool or the router; null without either.")
    path = serializers.ListField(child=EvmAddressField(), help_text="The tokens up to the output, or its wrapped coin.")
    feeTiers = serializers.ListField(
        source="fee_tiers", child=serializers.IntegerField(), help_text="Hundredths of a basis point, per hop."
    )
    priceImpactBps = serializers.IntegerField(
        source="price_impact_bps", allow_null=True, help_text="Null: not measured yet."
    )


class LastHopSerializer(serializers.Serializer[Any]):
    """The pool that swaps what all joined tokens brought into the output token."""

    venue = serializers.CharField(source="venue.name")
    pool = EvmAddressField()
    tokenIn = EvmAddressField(source="token_in", help_text="The wrapped coin.")
    tokenOut = EvmAddressField(source="token_out")
    feeTier = serializers.IntegerField(
        source="fee_tier", allow_null=True, help_text="Hundredths of a basis point; null for venues without fee tiers."
    )


class BuiltTokenSerializer(serializers.Serializer[Any]):
    """One token, with its expected and minimum output in the output token's smallest unit."""

    mint = EvmAddressField(source="token.asset")
    amount = AmountOutputField(source="token.amount")
    symbol = serializers.CharField(source="token.symbol")
    decimals = serializers.IntegerField(source="token.decimals")
    expectedOutput = AmountOutputField(source="token.expected_output", help_text="Before the fee.")
    minOutput = AmountOutputField(source="token.min_output", help_text="Before the fee.")
    floor = AmountOutputField(
        source="token.floor", help_text="The least that the user receives for it after the fee, which the user signs."
    )
    skippable = serializers.BooleanField(
        source="token.skippable",
        help_text="Whether the contract leaves it out if its pool pays too little; then it stays with the user.",
    )
    route = RouteSerializer(allow_null=True, help_text="Null if this offer drops the token, which stays with the user.")


class SkippedTokenSerializer(serializers.Serializer[Any]):
    """A token that was left out."""

    mint = EvmAddressField()
    amount = AmountOutputField()
    reason = serializers.CharField()
    message = serializers.CharField()


class EstimatedOutputSerializer(OutputAmountsSerializer):
    """The expected and minimum output, before the fee and for the user."""

    minUser = AmountOutputField(
        source="min_user",
        help_text="The sum of the floors; if the contract leaves out a token, the user receives its floor less.",
    )

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {"token": EvmAddressField(source="draft.output.asset"), **super().get_fields()}


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
    signature = serializers.RegexField(HEX)
    signer = EvmAddressField()
    digest = HashField()


class ApprovalTransactionSerializer(serializers.Serializer[Any]):
    """A transaction that the user sends before the sweep."""

    to = EvmAddressField()
    data = serializers.RegexField(HEX)  # type: ignore[assignment]  # DRF takes declared fields out of the class
    value = AmountOutputField()


class TransactionRequestSerializer(serializers.Serializer[Any]):
    """The sweep's transaction with a placeholder of 65 zero bytes for the Permit2 signature."""

    chainId = serializers.IntegerField(source="draft.chain.chain_id")
    # A field can't be called "from" in Python, so it is added in get_fields.
    to = EvmAddressField(source="call.to")
    value = AmountOutputField(source="call.value")
    data = HexField(source="call.calldata")  # type: ignore[assignment]  # DRF takes declared fields out of the class
    gas = AmountOutputField(help_text="The gas limit to send, with a margin.")

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {**super().get_fields(), "from": EvmAddressField(source="draft.request.wallet")}


class SignaturePlaceSerializer(serializers.Serializer[Any]):
    """Where the Permit2 signature goes: which argument, and at which byte of data."""

    argIndex = serializers.IntegerField(source="signature_index")
    byteOffset = serializers.IntegerField(source="signature_offset")
    length = serializers.IntegerField(source="signature_length")


class TransactionTemplateSerializer(serializers.Serializer[Any]):
    """The same call, taken apart for clients that encode it themselves."""

    chainId = serializers.IntegerField(source="draft.chain.chain_id")
    to = EvmAddressField(source="call.to")
    value = AmountOutputField(source="call.value")
    functionName = serializers.CharField(source="call.function_name")
    abi = serializers.ListField(
        source="call.abi",
        child=serializers.DictField(),
        help_text="The function, and the errors that it can revert with.",
    )
    args = serializers.SerializerMethodField(help_text="In order; numbers as strings, bytes as hex.")
    data = HexField(source="call.calldata")  # type: ignore[assignment]  # DRF takes declared fields out of the class
    signature = SignaturePlaceSerializer(source="call")

    @extend_schema_field(serializers.ListField())
    def get_args(self, sealed: Any) -> Any:  # noqa: ANN401 - ABI arguments of any shape
        call: ContractCall = sealed.call
        return _json(call.arguments)


class AllowanceIssueSerializer(serializers.Serializer[Any]):
    """A token that Permit2 may not transfer yet, and the approvals that the user has to send."""

    token = EvmAddressField()
    spender = EvmAddressField()
    actual = AmountOutputField()
    required = AmountOutputField()  # type: ignore[assignment]  # DRF takes declared fields out of the class
    resetTransaction = ApprovalTransactionSerializer(
        source="reset_transaction", allow_null=True, help_text="Send this first, unless it is null."
    )
    transaction = ApprovalTransactionSerializer()


class BalanceIssueSerializer(serializers.Serializer[Any]):
    """A token of which the user holds too little."""

    token = EvmAddressField()
    actual = AmountOutputField()
    required = AmountOutputField()  # type: ignore[assignment]  # DRF takes declared fields out of the class


class SimulationSerializer(serializers.Serializer[Any]):
    """The result of a dry run; skipped in this release."""

    status = serializers.ChoiceField(choices=["ok", "reverted", "skipped"])
    gasUsed = AmountOutputField(allow_null=True)
    grossOutput = AmountOutputField(allow_null=True)
    failingToken = EvmAddressField(allow_null=True)
    reason = serializers.CharField(allow_null=True)


class BuildIssuesSerializer(serializers.Serializer[Any]):
    """What the user can still fix before signing."""

    allowance = AllowanceIssueSerializer(source="allowance_issues", many=True)
    balance = BalanceIssueSerializer(source="balance_issues", many=True)
    simulation = serializers.SerializerMethodField()

    @extend_schema_field(SimulationSerializer)
    def get_simulation(self, _draft: object) -> dict[str, Any]:
        return NOT_SIMULATED


class BuildWarningSerializer(serializers.Serializer[Any]):
    """A warning that does not stop the sweep."""

    code = OpenEnumField(values=WARNING_CODES, help_text="Stable; new codes may be added.")
    message = serializers.CharField()
    token = EvmAddressField(help_text="The token that the warning is about.")


@extend_schema_serializer(
    component_name="BuiltSweep",
    examples=[
        example(EXAMPLES / "built.json", "A sweep of one token"),
        example(EXAMPLES / "built_v4.json", "The same sweep in the fallback mode"),
    ],
)
class BuiltSerializer(serializers.Serializer[Offered[EvmSealed]]):
    """A sweep ready to be signed and sent."""

    sweepId = serializers.UUIDField(source="sweep.id")
    status = serializers.ChoiceField(source="sweep.status", choices=SweepStatus.choices)
    chain = serializers.CharField(source="sealed.draft.chain.name")
    chainId = serializers.IntegerField(source="sealed.draft.chain.chain_id")
    mode = serializers.ChoiceField(source="rail.mode", choices=MODES)
    contractVersion = serializers.ChoiceField(source="rail.contract_version", choices=CONTRACT_VERSIONS)
    contractAddress = EvmAddressField(source="sealed.draft.contract")
    feeMode = FeeModeField(source="sealed.draft.fees.settlement")
    createdAt = UtcDateTimeField(source="sweep.created_at")
    expiresAt = UtcDateTimeField(source="sealed.deadline", help_text="What was signed can't be executed later.")
    tokens = BuiltTokenSerializer(source="sealed.shown_tokens", many=True)
    lastHop = LastHopSerializer(
        source="sealed.draft.last_hop", allow_null=True, help_text="Null if no token is joined."
    )
    maxSkipped = serializers.IntegerField(
        source="sealed.draft.max_skipped", help_text="How many tokens may be left out together, which the user signs."
    )
    skippedTokens = serializers.SerializerMethodField()
    warnings = BuildWarningSerializer(source="sealed.draft.warnings", many=True)
    estimatedOutput = EstimatedOutputSerializer(source="sealed")
    feeSummary = FeeSummarySerializer(source="sealed.draft")
    permit2 = TypedDataSerializer(source="sealed.permit.for_wallets")
    feeAuthorization = FeeAuthorizationSerializer(
        source="sealed.fee_authorization", allow_null=True, help_text="Null on V4, which needs none."
    )
    transaction = TransactionRequestSerializer(source="sealed")
    transactionTemplate = TransactionTemplateSerializer(source="sealed")
    issues = BuildIssuesSerializer(source="sealed.draft")

    @extend_schema_field(SkippedTokenSerializer(many=True))
    def get_skippedTokens(self, _offered: Offered[EvmSealed]) -> list[Any]:  # noqa: N802 - named after its field
        return []  # every token is swept, or the whole build is refused


def _json(value: Any) -> Any:  # noqa: ANN401 - ABI arguments of any shape
    if isinstance(value, list | tuple):
        return [_json(item) for item in value]
    return f"0x{value.hex()}" if isinstance(value, bytes) else str(value)
