"""The request body of confirm: the hash of a transaction, or what the wallet said about a batch of calls."""

import re
from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema_field, extend_schema_serializer
from rest_framework.exceptions import ErrorDetail, ValidationError

from sweepapi.api.input.budgets import Room
from sweepapi.api.input.fields import HashField, StrictCharField
from sweepapi.api.input.serializers import ForeignSerializer, StrictSerializer

MAX_RECEIPTS = 10
CHAIN_ID = re.compile(r"0x(0|[1-9a-fA-F][0-9a-fA-F]{0,15})")

_HASH = "0xcc34ef733b8d502b098225ac606aa9d0544c89db9b12e70082e7e4f361bedfee"
_CALLS_STATUS = {
    "version": "2.0.0",
    "id": "0x00000000000000000000000000000000000000000000000000000000000010f1",
    "chainId": "0x2105",
    "status": 200,
    "atomic": True,
    "receipts": [
        {
            "logs": [],
            "status": "0x1",
            "blockHash": "0x1a3cf0f0ea1b5d4af7a4a1e0b2b1cb0bda0a4f7e4b46bbd2d1c0e7a21f6a52b7",
            "blockNumber": "0x28a4d1f",
            "gasUsed": "0x51f0b",
            "transactionHash": _HASH,
        }
    ],
}


class CallsReceiptSerializer(ForeignSerializer):
    """A receipt; only its hash is read."""

    transactionHash = HashField(help_text="0x and 64 hex digits, in any case.")


@extend_schema_field({"type": "string", "pattern": f"^{CHAIN_ID.pattern}$"})
class ChainIdField(StrictCharField):
    """A chain's id as wallets write it, in hexadecimal; its CAIP-2 identifier in Python."""

    default_error_messages = {"invalid_format": "A chain id is 0x followed by hex digits without leading zeros."}

    def to_internal_value(self, data: str) -> str:
        """Return the identifier of the network."""
        if not CHAIN_ID.fullmatch(data):
            self.fail("invalid_format")
        return f"eip155:{int(data, 16)}"


class CallsStatusSerializer(ForeignSerializer):
    """The answer of wallet_getCallsStatus (EIP-5792) about a batch that is in a block."""

    # With all of its logs, of which wallets tell the address, the topics, the data, and some of them where they are.
    room = Room(names=2_000, items=2_000)
    chainId = ChainIdField(help_text="The chain of the sweep.")
    # The length is checked before any receipt; the stubs do not know what many=True takes.
    receipts = CallsReceiptSerializer(many=True, allow_empty=False, max_length=MAX_RECEIPTS)  # type: ignore[call-arg]


@extend_schema_serializer(
    examples=[
        OpenApiExample("The hash that the wallet returned", value={"txHash": _HASH}),
        OpenApiExample("The status of a batch of calls", value={"callsStatus": _CALLS_STATUS}),
    ]
)
class ConfirmRequestSerializer(StrictSerializer):
    """What the user sent: either a hash or the status of a batch."""

    has_one_field = True
    txHash = HashField(required=False, help_text="0x and 64 hex digits, in any case.")
    callsStatus = CallsStatusSerializer(
        required=False,
        help_text="The answer of wallet_getCallsStatus, unchanged, once it has receipts. Only the hashes are believed: "
        "each becomes a candidate, and the chain decides. An answer without receipts is refused, because there is "
        "nothing to confirm yet: poll the wallet until it has some.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require one of the two."""
        if not attrs:
            raise ValidationError({"txHash": [ErrorDetail("Send txHash or callsStatus.", "required")]})
        if len(attrs) > 1:
            problem = ErrorDetail("Send either txHash or callsStatus.", "not_applicable")
            raise ValidationError({"callsStatus": [problem]})
        return attrs

    @property
    def tx_hashes(self) -> Sequence[str]:
        """The reported hashes, each once, in their order."""
        status = self.validated_data.get("callsStatus")
        if status is None:
            return [self.validated_data["txHash"]]
        return list(dict.fromkeys(receipt["transactionHash"] for receipt in status["receipts"]))

    @property
    def network(self) -> str | None:
        """The network that the wallet named; None if only a hash was reported."""
        status = self.validated_data.get("callsStatus")
        return None if status is None else status["chainId"]
