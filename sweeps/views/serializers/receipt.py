"""The JSON of a receipt. It is signed, so its fields are never renamed."""

from pathlib import Path
from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from ledger.serializers import RecordSerializer
from sweepapi.api.input.fields import AccountAddressResponseField, UtcDateTimeField
from sweepapi.api.openapi.schema import example
from sweepapi.crypto.canonical_json import canonical
from sweepapi.crypto.proof_keys import SigningKey
from sweeps.serializers.answer import FeeModeField
from sweeps.serializers.state import NULL_IF_ADOPTED, FeeSplitSerializer

KIND = "sweep.receipt"  # also in the header of the signature, so that it holds for nothing else
EXAMPLE = Path(__file__).parent / "examples" / "receipt.json"


class ReceiptFeeSerializer(serializers.Serializer[Any]):
    """The terms of the fee, and who was to be paid it."""

    totalFeeBps = serializers.IntegerField(source="total_fee_bps", allow_null=True, help_text=NULL_IF_ADOPTED)
    partnerShareBps = serializers.IntegerField(source="partner_share_bps", allow_null=True, help_text=NULL_IF_ADOPTED)
    feeMode = FeeModeField(source="settlement")
    partnerRecipient = AccountAddressResponseField(
        source="partner_recipient", allow_null=True, help_text="Null where the partner is paid later."
    )
    protocolRecipient = AccountAddressResponseField(source="protocol_recipient")


class ReceiptTransactionSerializer(serializers.Serializer[Any]):
    """The transaction, and where it is in the chain; its block is final."""

    txHash = serializers.CharField(source="tx_hash")
    blockNumber = serializers.IntegerField(source="block_number", help_text="On Solana the slot.")
    blockHash = serializers.CharField(source="block_hash")
    logPosition = serializers.IntegerField(
        source="log_position",
        allow_null=True,
        help_text="The position of the event among the contract's logs in the transaction, from 0. Null on Solana.",
    )


class ContractEventSerializer(serializers.Serializer[Any]):
    """The event that the contract emitted."""

    signature = serializers.CharField(help_text="In Solidity.")
    fields = serializers.DictField(child=serializers.CharField())  # type: ignore[assignment]  # DRF takes declared fields out of the class


class OperationSerializer(serializers.Serializer[Any]):
    """One operation on chain; a sweep on an EVM chain has one."""

    address = AccountAddressResponseField(
        source="execution.venue", help_text="Where it happened: the contract; on Solana our fee wallet."
    )
    id = serializers.CharField(
        source="execution.execution_id",
        help_text="Its identity there: on V5 that of the fee authorization, on V4 the sweepRef, on Solana the "
        "reference key.",
    )
    transaction = ReceiptTransactionSerializer()
    event = ContractEventSerializer(source="evidence.event", allow_null=True, help_text="Null on Solana.")
    amounts = FeeSplitSerializer(source="execution.amounts")


class AuthorizationTypedDataSerializer(serializers.Serializer[Any]):
    """What was signed by EIP-712, as eth_signTypedData_v4 takes it."""

    domain = serializers.DictField()
    types = serializers.DictField()
    primaryType = serializers.CharField()
    message = serializers.DictField()


class SignedAuthorizationSerializer(serializers.Serializer[Any]):
    """The fee authorization of one offer, as our fee signer signed it."""

    offer = serializers.IntegerField(help_text="1 for the build; each refresh adds one.")
    typedData = serializers.SerializerMethodField()
    digest = serializers.CharField()
    signature = serializers.CharField()
    signer = AccountAddressResponseField()

    @extend_schema_field(AuthorizationTypedDataSerializer)
    def get_typedData(self, signed: Any) -> dict[str, Any]:  # noqa: ANN401, N802 - a SignedAuthorization; named after its field
        typed_data: dict[str, Any] = signed.typed_data.for_wallets()
        return typed_data


class ReceiptSerializer(serializers.Serializer[Any]):
    """Who was paid what for a sweep, by which transaction and why."""

    type = serializers.SerializerMethodField()
    version = serializers.SerializerMethodField()
    sweepId = serializers.UUIDField(source="sweep.id")
    partnerId = serializers.UUIDField(source="sweep.partner_id")
    network = serializers.CharField(source="sweep.network", help_text="As CAIP-2 spells it, such as eip155:8453.")
    mode = serializers.CharField(source="rail.mode")
    wallet = AccountAddressResponseField(source="sweep.wallet")
    outputMint = AccountAddressResponseField(source="sweep.output_asset")
    outputSymbol = serializers.CharField(source="sweep.output_symbol")
    outputDecimals = serializers.IntegerField(source="sweep.output_decimals")
    createdAt = UtcDateTimeField(source="sweep.created_at")
    confirmedAt = UtcDateTimeField(source="sweep.completed_at")
    fee = ReceiptFeeSerializer(source="sweep")
    operations = OperationSerializer(source="executions", many=True)
    amounts = FeeSplitSerializer(help_text="Of all operations together.")
    recomputation = serializers.DictField(
        source="evidence.recomputation",
        child=serializers.CharField(),
        help_text="How the amounts of each operation follow from each other.",
    )
    authorizations = SignedAuthorizationSerializer(
        source="evidence.authorizations",
        many=True,
        help_text="Of all offers, whose terms are the same; the transaction contains the one that was executed. "
        "Empty unless on V5, and if the sweep is flagged adopted.",
    )
    entries = RecordSerializer(many=True, help_text="Its entries in your ledger, by their numbers.")
    verifiable = serializers.ListField(
        source="evidence.verifiable", child=serializers.CharField(), help_text="What anyone can check on chain."
    )
    attested = serializers.ListField(
        source="evidence.attested", child=serializers.CharField(), help_text="What only we say."
    )

    def get_type(self, _receipt: Any) -> str:  # noqa: ANN401 - a Receipt, which lies above
        return KIND

    def get_version(self, _receipt: Any) -> int:  # noqa: ANN401 - as above
        return 1


@extend_schema_serializer(examples=[example(EXAMPLE, "A sweep on V5")])
class SignedReceiptSerializer(serializers.Serializer[Any]):
    """A receipt and our signature."""

    receipt = ReceiptSerializer()
    jws = serializers.CharField(
        help_text="The receipt in canonical JSON (names in order, no spaces, ASCII), signed with Ed25519 in the "
        "compact form of RFC 7515; GET /.well-known/jwks.json has the keys."
    )


def signed(receipt: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    """Return the answer with a ``Receipt``, whose bytes are the same each time under the same key."""
    shown = ReceiptSerializer(receipt).data
    return {"receipt": shown, "jws": SigningKey.from_settings().jws(canonical(shown), kind=KIND)}
