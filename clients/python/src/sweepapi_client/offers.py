"""What a partner puts into a build, and makes of an offer, without a request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sweepapi_client.types import BuiltSweep, TokenRequest, TransactionRequest

NATIVE_COIN = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE"


def token_inputs(amounts: Mapping[str, int]) -> list[TokenRequest]:
    """Return the `tokens` of a build; `amounts` are in smallest units, by token."""
    return [{"mint": mint, "amount": str(amount)} for mint, amount in amounts.items()]


def finalized(offer: BuiltSweep, signature: bytes) -> TransactionRequest:
    """Return the offer's transaction with the user's signature of `permit2` in it, without a request.

    Raises ValueError if the signature does not have the length of the template's, as those of contract wallets.
    """
    template = offer["transactionTemplate"]
    start, length = template["signature"]["byteOffset"], template["signature"]["length"]
    if len(signature) != length:
        raise ValueError(f"a signature of {len(signature)} bytes must be encoded with the template's abi and args")
    data = bytearray.fromhex(template["data"][2:])
    data[start : start + length] = signature
    return {**offer["transaction"], "data": f"0x{data.hex()}"}
