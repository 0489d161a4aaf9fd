"""The ways in which a user can execute a sweep, and what the user's account is."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from sweepapi.api.input.fields import AmountOutputField, EvmAddressField, OpenEnumField
from sweepapi.evm.wallet.accounts import AccountCode
from sweepapi.evm.worth.ways import WayKind
from sweeps.rails.evm.build.prompts import SEND_CALLS_VERSION, IssuedExecution, QuotedExecution
from sweeps.rails.evm.serializers.economics import cost_fields
from sweeps.rails.evm.serializers.transactions import (
    HEX,
    ApprovalTransactionSerializer,
    TransactionRequestSerializer,
    TypedDataSerializer,
)
from sweeps.serializers.rendering import rendered

QUANTITY = r"^0x(0|[1-9a-f][0-9a-f]*)$"
KIND_HELP = (
    "`calls`: pass `calls` to wallet_sendCalls, which makes approvals and sweep in one batch; left out if the wallet "
    "does not support that. `permits`: sign `typedData` in order, then send `transaction`; offered if all allowances "
    "that Permit2 lacks can be signed. `permit2`: send `approvals` in order, sign `typedData`, send `transaction`. "
    "These two are left out for an account whose code does not check signatures, or not as its key makes them: see "
    "`issues.wallet`. `transactions`: send `approvals` in order, then `transaction`, with nothing to sign; every "
    "account can do that."
)
PARTS_HELP = (
    "How to complete `transaction.data`: for each part, copy `length` bytes from byte `start` of the signature of "
    "`typedData[signature]` over the zeros at `byteOffset`. A signature is r, s and v in 65 bytes, and v is 27 or 28: "
    "add 27 to 0 or 1. If the last signature, Permit2's, has another length, such as a contract wallet's, cut `data` "
    "32 bytes before its `byteOffset`, and append the length as a word, the signature, and zeros up to a whole word."
)


class WalletSerializer(serializers.Serializer[Any]):
    """The user's account."""

    code = serializers.ChoiceField(
        source="kind",
        choices=[kind.value for kind in AccountCode],
        help_text="`none` for a key without code; `delegated` for a key whose account runs the code of `delegate` "
        "(EIP-7702).",
    )
    delegate = EvmAddressField(allow_null=True, help_text="Null unless delegated.")
    answersEip1271 = serializers.BooleanField(
        source="answers_eip1271",
        allow_null=True,
        help_text="Whether the account's code checks signatures (EIP-1271), as Permit2 requires of every account with "
        "code. Null without code, and if the answer of the code shows neither.",
    )
    takesPlainSignature = serializers.BooleanField(
        source="takes_plain_signature",
        allow_null=True,
        help_text="Whether the code of a delegated account takes its key's signature of Permit2's digest as it is, "
        "instead of one of something that contains it. If not, no way with signatures is offered; if it could not be "
        "shown, they come last. Null unless delegated, and if it could not be shown.",
    )


class BatchedCallSerializer(serializers.Serializer[Any]):
    """A call within a batch."""

    to = EvmAddressField()
    data = serializers.RegexField(HEX)  # type: ignore[assignment]  # DRF takes declared fields out of the class
    value = serializers.RegexField(QUANTITY)
    capabilities = serializers.DictField(
        required=False,
        help_text="Only for a wallet that said it takes `gasLimitOverride` (ERC-8132): the limit of this call.",
    )


class SendCallsSerializer(serializers.Serializer[Any]):
    """The parameter of wallet_sendCalls (EIP-5792), whose numbers are hexadecimal."""

    version = serializers.ChoiceField(choices=[SEND_CALLS_VERSION])
    chainId = serializers.RegexField(QUANTITY)
    atomicRequired = serializers.BooleanField()
    calls = BatchedCallSerializer(many=True)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {**super().get_fields(), "from": EvmAddressField()}


class SignaturePartSerializer(serializers.Serializer[Any]):
    """Bytes of a signature, and where they go."""

    signature = serializers.IntegerField(help_text="The index in `typedData`.")
    start = serializers.IntegerField()
    length = serializers.IntegerField()
    byteOffset = serializers.IntegerField(source="offset", help_text="In the bytes of `transaction.data`.")


class ExecutionOptionSerializer(serializers.Serializer[Any]):
    """One way to execute the sweep, and what it costs the user."""

    kind = OpenEnumField(source="way.kind", values=list(WayKind), help_text=KIND_HELP)
    prompts = serializers.IntegerField(
        source="way.prompts",
        help_text="How often the wallet asks its user: for every signature and every transaction, once for a batch.",
    )
    transactions = serializers.IntegerField(source="way.transactions", help_text="A batch counts as one.")
    gasLimit = AmountOutputField(
        source="gas_limit", help_text="The limits of everything that the user sends together: at most that is used."
    )
    estimated = serializers.BooleanField(
        source="way.is_estimated",
        help_text="Whether `gas` is partly an estimate, as for tokens' own permits and the code of an unknown wallet; "
        "false if all of it was simulated.",
    )
    approvals = serializers.SerializerMethodField(
        help_text="Send these first, in order, each once the one before is mined; a batch has its own."
    )

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {**super().get_fields(), **cost_fields("economics.")}

    @extend_schema_field(ApprovalTransactionSerializer(many=True))
    def get_approvals(self, execution: QuotedExecution) -> Any:  # noqa: ANN401 - as DRF renders it
        sent = [] if execution.way.is_batch else execution.approvals
        return [rendered(ApprovalTransactionSerializer, approval) for approval in sent]


class SweepExecutionSerializer(ExecutionOptionSerializer):
    """One way to execute the sweep, with everything that the user signs and sends."""

    calls = SendCallsSerializer(allow_null=True, help_text="Null unless the kind is `calls`.")
    typedData = serializers.SerializerMethodField(help_text="In the order in which the user signs.")
    transaction = TransactionRequestSerializer(
        allow_null=True, help_text="With zeros in place of the signatures, if any; null if the kind is `calls`."
    )
    signatureParts = SignaturePartSerializer(source="signature_parts", many=True, help_text=PARTS_HELP)

    @extend_schema_field(TypedDataSerializer(many=True))
    def get_typedData(self, execution: IssuedExecution) -> list[dict[str, Any]]:  # noqa: N802 - named after its field
        return [typed_data.for_wallets() for typed_data in execution.typed_data]
