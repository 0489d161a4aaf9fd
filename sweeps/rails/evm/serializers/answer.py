"""The answer to a build on an EVM chain: everything the user's wallet needs, and everything the partner shows."""

import json
from pathlib import Path
from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from sweepapi.api.fields import AmountOutputField, EvmAddressField, HashField, OpenEnumField, UtcDateTimeField
from sweepapi.api.schema import example
from sweepapi.evm.trial_result import SimulationStatus
from sweeps.models import SweepStatus
from sweeps.rails.evm.draft import EvmDraft
from sweeps.rails.evm.executions import executions, quoted_executions
from sweeps.rails.evm.issues import allowance_issues, balance_issues
from sweeps.rails.evm.models import Leg
from sweeps.rails.evm.sealing import ContractCall, EvmSealed
from sweeps.rails.evm.serializers.economics import EconomicsSerializer, TokenEconomicsSerializer
from sweeps.rails.evm.serializers.executions import (
    ExecutionOptionSerializer,
    SweepExecutionSerializer,
    WalletSerializer,
)
from sweeps.rails.evm.serializers.transactions import (
    HEX,
    ApprovalTransactionSerializer,
    HexField,
    TransactionRequestSerializer,
    TypedDataSerializer,
)
from sweeps.rails.evm.shown import shown_tokens
from sweeps.rails.evm.value_warnings import value_warnings
from sweeps.rails.rail import Offered
from sweeps.serializers.answer import (
    WARNING_CODES,
    ClientReferenceOutputField,
    FeeModeField,
    FeeSummarySerializer,
    OutputAmountsSerializer,
)
from sweeps.serializers.rendering import rendered

LEFT_OUT_REASONS = (
    "not_a_token",
    "no_route",
    "transfer_fee",
    "transfer_refused",
    "insufficient_balance",
    "uneconomic",
    "simulation_failed",
)
# Of ``executions``; the others need what is signed.
QUOTED_EXECUTION_FIELDS = ("kind", "prompts", "transactions", "gas", "dataFee", "approvals")
CONTRACT_VERSIONS = ("v5", "v4")
MODES = ("v5_partner_fees", "v4_fallback")
EXAMPLES = Path(__file__).parent / "examples"
SEALED_FIELDS = (
    "sweepId",
    "clientReference",
    "status",
    "createdAt",
    "expiresAt",
    "permit2",
    "feeAuthorization",
    "transaction",
    "transactionTemplate",
)


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
        source="price_impact_bps", allow_null=True, help_text="The same as of the token."
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


class BuiltTokenSerializer(TokenEconomicsSerializer):
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
    """A token of the request that the sweep does not take."""

    mint = EvmAddressField(source="asset")
    amount = AmountOutputField()
    reason = OpenEnumField(values=LEFT_OUT_REASONS, help_text="Stable; new reasons may be added.")
    message = serializers.CharField()
    expectedOutput = AmountOutputField(
        source="expected_output", allow_null=True, help_text="Before the fee; null if it can't be swapped."
    )
    value = AmountOutputField(allow_null=True, help_text="Of the expected output, in the reference stablecoin.")
    gas = AmountOutputField(allow_null=True, help_text="That its swap would add.")


class EstimatedOutputSerializer(OutputAmountsSerializer):
    """The expected and minimum output, before the fee and for the user."""

    minUser = AmountOutputField(
        source="draft.min_user",
        help_text="The sum of the floors, without the `maxSkipped` largest of tokens that may be skipped.",
    )

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {"token": EvmAddressField(source="draft.output.asset"), **super().get_fields()}


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


