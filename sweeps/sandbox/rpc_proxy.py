"""The RPC proxy: JSON-RPC to a sandbox chain's node with the methods that wallets and clients need, and no others."""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from sweeps.sandbox.node import NodeRefusedError, SandboxNode
from sweeps.sandbox.rpc_params import BLOCK_NAMES, METHODS, SEND, built

MAX_CALLS = 20
TIMEOUT_SECONDS = 3.0  # after which no call of a batch is begun, since all partners share the node
MAX_SEARCHES = 2
MAX_LOG_BLOCKS = 2_000
MAX_ANSWER_BYTES = 4 * 2**20
MAX_ID_LENGTH = 64

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
TIMED_OUT = TOO_LARGE = -32000

# These run code several times each, to search for the gas that is enough or for what is read.
SEARCHING = frozenset({"eth_createAccessList", "eth_estimateGas"})


class RpcProxy:
    """Answers one body of JSON-RPC."""

    def __init__(self, node: SandboxNode, send: Callable[[str], str]) -> None:
        self._node = node
        self._send = send  # gives a signed transaction to the chain, as hex, and returns its hash
        self._deadline = time.monotonic() + TIMEOUT_SECONDS
        self._answered_bytes = 0
        self._searches = 0

    def answer(self, body: object) -> str:
        """Return the response, or those of a batch, as JSON; raises ``ChainUnavailable`` and ``ServiceUnavailable``."""
        if not isinstance(body, list):
            return self._text(body)
        if not 1 <= len(body) <= MAX_CALLS:
            return json.dumps(failure(None, INVALID_REQUEST, f"A batch has from 1 to {MAX_CALLS} calls."))
        return f"[{','.join([self._text(call) for call in body])}]"

    def _text(self, call: object) -> str:
        """Return the response as JSON, which takes less memory than the objects, unless the answer gets too long."""
        response = self._response(call)
        text = json.dumps(response)
        if self._answered_bytes + len(text) > MAX_ANSWER_BYTES:
            text = json.dumps(failure(response["id"], TOO_LARGE, "The results are too large; ask for less."))
        self._answered_bytes += len(text)
        return text

    def _response(self, call: object) -> dict[str, Any]:
        if not isinstance(call, Mapping) or call.get("jsonrpc") != "2.0" or not isinstance(call.get("method"), str):
            return failure(None, INVALID_REQUEST, "This is not a call of JSON-RPC 2.0.")
        call_id, method, params = call.get("id"), call["method"], call.get("params", [])
        if isinstance(call_id, bool) or not isinstance(call_id, str | int) or len(str(call_id)) > MAX_ID_LENGTH:
            return failure(None, INVALID_REQUEST, "A call needs an id: a number or a short string.")
        try:
            return {"jsonrpc": "2.0", "id": call_id, "result": self._result(method, params)}
        except NodeRefusedError as refusal:
            shown = {name: refusal.error[name] for name in ("code", "message", "data") if name in refusal.error}
            return {"jsonrpc": "2.0", "id": call_id, "error": shown}
        except ValueError as problem:
            return failure(call_id, INVALID_PARAMS, str(problem))

    def _result(self, method: str, params: object) -> Any:  # noqa: ANN401 a result has any JSON type
        if method not in METHODS:
            raise _refused(METHOD_NOT_FOUND, "The sandbox does not offer this method.")
        if not isinstance(params, list):
            raise _refused(INVALID_PARAMS, "params must be a list.")
        if time.monotonic() > self._deadline:
            raise _refused(TIMED_OUT, "The calls before this one took too long.")
        call = built(method, params)
        if method == SEND:
            return self._send(*call)
        if method in SEARCHING:
            self._count_search()
        if method == "eth_getLogs":
            self._bound_logs(*call)
        return self._node.ask(method, *call)

    def _count_search(self) -> None:
        self._searches += 1
        if self._searches > MAX_SEARCHES:
            raise ValueError(f"At most {MAX_SEARCHES} calls of {' and '.join(sorted(SEARCHING))} in a batch.")

    def _bound_logs(self, wanted: Mapping[str, Any]) -> None:
        """Raise ``ValueError`` for a range that is too long."""
        if "blockHash" in wanted:
            return
        head = self._node.number("eth_blockNumber")
        if _height(wanted["toBlock"], head) - _height(wanted["fromBlock"], head) >= MAX_LOG_BLOCKS:
            raise ValueError(f"At most {MAX_LOG_BLOCKS} blocks.")


def failure(call_id: object, code: int, message: str) -> dict[str, Any]:
    """Return the response to a call that failed."""
    return {"jsonrpc": "2.0", "id": call_id, "error": {"code": code, "message": message}}


def _refused(code: int, message: str) -> NodeRefusedError:
    return NodeRefusedError({"code": code, "message": message})


def _height(reference: str, head: int) -> int:
    """Return the height of a block; names count as the newest, or the first."""
    if reference == "earliest":
        return 0
    return head if reference in BLOCK_NAMES else min(int(reference, 16), head)
