"""Reads what a transaction pays per unit of gas, from whichever of three methods a node knows, and the head."""

from collections.abc import Sequence
from typing import Any

from sweepapi.evm.encoding import responses
from sweepapi.evm.encoding.responses import Block, GasPrice
from sweepapi.rpc import Call, ErrorPolicy
from sweepapi.rpc.errors import CallFailedError

MAX_RISE_PARTS = 8  # the base fee rises by at most an eighth a block (EIP-1559)


def gas_price_calls() -> list[Call]:
    """Return the calls whose results ``gas_price_of`` reads, to be sent with one for the head."""
    return [
        Call("eth_feeHistory", ("0x1", "latest", []), responses.next_base_fee, ErrorPolicy.ANY),
        Call("eth_maxPriorityFeePerGas", (), responses.quantity, ErrorPolicy.ANY),
        Call("eth_gasPrice", (), responses.quantity, ErrorPolicy.ANY),
    ]


def gas_price_of(head: Block, results: Sequence[Any]) -> GasPrice | None:
    """Return the price from what the node knows; None if that is nothing.

    Without a fee history, the base fee is the most that the next block can have. ``eth_gasPrice`` is the sum of both
    parts, so the missing one follows from it.
    """
    base_fee, priority_fee, price = (None if isinstance(one, CallFailedError) else one for one in results)
    if base_fee is None and head.base_fee is not None:
        base_fee = head.base_fee + head.base_fee // MAX_RISE_PARTS
    if base_fee is None:
        return None if price is None else GasPrice(max(price - (priority_fee or 0), 0), priority_fee or 0)
    if priority_fee is None:
        priority_fee = 0 if price is None else max(price - base_fee, 0)
    return GasPrice(base_fee, priority_fee)
