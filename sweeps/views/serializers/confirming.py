"""The request body of confirm: the hash of a transaction, or what the wallet said about a batch of calls."""

import re
from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema_field, extend_schema_serializer
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError

from sweepapi.api.input.fields import HashField
from sweepapi.api.input.serializers import ForeignSerializer, StrictSerializer
from sweeps.views.serializers.calls_status import MAX_RECEIPTS

MAX_HASHES = 10
CHAIN_ID = re.compile(r"0[xX](?P<hex>[0-9a-fA-F]{1,16})|(?:eip155:)?(?P<decimal>[0-9]{1,18})", re.ASCII)

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


_CHAIN_ID_SCHEMA = {
    "oneOf": [
        {"type": "string", "pattern": "^(0[xX][0-9a-fA-F]{1,16}|(eip155:)?[0-9]{1,18})$"},
        {"type": "integer", "minimum": 0, "maximum": 2**63 - 1},
    ]
}


@extend_schema_field(_CHAIN_ID_SCHEMA)
class ChainIdField(serializers.Field[str, Any, str, Any]):
    """A chain's id in any of the forms in which wallets write it; its CAIP-2 identifier in Python."""

    default_error_messages = {
        "invalid_type": "A chain id is a string or a number.",
        "invalid_format": "A chain id is 0x and hex digits, or a decimal number.",
    }

    def to_internal_value(self, data: Any) -> str:  # noqa: ANN401 DRF's own
        """Return the identifier of the network."""
        if isinstance(data, bool) or not isinstance(data, int | str):
            self.fail("invalid_type")
        match = CHAIN_ID.fullmatch(str(data))
        if match is None:
            self.fail("invalid_format")
        return f"eip155:{int(match['hex'], 16) if match['hex'] else int(match['decimal'])}"


class CallsReceiptSerializer(ForeignSerializer):
    """A receipt; nothing else of it is read."""

    transactionHash = HashField(help_text="0x and 64 hex digits, in any case.")
    chainId = ChainIdField(required=False, help_text="Read if the answer names no chain itself.")


class CallsStatusSerializer(ForeignSerializer):
    """The answer of wallet_getCallsStatus (EIP-5792, its drafts included) about a batch that is in a block."""

    chainId = ChainIdField(
        required=False,
        help_text="The chain of the sweep: hexadecimal as in EIP-5792, or as a number. Without one here or in the "
        "receipts, the hashes are looked up on the chain of the sweep.",
    )
    # The length is checked before any receipt; the stubs do not know what many=True takes.
    receipts = CallsReceiptSerializer(  # type: ignore[call-arg]
        many=True,
        allow_empty=False,
        max_length=MAX_RECEIPTS,
        help_text=f"Of at most {MAX_HASHES} transactions; the same one may be repeated for each call.",
    )

    def validate_receipts(self, receipts: list[dict[str, str]]) -> list[dict[str, str]]:
        """Bound the transactions that are looked up."""
        if len({receipt["transactionHash"] for receipt in receipts}) > MAX_HASHES:
            raise ValidationError(f"At most {MAX_HASHES} different transactions.", code="too_long")
        return receipts


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
        "each becomes a candidate, and the chain decides. Logs and all else may be left out. An answer without "
        "receipts is refused, because there is nothing to confirm yet: poll the wallet until it has some.",
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
        """The network that the wallet named; None if it named none, or its receipts are of several."""
        status = self.validated_data.get("callsStatus", {})
        if "chainId" in status:
            return str(status["chainId"])
        named = {receipt["chainId"] for receipt in status.get("receipts", []) if "chainId" in receipt}
        return named.pop() if len(named) == 1 else None
