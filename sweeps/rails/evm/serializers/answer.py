"""The answer to a build on an EVM chain: everything the user's wallet needs, and everything the partner shows."""

import json
from pathlib import Path
from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from sweepapi.api.input.fields import AmountOutputField, EvmAddressField, HashField, OpenEnumField, UtcDateTimeField
from sweepapi.api.openapi.schema import example
from sweeps.models import SweepStatus
from sweeps.protocol.rail import Offered
from sweeps.protocol.value_warnings import value_warnings
from sweeps.rails.evm.build.consistency import require_consistency
from sweeps.rails.evm.build.issuing import ContractCall, EvmIssued
from sweeps.rails.evm.build.prompts import executions, quoted_executions
from sweeps.rails.evm.build.shown import shown_tokens
from sweeps.rails.evm.build.stages import EvmPlanned
from sweeps.rails.evm.serializers.economics import EconomicsSerializer
from sweeps.rails.evm.serializers.executions import ExecutionOptionSerializer, SweepExecutionSerializer
from sweeps.rails.evm.serializers.issues import BuildIssuesSerializer
from sweeps.rails.evm.serializers.tokens import BuiltTokenSerializer, EvmSkippedTokenSerializer, LastHopSerializer
from sweeps.rails.evm.serializers.transactions import (
    HEX,
    HexField,
    TransactionRequestSerializer,
    TypedDataSerializer,
)
from sweeps.serializers.answer import (
    SECONDS_LEFT,
    WARNING_CODES,
    ClientReferenceOutputField,
    FeeModeField,
    FeeSummarySerializer,
    OutputAmountsSerializer,
)
from sweeps.serializers.rendering import rendered

# Of ``executions``; the others need what is signed.
QUOTED_EXECUTION_FIELDS = (
    *("kind", "prompts", "transactions", "gasLimit", "estimated", "approvals"),
    *("gas", "dataFee", "cost", "gasShare", "gasValue", "netOutput", "netValue"),
)
CONTRACT_VERSIONS = ("v5", "v4")
MODES = ("v5_partner_fees", "v4_fallback")
EXAMPLES = Path(__file__).parent / "examples"
EXECUTIONS_HELP = (
    "First the ways that the user has for certain, the cheapest of them leading, then those that the wallet may have. "
    "`calls` is certain if the request says that the wallet takes batches; otherwise it comes later, or not at all."
)
ISSUED_FIELDS = (
    "sweepId",
    "clientReference",
    "status",
    "createdAt",
    "expiresAt",
    "expiresInSeconds",
    "permit2",
    "feeAuthorization",
    "transaction",
    "transactionTemplate",
)


class EstimatedOutputSerializer(OutputAmountsSerializer):
    """The expected and minimum output, before the fee and for the user."""

    minUser = AmountOutputField(
        source="planned.min_user",
        help_text="The sum of the floors, without the `maxSkipped` largest of tokens that may be skipped.",
    )

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {"token": EvmAddressField(source="planned.output.asset"), **super().get_fields()}


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
        help_text="Of the word of 32 bytes that holds the length. For a signature of another length, such as a "
        "contract wallet's, cut `data` here, and append the length as a word, the signature, and zeros up to a whole "
        "word.",
    )


