"""Serves the JSON-RPC of a node whose chain charges for data as Nitro does, by means of anvil, which does not.

A call, a simulation or a transaction is passed on with its gas limit less the gas for its data; what it used, with that
gas. Its sender then pays for it. Nothing refunds it, and it does not count towards the limits of a block.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import requests
from eth_abi.abi import decode, encode
from eth_account import Account
from eth_account.typed_transactions.typed_transaction import TypedTransaction
from eth_utils.crypto import keccak
from hexbytes import HexBytes

from dev.chain.nitro.charging import ESTIMATE_PERCENT, Prices, data_of, simulated_units, units_of
from dev.chain.rpc import Rpc

NODE_INTERFACE, GAS_INFO = (f"0x{number:040x}" for number in (0xC8, 0x6C))
CALL_GAS = 50_000_000  # `node.rpc.gas-cap`, of an eth_call or an eth_simulateV1
INTRINSIC_GAS = 21_000
COMPUTE_GAS = (
    30_000_000  # what is left of a limit above it is held back; 32 million on Arbitrum One, more than anvil takes
)
BASE_FEE = 10_000_000  # the least of Arbitrum One
GAS_OF_ESTIMATES = 0x1F4C5BCE  # any number of four bytes

Params = list[Any]


class RefusedError(Exception):
    """What the node answers instead of a result."""

    def __init__(self, message: str, **fields: object) -> None:
        super().__init__(message)
        self.error = {"code": -32000, "message": message, **fields}


def _selector(signature: str) -> bytes:
    return keccak(text=signature)[:4]


@dataclass
class NitroNode:
    """The node, and the prices of its chain: in wei, per unit of data (a sixteenth of a compressed byte) and of gas."""

    upstream: Rpc
    data_price: int
    base_fee: int = BASE_FEE
    min_base_fee: int = BASE_FEE
    url: str = ""
    gas_for_data: dict[str, int] = field(default_factory=dict)  # by the hash of a transaction that was sent

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to one request."""
        head = {"jsonrpc": "2.0", "id": request["id"]}
        respond = self._own.get(request["method"])
        try:
            if respond is not None:
                return {**head, "result": respond(list(request.get("params", [])))}
        except RefusedError as refusal:
            return {**head, "error": refusal.error}
        return {**head, **self._ask(request["method"], list(request.get("params", [])))}

    @property
    def _own(self) -> Mapping[str, Callable[[Params], Any]]:
        return {
            "eth_call": self._call,
            "eth_estimateGas": self._estimate,
            "eth_simulateV1": self._simulate,
            "eth_sendRawTransaction": self._send,
            "eth_getTransactionReceipt": self._receipt,
            "eth_getTransactionByHash": self._transaction,
            "eth_getBlockByNumber": self._block,
            "eth_feeHistory": lambda params: self._result("eth_feeHistory", params) | self._base_fees,
            "eth_maxPriorityFeePerGas": lambda _params: "0x0",
            "eth_gasPrice": lambda _params: hex(self.base_fee),
        }

    @property
    def _base_fees(self) -> dict[str, list[str]]:
        return {"baseFeePerGas": [hex(self.base_fee)] * 2}

    def _block(self, params: Params) -> Any:  # noqa: ANN401 - as the node answers
        block = self._result("eth_getBlockByNumber", params)
        return None if block is None else block | {"baseFeePerGas": hex(self.base_fee)}

    def prices(self, base_fee: int | None = None) -> Prices:
        """Return the prices of a block with this base fee, by default the current one."""
        return Prices(self.data_price, self.base_fee if base_fee is None else base_fee, self.min_base_fee)

    # --- calls --------------------------------------------------------------------------------------------------------

    def _call(self, params: Params) -> Any:  # noqa: ANN401 - as the node answers
        message, *rest = params
        if message.get("to", "").lower() == NODE_INTERFACE:
            return self._node_interface(message)
        if message.get("to", "").lower() == GAS_INFO:
            return self._gas_info(data_of(message))
        block = rest[2] if len(rest) > 2 else {}  # noqa: PLR2004 - the block overrides are the fourth parameter
        prices = self.prices(int(block["baseFeePerGas"], 16) if "baseFeePerGas" in block else None)
        gas = min(int(message.get("gas", hex(CALL_GAS)), 16), CALL_GAS)
        inside = _inside(message, gas, prices)
        return self._result("eth_call", [{**message, "gas": hex(inside)}, *rest[:2]])

    def _estimate(self, params: Params) -> str:
        message, *rest = params
        used = int(self._result("eth_estimateGas", [message, *rest]), 16)
        return hex(used + self.prices().estimated_gas(simulated_units({**message, "gas": hex(GAS_OF_ESTIMATES)})))

    def _simulate(self, params: Params) -> Any:  # noqa: ANN401 - as the node answers
        payload, *rest = params
        charged: list[list[int]] = []
        blocks: list[dict[str, Any]] = []
        for block in payload["blockStateCalls"]:
            overrides = block.get("blockOverrides", {})
            prices = self.prices(int(overrides.get("baseFeePerGas", "0x0"), 16))
            charged.append([prices.gas(simulated_units(call)) for call in block.get("calls", [])])
            calls = [_at_price(call, prices) for call in block.get("calls", [])]
            blocks.append({**block, "calls": calls})
        results = self._result("eth_simulateV1", [{**payload, "blockStateCalls": blocks}, *rest])
        self._refuse_beyond_pool(payload["blockStateCalls"], results, charged)
        for block, data_gas in zip(results, charged, strict=True):
            for call, gas in zip(block["calls"], data_gas, strict=True):
                call["gasUsed"] = hex(int(call["gasUsed"], 16) + gas)
        return results

    def _refuse_beyond_pool(self, asked: Any, results: Any, charged: list[list[int]]) -> None:  # noqa: ANN401 - JSON
        """All calls of a simulation share the gas of one call; the gas for data is part of it."""
        left = CALL_GAS
        for block, result, data_gas in zip(asked, results, charged, strict=True):
            for call, outcome, gas in zip(block.get("calls", []), result["calls"], data_gas, strict=True):
                if int(call["gas"], 16) > left:
                    raise RefusedError("gas limit reached")
                left -= int(outcome["gasUsed"], 16) + gas

    def _node_interface(self, message: dict[str, Any]) -> str:
        data = data_of(message)
        to, creates, inner = decode(["address", "bool", "bytes"], data[4:])
        if creates:
            raise RefusedError("contract creation is not simulated here")
        asked = {"to": to, "data": f"0x{inner.hex()}", "gas": hex(GAS_OF_ESTIMATES), "from": message.get("from")}
        asked = {name: value for name, value in asked.items() if value is not None}
        prices, units = self.prices(), simulated_units(asked)
        if data[:4] == _selector("gasEstimateL1Component(address,bool,bytes)"):
            gas = units * prices.data * ESTIMATE_PERCENT // 100 // prices.base_fee
            return _encoded(["uint64", "uint256", "uint256"], gas, prices.base_fee, prices.data)
        if data[:4] == _selector("gasEstimateComponents(address,bool,bytes)"):
            del asked["gas"]
            total = int(self._estimate([asked]), 16)
            types = ["uint64", "uint64", "uint256", "uint256"]
            return _encoded(types, total, prices.estimated_gas(units), prices.base_fee, prices.data)
        raise RefusedError("execution reverted")

    def _gas_info(self, data: bytes) -> str:
        known = {
            _selector("getMinimumGasPrice()"): self.min_base_fee,
            _selector("getL1BaseFeeEstimate()"): self.data_price,
        }
        if data not in known:
            raise RefusedError("execution reverted")
        return _encoded(["uint256"], known[data])

    # --- transactions -------------------------------------------------------------------------------------------------

    def _send(self, params: Params) -> str:
        raw = bytes.fromhex(params[0][2:])
        sent: dict[str, Any] = TypedTransaction.from_bytes(HexBytes(raw)).as_dict()
        sender = Account.recover_transaction(raw)
        prices = self.prices()
        message = {
            "from": sender,
            "to": HexBytes(sent["to"]).to_0x_hex(),
            "data": HexBytes(sent["data"]).to_0x_hex(),
            "value": hex(sent["value"]),
            "nonce": hex(sent["nonce"]),
            "maxFeePerGas": hex(sent["maxFeePerGas"]),
            "maxPriorityFeePerGas": "0x0",  # the chain drops tips
            **_authorizations(sent),
        }
        balance = int(self.upstream.call("eth_getBalance", sender, "latest"), 16)
        if balance < sent["gas"] * sent["maxFeePerGas"] + sent["value"]:
            raise RefusedError("insufficient funds for gas * price + value")
        charged = prices.gas(units_of(raw))
        inside = min(sent["gas"] - charged, COMPUTE_GAS)
        if inside < INTRINSIC_GAS:
            raise RefusedError("intrinsic gas too low")
        self.upstream.call("anvil_setNextBlockBaseFeePerGas", hex(prices.base_fee))
        self.upstream.call("anvil_impersonateAccount", sender)
        try:
            tx_hash: str = self._result("eth_sendTransaction", [{**message, "gas": hex(inside)}])
        finally:
            self.upstream.call("anvil_stopImpersonatingAccount", sender)
        self.gas_for_data[tx_hash] = charged
        left = int(self.upstream.call("eth_getBalance", sender, "latest"), 16)
        self.upstream.call("anvil_setBalance", sender, hex(left - charged * prices.base_fee))
        return tx_hash

    def _receipt(self, params: Params) -> Any:  # noqa: ANN401 - as the node answers
        receipt = self._result("eth_getTransactionReceipt", params)
        if receipt is None:
            return None
        gas = self.gas_for_data.get(receipt["transactionHash"], 0)
        return {**receipt, "gasUsed": hex(int(receipt["gasUsed"], 16) + gas), "gasUsedForL1": hex(gas)}

    def _transaction(self, params: Params) -> Any:  # noqa: ANN401 - as the node answers
        found = self._result("eth_getTransactionByHash", params)
        if found is None:
            return None
        return {**found, "gas": hex(int(found["gas"], 16) + self.gas_for_data.get(found["hash"], 0))}

    # --- anvil --------------------------------------------------------------------------------------------------------

    def _result(self, method: str, params: Params) -> Any:  # noqa: ANN401 - as the node answers
        answer = self._ask(method, params)
        if "error" in answer:
            raise RefusedError(**answer["error"])
        return answer["result"]

    def _ask(self, method: str, params: Params) -> dict[str, Any]:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer: dict[str, Any] = requests.post(self.upstream.url, json=body, timeout=60).json()
        return {name: answer[name] for name in ("result", "error") if name in answer}