class SignaturePlaceSerializer(serializers.Serializer[Any]):
    """Where the Permit2 signature goes: which argument, and at which byte of data."""

    argIndex = serializers.IntegerField(source="signature_index")
    byteOffset = serializers.IntegerField(source="signature_offset")
    length = serializers.IntegerField(source="signature_length")
    lengthOffset = serializers.IntegerField(
        source="length_offset",
        help_text="Of the word of 32 bytes that holds the length. For a signature of another length, as of contract "
        "wallets, cut `data` here, and append the length as a word, the signature, and zeros up to a whole word.",
    )


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
    """What the chain does with the sweep now, tried as the user's own calls before anything is approved or signed."""

    status = serializers.ChoiceField(
        choices=list(SimulationStatus),
        help_text="`skipped` if it could not be tried; `reason` says why.",
    )
    method = serializers.CharField(
        allow_null=True,
        help_text="Of the node's interface: `eth_simulateV1`, or `eth_call` where no node has that. A call replaces "
        "the wallet's code, so a token that treats accounts without code differently may not be found out. Null if it "
        "was not tried.",
    )
    gasUsed = AmountOutputField(
        source="gas_used", allow_null=True, help_text="By `sweepAsCaller`, after refunds; null unless it went through."
    )
    grossOutput = AmountOutputField(source="gross_output", allow_null=True, help_text="As above; before the fee.")
    failingToken = EvmAddressField(source="failing_token", allow_null=True)
    target = EvmAddressField(allow_null=True, help_text="The pool or router that failed; null if it was neither.")
    reason = serializers.CharField(allow_null=True, help_text="A sentence; null if it went through.")


class BuildIssuesSerializer(serializers.Serializer[Any]):
    """What the user can still fix before signing."""

    allowance = serializers.SerializerMethodField()
    balance = serializers.SerializerMethodField()
    wallet = WalletSerializer()
    simulation = SimulationSerializer()

    @extend_schema_field(AllowanceIssueSerializer(many=True))
    def get_allowance(self, draft: EvmDraft) -> Any:  # noqa: ANN401 - JSON
        return [rendered(AllowanceIssueSerializer, issue) for issue in allowance_issues(draft)]

    @extend_schema_field(BalanceIssueSerializer(many=True))
    def get_balance(self, draft: EvmDraft) -> Any:  # noqa: ANN401 - JSON
        return [rendered(BalanceIssueSerializer, issue) for issue in balance_issues(draft)]


class BuildWarningSerializer(serializers.Serializer[Any]):
    """A warning that does not stop the sweep."""

    code = OpenEnumField(values=WARNING_CODES, help_text="Stable; new codes may be added.")
    message = serializers.CharField()
    token = EvmAddressField(allow_null=True, help_text="Null if the warning is not about one token.")


def _quoted_executions(file: Path) -> list[dict[str, Any]]:
    built = json.loads(file.read_text(encoding="utf-8"))["executions"]
    return [{name: execution[name] for name in QUOTED_EXECUTION_FIELDS} for execution in built]


