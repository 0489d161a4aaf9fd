"""The RPC proxy: JSON-RPC to a sandbox chain's node with the methods that wallets and clients need, and no others.

anvil holds unlocked accounts and offers to change the chain in eth_ methods as well, so each method is named here.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sweeps.sandbox.node import NodeRefusedError, SandboxNode

MAX_CALLS = 20
TIMEOUT_SECONDS = 10.0
MAX_LOG_BLOCKS = 2_000
MAX_FEE_BLOCKS = 1_024
MAX_FEE_PERCENTILES = 100
MAX_ANSWER_BYTES = 4 * 2**20
MAX_CALL_GAS = 30_000_000
MAX_ID_LENGTH = 64

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
TIMED_OUT = TOO_LARGE = -32000

SEND = "eth_sendRawTransaction"
METHODS = frozenset(
    {
        *("eth_blobBaseFee", "eth_blockNumber", "eth_call", "eth_chainId", "eth_createAccessList"),
        *("eth_estimateGas", "eth_feeHistory", "eth_gasPrice", "eth_getBalance", "eth_getBlockByHash"),
        *("eth_getBlockByNumber", "eth_getBlockReceipts", "eth_getBlockTransactionCountByHash"),
        *("eth_getBlockTransactionCountByNumber", "eth_getCode", "eth_getLogs", "eth_getProof", "eth_getStorageAt"),
        *("eth_getTransactionByBlockHashAndIndex", "eth_getTransactionByBlockNumberAndIndex"),
        *("eth_getTransactionByHash", "eth_getTransactionCount", "eth_getTransactionReceipt"),
        *("eth_maxPriorityFeePerGas", SEND, "eth_syncing", "net_listening", "net_version"),
        *("web3_clientVersion", "web3_sha3"),
    }
)
_RUNNING_CODE = ("eth_call", "eth_createAccessList", "eth_estimateGas")


class RpcProxy:
    """Answers one body of JSON-RPC."""

    def __init__(self, node: SandboxNode, send: Callable[[str], str]) -> None:
        self._node = node
        self._send = send  # gives a signed transaction to the chain, as hex, and returns its hash
        self._deadline = time.monotonic() + TIMEOUT_SECONDS
        self._answered_bytes = 0

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
        if method == SEND:
            return self._send(_signed(params))
        self._bound(method, params)
        return self._node.ask(method, *params)

    def _bound(self, method: str, params: Sequence[object]) -> None:
        """Raise ``ValueError`` for what would take the node long."""
        if method == "eth_getLogs":
            self._bound_logs(params)
        if method == "eth_feeHistory":
            _bound_fees(params)
        if method in _RUNNING_CODE:
            _bound_gas(params)

    def _bound_logs(self, params: Sequence[object]) -> None:
        """Raise ``ValueError`` for a range that is too long; names of blocks count as the newest, or the first."""
        wanted = params[0] if params else None
        if not isinstance(wanted, Mapping):
            raise ValueError("eth_getLogs needs a filter.")  # noqa: TRY004 it is told to the caller
        if wanted.get("blockHash") is not None:  # the node takes null as none
            return
        head = self._node.number("eth_blockNumber")
        first, last = (_height(wanted.get(name), head) for name in ("fromBlock", "toBlock"))
        if last - first >= MAX_LOG_BLOCKS:
            raise ValueError(f"At most {MAX_LOG_BLOCKS} blocks.")


def failure(call_id: object, code: int, message: str) -> dict[str, Any]:
    """Return the response to a call that failed."""
    return {"jsonrpc": "2.0", "id": call_id, "error": {"code": code, "message": message}}


def _refused(code: int, message: str) -> NodeRefusedError:
    return NodeRefusedError({"code": code, "message": message})


def _signed(params: Sequence[object]) -> str:
    raw = params[0] if len(params) == 1 else None
    if not isinstance(raw, str) or not raw.startswith("0x"):
        raise ValueError("This takes one signed transaction, as hex.")
    bytes.fromhex(raw[2:])
    return raw


def _bound_gas(params: Sequence[object]) -> None:
    request = params[0] if params else None
    if isinstance(request, Mapping) and request.get("gas") is not None and _quantity(request["gas"]) > MAX_CALL_GAS:
        raise ValueError(f"At most {MAX_CALL_GAS} gas.")


def _bound_fees(params: Sequence[object]) -> None:
    if _quantity(params[0] if params else None) > MAX_FEE_BLOCKS:
        raise ValueError(f"At most {MAX_FEE_BLOCKS} blocks.")
    if any(isinstance(one, list) and len(one) > MAX_FEE_PERCENTILES for one in params):
        raise ValueError(f"At most {MAX_FEE_PERCENTILES} percentiles.")


def _height(reference: object, head: int) -> int:
    if reference == "earliest":
        return 0
    if reference in (None, "latest", "pending", "safe", "finalized"):
        return head
    return min(_quantity(reference), head)


def _quantity(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and value.startswith("0x"):
        return int(value, 16)
    raise ValueError("A number must be hex, as in JSON-RPC of Ethereum.")
