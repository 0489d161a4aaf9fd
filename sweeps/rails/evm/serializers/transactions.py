"""What a user signs and sends, as wallets take it."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from sweepapi.api.input.fields import AmountOutputField, EvmAddressField

DATA_FEE_HELP = (
    "What a rollup of the OP stack charges now for data and to its operator, in addition to the gas, in wei; zero on "
    "other chains: those of Nitro, such as Arbitrum, charge gas for data, which is part of every `gas`. Null if it "
    "could not be read."
)
HEX = r"^0x([0-9a-f]{2})*$"


@extend_schema_field({"type": "string", "pattern": HEX})
class HexField(serializers.Field[bytes, str, str, Any]):
    """Bytes as 0x and lower-case hex digits."""

    def to_representation(self, value: bytes) -> str:
        return f"0x{value.hex()}"


class TypedDataSerializer(serializers.Serializer[Any]):
    """EIP-712 typed data as eth_signTypedData_v4 takes it; numbers of the message are strings."""

    domain = serializers.DictField()
    types = serializers.DictField()
    primaryType = serializers.CharField()
    message = serializers.DictField()


class ApprovalTransactionSerializer(serializers.Serializer[Any]):
    """A transaction that the user sends before the sweep; it must be mined before the next one is sent."""

    to = EvmAddressField()
    data = HexField(source="calldata")  # type: ignore[assignment]  # DRF takes declared fields out of the class
    value = AmountOutputField()
    gas = AmountOutputField(help_text="The gas limit to send, with a margin.")


class TransactionRequestSerializer(serializers.Serializer[Any]):
    """The sweep's transaction with a placeholder of 65 zero bytes for the Permit2 signature."""

    chainId = serializers.IntegerField(source="planned.market.chain.chain_id")
    # A field can't be called "from" in Python, so it is added in get_fields.
    to = EvmAddressField(source="call.to")
    value = AmountOutputField(source="call.value")
    data = HexField(source="call.calldata")  # type: ignore[assignment]  # DRF takes declared fields out of the class
    gas = AmountOutputField(
        help_text="The gas limit to send, with a margin. On Nitro it also holds what data may cost until then."
    )
    dataFee = AmountOutputField(source="data_fee", allow_null=True, help_text=DATA_FEE_HELP)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {**super().get_fields(), "from": EvmAddressField(source="planned.request.wallet")}
