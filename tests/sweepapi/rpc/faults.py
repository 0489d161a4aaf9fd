"""What the providers of public chains do, as faults of a node: those of eRPC's simulator, and lies.

eRPC (internal/simulator) draws latency, hanging requests, HTTP 429, 500, 502 and 503, errors in JSON, a node that is
gone, blocks behind the head, a chain that grows slowly, missing data, and failures for a while. A fault holds within
its ``with`` block.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from typing import Any

from tests.fake_node import Alter, FakeNode, hiding_logs
from tests.sweepapi.rpc.calls import Reply, error

Fault = Callable[[FakeNode], AbstractContextManager[None]]

OTHER_HASH = "0x" + "ab" * 32


@contextmanager
def _set(node: FakeNode, **changes: Any) -> Iterator[None]:
    before = {name: getattr(node, name) for name in changes}
    vars(node).update(changes)
    try:
        yield
    finally:
        vars(node).update(before)


def replying(raw: Reply, **headers: str) -> Fault:
    return lambda node: _set(node, raw=raw, headers=headers)


def altering(alter: Alter) -> Fault:
    return lambda node: _set(node, alter=alter)


def status(code: int, body: bytes = b"", **headers: str) -> Fault:
    return replying(lambda _batch: (code, body), **headers)


def refusing(refuse: Callable[[list[dict[str, Any]]], bool]) -> Fault:
    return lambda node: _set(node, refuse=refuse)


def failing_every_second_time() -> Fault:
    turns = count()
    return refusing(lambda _batch: next(turns) % 2 == 0)


def changed(of_method: str, change: Callable[[Any], Any]) -> Fault:
    return altering(lambda method, _params, result: change(result) if method == of_method and result else result)


def behind(blocks: int) -> Fault:
    """Answer as of some blocks ago: lower heads of every kind, and no receipts of newer blocks."""

    def alter(method: str, params: list[Any], result: Any) -> Any:
        if method == "eth_getBlockByNumber" and params[0] in ("latest", "safe", "finalized"):
            return result | {"number": hex(max(int(result["number"], 16) - blocks, 0))}
        return None if method == "eth_getTransactionReceipt" else result

    return altering(alter)


def halted(method: str, params: list[Any], result: Any) -> Any:
    """Have had no new block for an hour."""
    is_head = (method, params[:1]) == ("eth_getBlockByNumber", ["latest"])
    return result | {"timestamp": hex(int(result["timestamp"], 16) - 3_600)} if is_head else result


def richer(receipt: dict[str, Any]) -> dict[str, Any]:
    return receipt | {"logs": [log | {"data": "0x" + "ff" * 32} for log in receipt["logs"]]}


def renumbered(receipt: dict[str, Any]) -> dict[str, Any]:
    return receipt | {"logs": [log | {"logIndex": "0x63"} for log in receipt["logs"]]}


JSON_ERROR = json.dumps({"jsonrpc": "2.0", "error": {"code": -32603, "message": "upstream error"}}).encode()

FAULTS: dict[str, Fault] = {
    "it hangs": FakeNode.hung,
    "it limits our requests": status(429),
    "it limits our requests and says how long": status(429, b"", **{"Retry-After": "7"}),
    "HTTP 500 with an error in JSON": status(500, JSON_ERROR),
    "HTTP 502": status(502),
    "HTTP 503": status(503, JSON_ERROR),
    "a revert where nothing can revert": replying(error(-32000, "execution reverted")),
    "an internal error": replying(error(-32603, "upstream backend error")),
    "a page in HTML": status(200, b"<html>under maintenance</html>"),
    "an empty body": status(200),
    "half a body": lambda node: _set(node, truncates=True),
    "a redirect": status(302, b"", Location="http://127.0.0.1:1/"),
    "it fails every second time": failing_every_second_time(),
    "it is a few blocks behind": behind(3),
    "it is far behind": behind(10_000),
    "it had no new block for an hour": altering(halted),
    "it lacks receipts": changed("eth_getTransactionReceipt", lambda _receipt: None),
    "it lacks blocks": changed("eth_getBlockByNumber", lambda _block: None),
    "it lacks logs": altering(hiding_logs),
    "null for everything": altering(lambda _method, _params, _result: None),
    "it is on another chain": changed("eth_chainId", lambda _id: "0x1"),
    "it shows another block": changed("eth_getBlockByNumber", lambda block: block | {"hash": OTHER_HASH}),
    "it shows a receipt in another block": changed(
        "eth_getTransactionReceipt", lambda receipt: receipt | {"blockHash": OTHER_HASH}
    ),
    "it shows a revert": changed("eth_getTransactionReceipt", lambda receipt: receipt | {"status": "0x0"}),
    "it shows other data": changed("eth_getTransactionReceipt", richer),
    "it numbers the logs otherwise": changed("eth_getTransactionReceipt", renumbered),
    "it shows no logs": changed("eth_getTransactionReceipt", lambda receipt: receipt | {"logs": []}),
}
