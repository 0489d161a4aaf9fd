"""What clients answer beyond the usual is read as the corpus says.

Its facts are from the conformance files of execution-apis, and from the test suites and issues of the clients.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from sweepapi.evm.chain.blocks import head_call, optional_block_call
from sweepapi.evm.chain.gas_price import gas_price_calls
from sweepapi.evm.encoding import responses
from sweepapi.evm.encoding.responses import Block, MinedLog, Receipt
from sweepapi.evm.logs import log_query
from sweepapi.rpc import Call
from sweepapi.rpc.calls import read
from sweepapi.rpc.errors import BadResponseError, CallFailedError

ROWS = json.loads(Path(__file__).with_name("odd_answers.json").read_text(encoding="utf-8"))
HASH, CONTRACT = "0x" + "ab" * 32, "0x" + "11" * 20
BLOCK = {"number": "0x10", "hash": HASH, "timestamp": "0x2"}
LOG = {"address": CONTRACT, "topics": [HASH], "logIndex": "0x7"}
WHERE = {"transactionHash": HASH, "blockHash": HASH, "blockNumber": "0x10"}
RECEIPT = {**WHERE, "status": "0x1", "gasUsed": "0x5208", "logs": [{}]}


def logs_call() -> Call:
    return log_query.logs_call(contract=responses.address(CONTRACT), topics=(), span=(16, 16), read=list)


CALLS: dict[str, Callable[[], Call]] = {
    "tagged block": lambda: optional_block_call("safe"),
    "block at a height": lambda: optional_block_call(16),
    "head": head_call,
    "receipt": lambda: Call("eth_getTransactionReceipt", (HASH,), responses.receipt_of(HASH)),
    "logs": logs_call,
    "fee history": lambda: gas_price_calls()[0],
    "priority fee": lambda: gas_price_calls()[1],
}


def response_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the whole response of a row, which says what differs from a usual one."""
    if "error" in row:
        return {"error": row["error"]}
    result: Any = row.get("result")
    if "changes" in row:
        usual = BLOCK if row["call"] == "head" else RECEIPT
        result = {name: value for name, value in (usual | row["changes"]).items() if name not in row.get("lacks", ())}
        result["logs"] = numbered(result.get("logs", []))
    return {"result": numbered(result) if row["call"] == "logs" else result}


def numbered(logs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the whole logs; the data of each is its position."""
    return [{**LOG, **WHERE, **log, "data": f"0x0{i}"} for i, log in enumerate(logs)]


def shown(call: Call, response: dict[str, Any]) -> Any:
    """Return what was read, as the corpus writes it."""
    try:
        value = read(call, response)
    except BadResponseError:
        return "refused"
    if isinstance(value, CallFailedError):
        return "failure"
    if isinstance(value, Block):
        return [value.number, value.timestamp, value.base_fee]
    if isinstance(value, Receipt):
        return [value.block_number, value.succeeded, [log.data[0] for log in value.logs]]
    return [in_order(position, one) for position, one in enumerate(value)] if isinstance(value, list) else value


def in_order(position: int, mined: MinedLog) -> int:
    assert (mined.position, mined.log.data[0]) == (position, position)
    return mined.position


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['call']}: {row['client']}")
def test_an_odd_answer_is_read_as_the_corpus_says(row: dict[str, Any]) -> None:
    assert shown(CALLS[row["call"]](), response_of(row)) == row["read"]


def test_the_corpus_has_every_kind_of_call() -> None:
    assert {row["call"] for row in ROWS} == set(CALLS)