def _inside(message: dict[str, Any], gas: int, prices: Prices) -> int:
    """Return the gas that is left for calldata and code."""
    left = gas - prices.gas(simulated_units(message))
    if left < INTRINSIC_GAS:
        raise RefusedError("intrinsic gas too low")
    return left


def _at_price(call: dict[str, Any], prices: Prices) -> dict[str, Any]:
    """Return a call of a simulation for anvil, which takes the tip alone for the price of gas."""
    passed = {name: value for name, value in call.items() if name not in ("maxFeePerGas", "maxPriorityFeePerGas")}
    price = {"gasPrice": hex(prices.base_fee)} if "maxFeePerGas" in call else {}
    return {**passed, **price, "gas": hex(_inside(call, int(call["gas"], 16), prices))}


def _encoded(types: list[str], *values: object) -> str:
    return f"0x{encode(types, values).hex()}"


def _authorizations(sent: dict[str, Any]) -> dict[str, Any]:
    listed = [
        {
            **{name: hex(one[name]) for name in ("chainId", "nonce", "yParity", "r", "s")},
            "address": HexBytes(one["address"]).to_0x_hex(),
        }
        for one in sent.get("authorizationList", [])
    ]
    return {"authorizationList": listed} if listed else {}


@contextmanager
def charging(upstream: str, *, ratio: int) -> Iterator[NitroNode]:
    """Serve such a node on a free port, whose units of data cost so many times the base fee."""
    rpc = Rpc(upstream)
    node = NitroNode(rpc, data_price=ratio * BASE_FEE)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # which would hold back the body for 40 ms

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answered = [node.answer(one) for one in asked] if isinstance(asked, list) else node.answer(asked)
            body = json.dumps(answered).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        node.url = f"http://127.0.0.1:{server.server_address[1]}"
        yield node
        server.shutdown()
