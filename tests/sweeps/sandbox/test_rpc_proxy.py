"""The RPC proxy: it passes what wallets and clients need, and nothing that changes the chain or spends its accounts."""

import json
from typing import Any

import pytest

from sweeps.sandbox import node, rpc_proxy
from sweeps.sandbox.rpc_proxy import MAX_CALLS, METHODS
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
    assert not METHODS & set(REFUSED)
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


@pytest.mark.parametrize("raw", [b"{", b"", b"\xff", b'{"id":1,"id":2}', b"[" * 50 + b"]" * 50, b"NaN", b"1e400"])
def test_malformed_json_is_a_parse_error(tester: SandboxUser, raw: bytes) -> None:
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


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("eth_getLogs", []),
        ("eth_getLogs", ["latest"]),
        ("eth_getLogs", [{"fromBlock": [1]}]),
        ("eth_getLogs", [{"fromBlock": "0xzz"}]),
        ("eth_call", [{"gas": hex(2**63)}, "latest"]),
        ("eth_call", [{"gas": {}}, "latest"]),
        ("eth_estimateGas", [{"gas": 30_000_001}]),
        ("eth_feeHistory", ["0x401", "latest", []]),
        ("eth_feeHistory", []),
        ("eth_feeHistory", ["0x1", "latest", [50] * 101]),
    ],
)
def test_what_takes_the_node_long_or_is_malformed_is_refused(
    tester: SandboxUser, method: str, params: list[Any]
) -> None:
    assert code_of(tester.answer(call(method, *params))) == -32602


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