@extend_schema_serializer(
    component_name="QuotedSweep",
    examples=[
        example(
            EXAMPLES / "built.json",
            "A sweep of one token",
            without=SEALED_FIELDS,
            adding={"executions": _quoted_executions(EXAMPLES / "built.json")},
        )
    ],
)
class QuotedSerializer(serializers.Serializer[Any]):
    """What a build would answer now, without what is signed and stored."""

    chain = serializers.CharField(source="draft.chain.name")
    chainId = serializers.IntegerField(source="draft.chain.chain_id")
    mode = serializers.ChoiceField(source="rail.mode", choices=MODES)
    contractVersion = serializers.ChoiceField(source="rail.contract_version", choices=CONTRACT_VERSIONS)
    contractAddress = EvmAddressField(source="draft.contract")
    feeMode = FeeModeField(source="draft.fees.settlement")
    tokens = serializers.SerializerMethodField()
    lastHop = LastHopSerializer(source="draft.last_hop", allow_null=True, help_text="Null if no token is joined.")
    maxSkipped = serializers.IntegerField(
        source="draft.max_skipped", help_text="How many tokens may be left out together, which the user signs."
    )
    skippedTokens = SkippedTokenSerializer(
        source="draft.left_out", many=True, help_text="What the sweep does not take; only with `onUnroutable: skip`."
    )
    warnings = serializers.SerializerMethodField()
    estimatedOutput = EstimatedOutputSerializer(source="*")
    feeSummary = FeeSummarySerializer(source="draft")
    economics = serializers.SerializerMethodField()
    executions = serializers.SerializerMethodField(
        help_text="Those with the fewest prompts first. What is signed and sent in them follows with the build."
    )
    issues = BuildIssuesSerializer(source="draft")

    @extend_schema_field(BuiltTokenSerializer(many=True))
    def get_tokens(self, drafted: Any) -> Any:  # noqa: ANN401 - a Quoted or an Offered
        return [rendered(BuiltTokenSerializer, token) for token in shown_tokens(drafted.draft)]

    @extend_schema_field(BuildWarningSerializer(many=True))
    def get_warnings(self, drafted: Any) -> Any:  # noqa: ANN401 - as above
        draft: EvmDraft = drafted.draft
        return [rendered(BuildWarningSerializer, warning) for warning in (*draft.warnings, *value_warnings(draft))]

    @extend_schema_field(EconomicsSerializer)
    def get_economics(self, drafted: Any) -> Any:  # noqa: ANN401 - as above
        return rendered(EconomicsSerializer, drafted.draft.economics)

    @extend_schema_field(ExecutionOptionSerializer(many=True))
    def get_executions(self, quoted: Any) -> Any:  # noqa: ANN401 - a Quoted
        return [rendered(ExecutionOptionSerializer, execution) for execution in quoted_executions(quoted.draft)]


class StoredSerializer(serializers.Serializer[Any]):
    """What a sweep has once it is stored."""

    sweepId = serializers.UUIDField(source="sweep.id")
    clientReference = ClientReferenceOutputField(source="sweep.client_reference")
    status = serializers.ChoiceField(source="sweep.status", choices=SweepStatus.choices)
    createdAt = UtcDateTimeField(source="sweep.created_at")
    expiresAt = UtcDateTimeField(source="sweep.deadline", help_text="What was signed can't be executed later.")


@extend_schema_serializer(
    component_name="BuiltSweep",
    examples=[
        example(EXAMPLES / "built.json", "A sweep of one token"),
        example(EXAMPLES / "built_v4.json", "The same sweep in the fallback mode"),
    ],
)
class BuiltSerializer(StoredSerializer, QuotedSerializer):
    """A sweep ready to be signed and sent."""

    permit2 = TypedDataSerializer(source="sealed.permit.for_wallets")
    feeAuthorization = FeeAuthorizationSerializer(
        source="sealed.fee_authorization", allow_null=True, help_text="Null on V4, which needs none."
    )
    transaction = TransactionRequestSerializer(source="sealed")
    transactionTemplate = TransactionTemplateSerializer(source="sealed")
    executions = serializers.SerializerMethodField(help_text="Those with the fewest prompts first.")

    @extend_schema_field(SweepExecutionSerializer(many=True))
    def get_executions(self, offered: Offered[EvmSealed]) -> Any:  # noqa: ANN401 - as DRF renders it
        return [rendered(SweepExecutionSerializer, execution) for execution in executions(offered.sealed)]


@extend_schema_serializer(
    component_name="RefreshedSweep",
    examples=[example(EXAMPLES / "built.json", "Another offer of the sweep", adding={"signatureStillValid": True})],
)
class RefreshedSerializer(BuiltSerializer):
    """The sweep as it is offered now."""

    signatureStillValid = serializers.BooleanField(
        help_text="Always true: `permit2` is what the user signs for the sweep, or has signed already. If prices no "
        "longer allow that, the request fails with `new_build_required`, because there is no offer to show."
    )


def _json(value: Any) -> Any:  # noqa: ANN401 - ABI arguments of any shape
    if isinstance(value, list | tuple):
        return [_json(item) for item in value]
    return f"0x{value.hex()}" if isinstance(value, bytes) else str(value)
