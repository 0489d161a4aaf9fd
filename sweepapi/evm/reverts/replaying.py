"""Running a reverted transaction again as a call on the block before its own, to see what it reverted with.

Every node offers this, but it is an approximation: the call runs before the block's other transactions, on the parent
block's clock, and a node that has dropped that block's state can't run it. Where data takes gas, the call has that gas
for its code, so a transaction that ran out of gas may succeed.
"""

import time
from collections.abc import Callable
from typing import Any

from eth_utils.address import is_address

from sweepapi.evm.encoding import responses
from sweepapi.evm.reverts.decoding import RevertReason, decode_revert
from sweepapi.rpc import MIN_TIMEOUT_SECONDS, Call, ErrorPolicy, ProviderPool
from sweepapi.rpc.calls import is_execution_failure
from sweepapi.rpc.errors import BadResponseError, CallFailedError, ChainUnavailableError

# Nodes do not relay a transaction that carries more (geth's ``txMaxSize``).
MAX_INPUT_BYTES = 2**17


def replay(*, pool: ProviderPool, tx_hash: str, block_number: int, timeout_seconds: float) -> RevertReason | None:
    """Return why the transaction reverted, in two round trips.

    None if it can't be found out: no provider answers in time, the one that answers does not know the transaction or
    has dropped the parent block's state, or the call succeeds on that block.
    """
    deadline = time.monotonic() + timeout_seconds
    try:
        transaction = _ask(pool, _transaction_call(tx_hash), deadline)
        if transaction is None:
            return None
        tag = hex(max(block_number - 1, 0))
        reason: RevertReason | None = _ask(
            pool, Call("eth_call", (transaction, tag), _succeeded, read_error=read_revert), deadline
        )
    except ChainUnavailableError:
        return None
    return reason


def read_revert(error: object) -> RevertReason | None:
    """Return the reason in a node's error, or None if the error is the node's own and not the transaction's."""
    data = _returned_data(error)
    if not data and not is_execution_failure(error):
        return None
    return decode_revert(data)


def _returned_data(error: object) -> bytes:
    """Return the bytes in an error of geth's kind, Nethermind's ("Reverted 0x…") or Hardhat's (one object deeper)."""
    found = error.get("data") if isinstance(error, dict) else None
    if isinstance(found, dict):
        found = found.get("data")
    if not isinstance(found, str):
        return b""
    try:
        return responses.data(found.removeprefix("Reverted "))
    except BadResponseError:
        return b""


def _ask(pool: ProviderPool, call: Call, deadline: float) -> Any:  # noqa: ANN401 - as the call decodes it
    timeout_seconds = max(deadline - time.monotonic(), MIN_TIMEOUT_SECONDS)
    _, (answer,) = pool.ask([call], timeout_seconds=timeout_seconds)
    return None if isinstance(answer, CallFailedError) else answer


def _transaction_call(tx_hash: str) -> Call:
    return Call("eth_getTransactionByHash", (tx_hash,), _as_call(tx_hash), ErrorPolicy.ANY)


def _as_call(tx_hash: str) -> Callable[[object], dict[str, str] | None]:
    """Return the decoder of a transaction into the parameter of ``eth_call``; None for a contract's creation."""

    def decode(value: object) -> dict[str, str] | None:
        fields: dict[str, Any] = value if isinstance(value, dict) else {}
        sender, to, data = fields.get("from"), fields.get("to"), responses.data(fields.get("input"))
        if responses.hash32(fields.get("hash")) != tx_hash or not is_address(sender) or len(data) > MAX_INPUT_BYTES:
            raise BadResponseError("expected the transaction")
        if not is_address(to):
            return None
        return {
            "from": str(sender),
            "to": str(to),
            "data": "0x" + data.hex(),
            "value": hex(responses.quantity(fields.get("value"))),
            "gas": hex(responses.counter(fields.get("gas"))),
        }

    return decode


def _succeeded(value: object) -> None:
    responses.data(value)
