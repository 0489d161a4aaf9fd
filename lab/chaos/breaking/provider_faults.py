"""What a bad provider does to the requests and answers of JSON-RPC; public providers do all of it.

Each of the ``ALTERATIONS`` changes the answer to one call. The faults that need no answer are in ``providers``.
"""

import json
from collections.abc import Callable
from random import Random
from typing import Any

Call = dict[str, Any]
Alter = Callable[[Call, Any], Any]

RECEIPT, BLOCK, LOGS = "eth_getTransactionReceipt", "eth_getBlockByNumber", "eth_getLogs"
ABOUT_TRANSACTIONS: dict[str, list[Any] | None] = {
    RECEIPT: None,
    "eth_getTransactionByHash": None,
    "getTransaction": None,
    "getSignaturesForAddress": [],
}
TAGS = ("latest", "safe", "finalized")
GARBAGE = (
    b"<html>Bad gateway</html>",
    b"[]",
    b"null",
    b'{"jsonrpc":"2.0"}',
    b'[{"jsonrpc":"2.0","id":0,"resu',
    b"\xff\xfe",
)
MAINNET, WORD_HEX_DIGITS = "0x1", 64


def knows_nothing(call: Call, result: Any) -> Any:  # noqa: ANN401 - JSON
    """Have no transaction and no receipt."""
    return ABOUT_TRANSACTIONS.get(call["method"], result)


def hides_logs(call: Call, result: Any) -> Any:  # noqa: ANN401 - JSON
    """Find no logs, as an index that was not built yet."""
    return [] if call["method"] == LOGS else result


def is_on_a_fork(_call: Call, result: Any) -> Any:  # noqa: ANN401 - JSON
    """Have other blocks at all heights."""
    return _with_other_hashes(result)


def is_on_another_chain(call: Call, result: Any) -> Any:  # noqa: ANN401 - JSON
    """Answer as a node of another chain: its number, its blocks, and no contracts."""
    if call["method"] in ("eth_chainId", "net_version"):
        return MAINNET
    if call["method"] == "eth_call":
        return "0x"
    return _with_other_hashes(knows_nothing(call, hides_logs(call, result)))


def shows_failures(call: Call, result: Any) -> Any:  # noqa: ANN401 - JSON
    """Show each transaction as reverted."""
    if call["method"] == RECEIPT and result is not None:
        return result | {"status": "0x0", "logs": []}
    return result


def changes_amounts(call: Call, result: Any) -> Any:  # noqa: ANN401 - JSON
    """Show another amount at the end of each log."""
    if call["method"] == RECEIPT and result is not None:
        return result | {"logs": [_with_another_amount(log) for log in result["logs"]]}
    return [_with_another_amount(log) for log in result] if call["method"] == LOGS else result


class BorrowsReceipts:
    """Shows the receipt of another transaction for one that is not mined."""

    def __init__(self) -> None:
        self._last: dict[str, Any] | None = None

    def __call__(self, call: Call, result: Any) -> Any:  # noqa: ANN401 - JSON
        if call["method"] != RECEIPT:
            return result
        if result is not None:
            self._last = result
        return result or (self._last and self._last | {"transactionHash": call["params"][0]})


ALTERATIONS: dict[str, Alter] = {
    "null": knows_nothing,
    "hidden_logs": hides_logs,
    "fork": is_on_a_fork,
    "other_chain": is_on_another_chain,
    "false_failures": shows_failures,
    "false_amounts": changes_amounts,
    "borrowed_receipts": BorrowsReceipts(),
}


def garbage(body: bytes, random: Random) -> bytes:
    """Return nonsense, or an answer of the right shape with nonsense in it."""
    choice = random.randrange(len(GARBAGE) + 1)
    if choice < len(GARBAGE):
        return GARBAGE[choice]
    asked = json.loads(body)
    calls = asked if isinstance(asked, list) else [asked]
    answers = [
        {"jsonrpc": "2.0", "id": call["id"], "result": random.choice([7, "zz", {}, [[]], "0x"])} for call in calls
    ]
    return json.dumps(answers if isinstance(asked, list) else answers[0]).encode()


def as_of(calls: list[Call], heads: dict[str, int], blocks: int) -> list[Call]:
    """Return the calls as a node understands them that is this many blocks behind."""

    def behind(value: Any) -> Any:  # noqa: ANN401 - JSON
        if isinstance(value, str) and value in heads:
            return hex(max(heads[value] - blocks, 0))
        if isinstance(value, list):
            return [behind(one) for one in value]
        return {key: behind(one) for key, one in value.items()} if isinstance(value, dict) else value

    return [call | {"params": behind(call.get("params", []))} for call in calls]


def behind(head: int) -> Alter:
    """Have seen nothing above this head."""

    def alter(call: Call, result: Any) -> Any:  # noqa: ANN401 - JSON
        if call["method"] == "eth_blockNumber":
            return hex(head)
        if call["method"] == LOGS:
            return [log for log in result if int(log["blockNumber"], 16) <= head]
        is_above = (
            isinstance(result, dict) and int(result.get("blockNumber") or result.get("number") or "0x0", 16) > head
        )
        return None if is_above and call["method"] in (RECEIPT, BLOCK, "eth_getTransactionByHash") else result

    return alter


def _with_another_amount(log: dict[str, Any]) -> dict[str, Any]:
    data = log["data"]
    if len(data) < WORD_HEX_DIGITS + 2:
        return log
    amount = int(data[-WORD_HEX_DIGITS:], 16) // 2
    return log | {"data": f"{data[:-WORD_HEX_DIGITS]}{amount:064x}"}


def _with_other_hashes(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Change the hash of each block that a result names."""
    if isinstance(value, list):
        return [_with_other_hashes(one) for one in value]
    if not isinstance(value, dict):
        return value
    named = {"blockHash", "parentHash"} | ({"hash"} if "parentHash" in value else set())
    return {key: _flipped(one) if key in named and isinstance(one, str) else one for key, one in value.items()} | (
        {"logs": _with_other_hashes(value["logs"])} if "logs" in value else {}
    )


def _flipped(block_hash: str) -> str:
    return f"0x{int(block_hash, 16) ^ 1:064x}"