class TransactionTemplateSerializer(serializers.Serializer[Any]):
    """The same call, taken apart for clients that encode it themselves."""

    chainId = serializers.IntegerField(source="planned.market.chain.chain_id")
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
    def get_args(self, issued: Any) -> Any:  # noqa: ANN401 - ABI arguments of any shape
        call: ContractCall = issued.call
        return _json(call.arguments)


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
            without=ISSUED_FIELDS,
            adding={"executions": _quoted_executions(EXAMPLES / "built.json")},
        )
    ],
)
class QuotedSerializer(serializers.Serializer[Any]):
    """What a build would answer now, without what is signed and stored."""

    chain = serializers.CharField(source="planned.market.chain.name")
    chainId = serializers.IntegerField(source="planned.market.chain.chain_id")
    mode = serializers.ChoiceField(source="rail.mode", choices=MODES)
    contractVersion = serializers.ChoiceField(source="rail.contract_version", choices=CONTRACT_VERSIONS)
    contractAddress = EvmAddressField(source="planned.contract")
    feeMode = FeeModeField(source="planned.fees.settlement")
    tokens = serializers.SerializerMethodField()
    lastHop = LastHopSerializer(source="planned.last_hop", allow_null=True, help_text="Null if no token is joined.")
    maxSkipped = serializers.IntegerField(
        source="planned.max_skipped", help_text="How many tokens may be left out together, which the user signs."
    )
    skippedTokens = EvmSkippedTokenSerializer(
        source="planned.left_out", many=True, help_text="What the sweep does not take; only with `onUnroutable: skip`."
    )
    warnings = serializers.SerializerMethodField()
    estimatedOutput = EstimatedOutputSerializer(source="*")
    feeSummary = FeeSummarySerializer(source="planned")
    economics = serializers.SerializerMethodField()
    executions = serializers.SerializerMethodField(
        help_text=f"{EXECUTIONS_HELP} What is signed and sent in them follows with the build."
    )
    issues = BuildIssuesSerializer(source="planned")

    def to_representation(self, instance: Any) -> Any:  # noqa: ANN401 - a Quoted or an Offered, and JSON
        """Return the answer, whose figures must hold together."""
        require_consistency(instance.planned)
        return super().to_representation(instance)

    @extend_schema_field(BuiltTokenSerializer(many=True))
    def get_tokens(self, offered: Any) -> Any:  # noqa: ANN401 - a Quoted or an Offered
        return [rendered(BuiltTokenSerializer, token) for token in shown_tokens(offered.planned)]

    @extend_schema_field(BuildWarningSerializer(many=True))
    def get_warnings(self, offered: Any) -> Any:  # noqa: ANN401 - as above
        planned: EvmPlanned = offered.planned
        return [rendered(BuildWarningSerializer, warning) for warning in (*planned.warnings, *value_warnings(planned))]

    @extend_schema_field(EconomicsSerializer)
    def get_economics(self, offered: Any) -> Any:  # noqa: ANN401 - as above
        return rendered(EconomicsSerializer, offered.planned.economics)

    @extend_schema_field(ExecutionOptionSerializer(many=True))
    def get_executions(self, quoted: Any) -> Any:  # noqa: ANN401 - a Quoted
        return [rendered(ExecutionOptionSerializer, execution) for execution in quoted_executions(quoted.planned)]


class StoredSerializer(serializers.Serializer[Any]):
    """What a sweep has once it is stored."""

    sweepId = serializers.UUIDField(source="sweep.id")
    clientReference = ClientReferenceOutputField(source="sweep.client_reference")
    status = serializers.ChoiceField(source="sweep.status", choices=SweepStatus.choices)
    createdAt = UtcDateTimeField(source="sweep.created_at")
    expiresAt = UtcDateTimeField(source="sweep.deadline", help_text="What was signed can't be executed later.")
    expiresInSeconds = serializers.IntegerField(
        source="issued.expires_in_seconds", required=False, min_value=0, help_text=SECONDS_LEFT
    )


@extend_schema_serializer(
    component_name="BuiltSweep",
    examples=[
        example(EXAMPLES / "built.json", "A sweep of one token"),
        example(EXAMPLES / "built_v4.json", "The same sweep in the fallback mode"),
    ],
)
class BuiltSerializer(StoredSerializer, QuotedSerializer):
    """A sweep ready to be signed and sent."""

    permit2 = TypedDataSerializer(source="issued.permit.for_wallets")
    feeAuthorization = FeeAuthorizationSerializer(
        source="issued.fee_authorization", allow_null=True, help_text="Null on V4, which needs none."
    )
    transaction = TransactionRequestSerializer(source="issued")
    transactionTemplate = TransactionTemplateSerializer(source="issued")
    executions = serializers.SerializerMethodField(help_text=EXECUTIONS_HELP)

    @extend_schema_field(SweepExecutionSerializer(many=True))
    def get_executions(self, offered: Offered[EvmIssued]) -> Any:  # noqa: ANN401 - as DRF renders it
        return [rendered(SweepExecutionSerializer, execution) for execution in executions(offered.issued)]


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
