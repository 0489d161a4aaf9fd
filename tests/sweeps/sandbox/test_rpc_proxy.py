"""The RPC proxy: it passes what wallets and clients need, and nothing that changes the chain or spends its accounts."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from sweepapi import networks
from sweeps.sandbox import node, rpc_proxy
from sweeps.sandbox.node import SandboxNode, node_of
from sweeps.sandbox.rpc_params import MAX_CALL_GAS, METHODS
from sweeps.sandbox.rpc_proxy import MAX_CALLS, MAX_SEARCHES
from tests.factories.sweeps import LOCAL
from tests.partner_app import error_of
from tests.sweeps.sandbox.tester import SandboxUser

pytestmark = pytest.mark.django_db

REFUSED = [
    *("anvil_setBalance", "anvil_mine", "anvil_impersonateAccount", "anvil_reorg", "anvil_rollback", "anvil_setCode"),
    *("evm_mine", "evm_increaseTime", "evm_revert", "evm_setAutomine", "hardhat_setBalance", "hardhat_mine"),
    *("debug_traceTransaction", "debug_getRawTransaction", "trace_block", "txpool_content", "personal_sign", "admin_x"),
    *("eth_sendTransaction", "eth_sendUnsignedTransaction", "eth_accounts", "eth_sign", "eth_signTransaction"),
    *("eth_signTypedData", "eth_signTypedData_v4", "eth_subscribe", "eth_newFilter", "eth_mining", "eth_simulateV1"),
    *("eth_sendRawTransactionSync", "wallet_sendCalls", "ETH_CALL", "eth_call ", "erigon_getHeaderByNumber", ""),
]

UNUSABLE_IDS: list[object] = [None, True, 1.5, [], {}, "x" * 65]


def call(method: object, *params: Any, **fields: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": params} | fields


def code_of(answer: dict[str, Any]) -> int:
    code: int = answer["error"]["code"]
    return code


@pytest.mark.parametrize("method", REFUSED)
def test_a_method_that_is_not_listed_is_not_found(tester: SandboxUser, method: str) -> None:
    answer = tester.answer(call(method))
    assert (answer["id"], code_of(answer)) == (7, -32601)


def test_every_listed_method_reads_or_sends_what_is_signed() -> None:
    assert all(name.startswith(("eth_", "net_", "web3_")) for name in METHODS)
    assert not METHODS.keys() & set(REFUSED)
    assert {name for name in METHODS if "send" in name.lower() or "sign" in name.lower()} == {"eth_sendRawTransaction"}


def test_reads_are_passed_as_they_are(tester: SandboxUser) -> None:
    assert tester.rpc("eth_chainId") == hex(tester.app.chain.world["chainId"])
    assert tester.rpc("net_version") == str(tester.app.chain.world["chainId"])
    assert tester.rpc("web3_sha3", "0x") == "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
    assert tester.rpc("eth_getTransactionReceipt", "0x" + "ab" * 32) is None


def test_an_error_of_the_node_keeps_its_code_and_its_data(tester: SandboxUser) -> None:
    usdc = tester.app.chain.token("USDC").address
    transfer = "0xa9059cbb" + "11" * 32 + "ff" * 32
    answer = tester.answer(call("eth_call", {"to": usdc, "data": transfer}, "latest"))
    assert code_of(answer) == 3
    assert answer["error"]["data"].startswith("0x")
    assert code_of(tester.answer(call("eth_sendRawTransaction", "0x1234"))) == -32602


def test_a_batch_is_answered_in_order_with_the_ids_of_the_caller(tester: SandboxUser) -> None:
    calls = [call("eth_chainId", id="a"), call("evm_mine", id=2), call("eth_blockNumber", id=3), 5]
    answers = tester.answer(calls)
    assert [answer["id"] for answer in answers] == ["a", 2, 3, None]
    assert ["result" in answer for answer in answers] == [True, False, True, False]


@pytest.mark.parametrize("body", [[], [call("eth_chainId")] * (MAX_CALLS + 1)])
def test_a_batch_is_bounded(tester: SandboxUser, body: list[Any]) -> None:
    assert code_of(tester.answer(body)) == -32600


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"jsonrpc": "1.0", "id": 1, "method": "eth_chainId"},
        {"jsonrpc": "2.0", "method": "eth_chainId"},
        *(call(method) for method in (None, 1, ["eth_chainId"], {"eth_chainId": 1})),
        *(call("eth_chainId", id=unusable) for unusable in UNUSABLE_IDS),
    ],
)
def test_anything_but_a_call_is_an_invalid_request(tester: SandboxUser, body: object) -> None:
    assert code_of(tester.answer(body)) == -32600


@pytest.mark.parametrize(
    "raw", [b"{", b"", b"\xff", b'{"id":1,"id":2}', b'{"feeBps":1}', b"[" * 50 + b"]" * 50, b"NaN", b"1e400"]
)
def test_what_is_not_read_as_json_is_a_parse_error(tester: SandboxUser, raw: bytes) -> None:
    response = tester.app.api.post("/v2/sandbox/rpc/local", raw, content_type="application/json")
    assert (response.status_code, code_of(response.json())) == (200, -32700)


def test_a_body_that_is_too_large_is_refused(tester: SandboxUser) -> None:
    body = json.dumps(call("eth_sendRawTransaction", "0x" + "00" * 131_072))
    response = tester.app.api.post("/v2/sandbox/rpc/local", body, content_type="application/json")
    assert error_of(response) == (413, "payload_too_large")


@pytest.mark.parametrize(
    "params",
    [[], ["0x"], [{}, "latest"], [7], ["0xzz"], ["0x1"], ["00"], ["0x00", "0x00"], [None], {"raw": "0x00"}],
)
def test_a_transaction_that_is_none_is_refused(tester: SandboxUser, params: Any) -> None:
    head = tester.rpc("eth_blockNumber")
    assert code_of(tester.answer(call("eth_sendRawTransaction", params=params))) in (-32602, -32003, -32000)
    assert tester.rpc("eth_blockNumber") == head


LOOP = {"data": "0x5b600056"}
ACCOUNT, HASH = "0x" + "11" * 20, "0x" + "ab" * 32


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("eth_call", [LOOP, "latest", {}, {"gasLimit": "0x4a817c800"}]),
        ("eth_call", [LOOP, "latest", {}]),
        ("eth_call", [LOOP, "latest", {ACCOUNT: {"code": "0x5b600056"}}]),
        ("eth_call", [LOOP, {"blockNumber": "0x1", "gasLimit": "0x4a817c800"}]),
        ("eth_call", [LOOP | {"gasLimit": "0x4a817c800"}, "latest"]),
        ("eth_call", [LOOP | {"gas": "0x4a817c800"}, "latest"]),
        ("eth_call", [LOOP | {"gas": MAX_CALL_GAS + 1}, "latest"]),
        ("eth_call", [LOOP | {"gas": hex(2**63)}, "latest"]),
        ("eth_call", [LOOP | {"gas": {}}, "latest"]),
        ("eth_call", [LOOP | {"gas": -1}, "latest"]),
        ("eth_call", [LOOP | {"gas": 1e6}, "latest"]),
        ("eth_call", [LOOP | {"stateOverride": {}}, "latest"]),
        ("eth_call", [LOOP | {"input": "0x00"}, "latest"]),
        ("eth_call", [LOOP | {"accessList": [{"address": ACCOUNT, "storageKeys": [HASH] * 101}]}, "latest"]),
        ("eth_call", [LOOP | {"authorizationList": [{}] * 17}, "latest"]),
        ("eth_call", [LOOP | {"to": "0x11"}, "latest"]),
        ("eth_call", [LOOP | {"data": "0x5"}, "latest"]),
        ("eth_call", [LOOP, "newest"]),
        ("eth_call", [LOOP, {"blockHash": HASH, "blockNumber": "0x1"}]),
        ("eth_call", [LOOP, {}]),
        ("eth_call", ["0x", "latest"]),
        ("eth_call", []),
        ("eth_createAccessList", [LOOP, "latest", {}]),
        ("eth_estimateGas", [LOOP | {"gas": 30_000_001}]),
        ("eth_estimateGas", [LOOP, "latest", {}]),
        ("eth_estimateGas", [LOOP, "latest", {}, {"gasLimit": "0x4a817c800"}]),
        ("eth_chainId", [1]),
        ("eth_feeHistory", ["0x401", "latest", []]),
        ("eth_feeHistory", []),
        ("eth_feeHistory", ["0x1", "latest", [50] * 101]),
        ("eth_feeHistory", ["0x1", "latest", [101]]),
        ("eth_feeHistory", ["0x1", "latest", ["50"]]),
        ("eth_getBalance", [ACCOUNT[:-1]]),
        ("eth_getBalance", [ACCOUNT, "0x" + "1" * 65]),
        ("eth_getBlockByHash", [HASH[:-2], False]),
        ("eth_getBlockByNumber", ["latest", "true"]),
        ("eth_getLogs", []),
        ("eth_getLogs", ["latest"]),
        ("eth_getLogs", [{"fromBlock": [1]}]),
        ("eth_getLogs", [{"fromBlock": "0xzz"}]),
        ("eth_getLogs", [{"address": [ACCOUNT] * 101}]),
        ("eth_getLogs", [{"topics": [None] * 5}]),
        ("eth_getLogs", [{"topics": [[HASH] * 101]}]),
        ("eth_getLogs", [{"blockHash": HASH, "fromBlock": "0x0"}]),
        ("eth_getLogs", [{"limit": "0x1"}]),
        ("eth_getProof", [ACCOUNT, ["0x0"] * 101, "latest"]),
        ("eth_getStorageAt", [ACCOUNT, "0x", "latest"]),
        ("web3_sha3", ["00"]),
    ],
)
def test_what_has_no_place_in_the_shape_of_a_method_never_reaches_the_node(
    tester: SandboxUser, asked: Callable[..., list[str]], method: str, params: list[Any]
) -> None:
    node_of(networks.current(), LOCAL)
    methods = asked()
    assert code_of(tester.answer(call(method, *params))) == -32602
    assert methods == []


@pytest.mark.parametrize("method", ["eth_call", "eth_estimateGas", "eth_createAccessList"])
@pytest.mark.parametrize(
    ("sent", "gas"), [({}, hex(MAX_CALL_GAS)), ({"gas": None}, hex(MAX_CALL_GAS)), ({"gas": "0x0c350"}, "0xc350")]
)
def test_a_call_reaches_the_node_as_it_is_built_here_and_always_with_gas(
    tester: SandboxUser, monkeypatch: pytest.MonkeyPatch, method: str, sent: dict[str, Any], gas: str
) -> None:
    node_of(networks.current(), LOCAL)
    calls = []

    def ask(_node: SandboxNode, *call: object) -> str:
        calls.append(call)
        return "0x1"

    monkeypatch.setattr(SandboxNode, "ask", ask)
    tester.answer(call(method, {"to": ACCOUNT, "data": "0x00", "value": 5, **sent}, "pending"))
    assert calls == [(method, {"gas": gas, "to": ACCOUNT, "value": "0x5", "input": "0x00"}, "latest")]


def test_estimates_are_bounded_in_number(tester: SandboxUser) -> None:
    estimate = call("eth_estimateGas", {"to": ACCOUNT})
    answers = tester.answer([estimate] * MAX_SEARCHES + [call("eth_createAccessList", {"to": ACCOUNT}), estimate])
    assert ["result" in answer for answer in answers] == [True] * MAX_SEARCHES + [False, False]
    assert code_of(answers[-1]) == -32602


def test_what_clients_send_is_answered(tester: SandboxUser) -> None:
    block = tester.advance()["head"]
    fees = {"maxFeePerGas": "0x77359400", "maxPriorityFeePerGas": "0x1"}
    access = [{"address": ACCOUNT, "storageKeys": [HASH]}]
    own = {"from": tester.wallet.address, "to": ACCOUNT, "nonce": "0x0", "type": "0x2", "chainId": "0x7a69"}
    authorization = {"chainId": "0x7a69", "address": ACCOUNT, "nonce": "0x0", "yParity": "0x0", "r": "0x1", "s": "0x1"}
    sent: list[tuple[str, list[Any]]] = [
        ("eth_call", [{"from": None, "to": ACCOUNT, "data": "0x", "input": "0x"}]),
        ("eth_call", [own | {"accessList": access, "value": "0x0"}, "latest"]),
        ("eth_call", [{"to": ACCOUNT, "authorizationList": [authorization]}, block["hash"]]),
        ("eth_call", [{"to": ACCOUNT}, {"blockHash": block["hash"], "requireCanonical": True}]),
        ("eth_estimateGas", [{"to": ACCOUNT, "value": "0x0"} | fees]),
        ("eth_estimateGas", [{"to": ACCOUNT}, "pending"]),
        ("eth_createAccessList", [{"to": ACCOUNT}, "latest"]),
        ("eth_feeHistory", [2, "latest"]),
        ("eth_feeHistory", ["0x02", "pending", [1.5, 50, 99]]),
        ("eth_getBalance", [ACCOUNT]),
        ("eth_getTransactionCount", [ACCOUNT, "pending"]),
        ("eth_getCode", [ACCOUNT, {"blockNumber": hex(block["number"])}]),
        ("eth_getStorageAt", [ACCOUNT, "0x0", "finalized"]),
        ("eth_getProof", [ACCOUNT, ["0x0", HASH], "latest"]),
        ("eth_getBlockByNumber", ["latest"]),
        ("eth_getBlockByNumber", [hex(block["number"]), True]),
        ("eth_getBlockByHash", [block["hash"], False]),
        ("eth_getBlockReceipts", [block["hash"]]),
        ("eth_getBlockReceipts", ["latest"]),
        ("eth_getBlockTransactionCountByHash", [block["hash"]]),
        ("eth_getBlockTransactionCountByNumber", ["safe"]),
        ("eth_getLogs", [{"address": ACCOUNT, "topics": [None, [HASH], HASH], "fromBlock": "0x1", "toBlock": "0x2"}]),
        ("eth_getLogs", [{"address": [ACCOUNT]}]),
        ("eth_getTransactionByBlockHashAndIndex", [block["hash"], "0x0"]),
        ("eth_getTransactionByBlockNumberAndIndex", ["latest", "0x0"]),
        ("eth_getTransactionByHash", [HASH]),
    ]
    for method, params in sent:
        tester.rpc(method, *params)
    for method in (method for method, shape in METHODS.items() if not shape):
        tester.rpc(method)


@pytest.mark.parametrize(
    "wanted",
    [
        {"fromBlock": "earliest"},
        {"fromBlock": "0x0", "toBlock": "latest"},
        {"blockHash": None, "fromBlock": "0x0", "toBlock": "latest"},
    ],
)
def test_logs_are_read_over_a_bounded_range(
    tester: SandboxUser, monkeypatch: pytest.MonkeyPatch, wanted: dict[str, str | None]
) -> None:
    assert isinstance(tester.rpc("eth_getLogs", {"fromBlock": "latest"}), list)
    assert isinstance(tester.rpc("eth_getLogs", {"blockHash": tester.advance()["head"]["hash"]}), list)
    monkeypatch.setattr(rpc_proxy, "MAX_LOG_BLOCKS", 3)
    assert code_of(tester.answer(call("eth_getLogs", wanted))) == -32602


def test_a_large_result_is_refused(tester: SandboxUser, monkeypatch: pytest.MonkeyPatch) -> None:
    tester.rpc("eth_blockNumber")  # the first use of the node reads a block to find out of which chain it is
    monkeypatch.setattr(node, "MAX_RESPONSE_BYTES", 100)
    assert code_of(tester.answer(call("eth_getBlockByNumber", "latest", True))) == -32000  # noqa: FBT003 JSON-RPC


def test_the_results_of_a_batch_are_bounded_together(tester: SandboxUser, monkeypatch: pytest.MonkeyPatch) -> None:
    block = call("eth_getBlockByNumber", "latest", False)  # noqa: FBT003 JSON-RPC
    monkeypatch.setattr(rpc_proxy, "MAX_ANSWER_BYTES", 2 * len(json.dumps(tester.answer(block))))
    answers = tester.answer([block, block | {"id": 8}, block | {"id": 9}, call("eth_chainId")])
    assert ["result" in answer for answer in answers] == [True, True, False, False]
    assert (answers[2]["id"], code_of(answers[2])) == (9, -32000)


def test_as_many_percentiles_as_wallets_ask_for_are_answered(tester: SandboxUser) -> None:
    history = tester.rpc("eth_feeHistory", "0x2", "latest", list(range(100)))
    assert [len(rewards) for rewards in history["reward"]] == [100, 100]


def test_calls_after_the_time_is_up_are_not_made(tester: SandboxUser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc_proxy, "TIMEOUT_SECONDS", -1.0)
    assert code_of(tester.answer(call("eth_chainId"))) == -32000
