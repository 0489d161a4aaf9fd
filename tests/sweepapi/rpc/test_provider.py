"""Every response of a provider is checked, whatever it is, and no error shows its URL."""

import json
import time
import traceback
from collections.abc import Callable
from typing import Any

import pytest

from sweepapi.evm.chain.providers import target_of
from sweepapi.evm.encoding import responses
from sweepapi.rpc import Call, ErrorPolicy, Provider, provider
from sweepapi.rpc.errors import BadResponseError, CallFailedError
from tests import fake_node
from tests.fake_node import FakeNode
from tests.local_chain import LocalChain
from tests.sweepapi.rpc.calls import HEAD, NUMBER, Reply, error

SECRET = "key-in-the-url"
ZERO = "0x" + "00" * 20
CHAIN_ID = hex(31337)


@pytest.fixture
def node(start_node: Callable[[], FakeNode]) -> FakeNode:
    return start_node()


def provider_of(url: str, *, chain_id: int = 31337) -> Provider:
    return Provider(url=f"{url}/{SECRET}", target=target_of(chain_id), position=0)


def results(*values: Any) -> Reply:
    """Return these results for a batch, in the order of its ids."""
    return lambda batch: (
        200,
        json.dumps(
            [
                {"jsonrpc": "2.0", "id": request["id"], "result": value}
                for request, value in zip(batch, values, strict=True)
            ]
        ).encode(),
    )


def test_a_batch_is_one_request_and_the_first_one_also_checks_the_chain(node: FakeNode) -> None:
    provider = provider_of(node.url)
    head, number = provider.batch([HEAD, NUMBER], timeout_seconds=2)
    assert provider.health.head is not None
    assert head.number == number == provider.health.head.number
    provider.batch([NUMBER], timeout_seconds=2)
    assert node.asked == [["eth_chainId", "eth_getBlockByNumber", "eth_blockNumber"], ["eth_blockNumber"]]


@pytest.mark.parametrize(
    "refusal",
    [
        lambda _batch: (413, b""),
        lambda _batch: (400, b"too many"),
        lambda _batch: (200, b'{"id": null, "error": {"code": -32000, "message": "batch limit exceeded"}}'),
        lambda batch: (200, json.dumps([{"id": batch[0]["id"], "error": {"message": "batch too large"}}]).encode()),
    ],
)
def test_a_batch_that_is_too_large_for_a_provider_is_halved_and_so_are_later_ones(
    node: FakeNode, refusal: Reply
) -> None:
    node.raw = lambda batch: refusal(batch) if len(batch) > 60 else results(*[CHAIN_ID] * len(batch))(batch)
    provider = provider_of(node.url)
    assert provider.batch([NUMBER] * 199, timeout_seconds=2) == [31337] * 199
    assert [len(batch) for batch in node.asked] == [200, 100, 50, 50, 50, 50]
    assert provider.health.failures == 0
    node.asked.clear()
    provider.batch([NUMBER] * 60, timeout_seconds=2)
    assert [len(batch) for batch in node.asked] == [50, 10]


def test_a_provider_that_refuses_small_batches_too_keeps_its_limit(node: FakeNode) -> None:
    node.raw = lambda _batch: (413, b"")
    provider = provider_of(node.url)
    with pytest.raises(BadResponseError):
        provider.batch([NUMBER] * 100, timeout_seconds=2)
    assert provider.health.failures == 1
    assert [len(batch) for batch in node.asked] == [101, 50, 25, 12, 6, 3, 1, 1]
    node.raw = lambda batch: results(*[CHAIN_ID] * len(batch))(batch)
    node.asked.clear()
    provider.batch([NUMBER] * 999, timeout_seconds=2)
    assert len(node.asked) == 1


def test_responses_are_matched_by_id_and_not_by_position(node: FakeNode) -> None:
    node.raw = lambda batch: (
        200,
        json.dumps(
            [
                {"id": request["id"], "result": CHAIN_ID if request["method"] == "eth_chainId" else "0x7"}
                for request in reversed(batch)
            ]
        ).encode(),
    )
    assert provider_of(node.url).batch([NUMBER], timeout_seconds=2) == [7]


@pytest.mark.parametrize(
    "reply",
    [
        lambda _batch: (200, b""),
        lambda _batch: (200, b"<html>"),
        lambda _batch: (200, b"null"),
        lambda _batch: (200, b"7"),
        lambda _batch: (200, b"[]"),
        lambda _batch: (200, b"[1, 2]"),
        lambda _batch: (200, b"[null, null]"),
        lambda _batch: (200, b'{"error": {"code": -32600}}'),
        lambda _batch: (200, b"\xff\xfe"),
        lambda _batch: (200, b"[" * 100_000 + b"]" * 100_000),
        lambda _batch: (200, b'[{"id": 1, "result": ' + b"9" * 5_000 + b"}]"),
        lambda batch: (200, json.dumps([{"id": [r["id"]], "result": CHAIN_ID} for r in batch]).encode()),
        lambda batch: (200, json.dumps([{"id": r["id"]} for r in batch]).encode()),
        lambda batch: (
            200,
            json.dumps([{"id": "a" if i else 1, "result": "0x1"} for i, _ in enumerate(batch)]).encode(),
        ),
        lambda batch: (200, json.dumps([{"id": 1, "result": CHAIN_ID} for _ in batch]).encode()),
        lambda batch: (200, json.dumps([{"result": CHAIN_ID} for _ in batch]).encode()),
        lambda _batch: (500, b"[]"),
        lambda _batch: (302, b""),
        results(CHAIN_ID, None),
        results(CHAIN_ID, 7),
        results(CHAIN_ID, "7"),
        results(CHAIN_ID, "0x"),
        results(CHAIN_ID, "0x" + "f" * 65),
        results(CHAIN_ID, ["0x7"]),
        results(None, "0x7"),
        error(-32000, "header not found"),
    ],
)
def test_an_invalid_response_is_refused_and_its_error_does_not_show_the_url(
    node: FakeNode, caplog: pytest.LogCaptureFixture, reply: Reply
) -> None:
    node.raw = reply
    provider = provider_of(node.url)
    with pytest.raises(BadResponseError) as caught:
        provider.batch([NUMBER], timeout_seconds=2)
    assert provider.health.failures == 1
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    assert SECRET not in caplog.text + repr(provider)


def test_the_error_of_an_unreachable_node_does_not_show_its_url() -> None:
    with pytest.raises(BadResponseError) as caught:
        provider_of("http://127.0.0.1:1").batch([NUMBER], timeout_seconds=2)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_a_node_that_hangs_times_out(node: FakeNode) -> None:
    with node.hung(), pytest.raises(BadResponseError, match="ReadTimeout"):
        provider_of(node.url).batch([NUMBER], timeout_seconds=0.1)


def test_a_node_that_trickles_times_out() -> None:
    with fake_node.trickling() as url:
        started = time.monotonic()
        with pytest.raises(BadResponseError):
            provider_of(url).batch([NUMBER], timeout_seconds=0.2)
        assert time.monotonic() - started < 10


def test_a_response_over_the_limit_is_not_read_to_the_end(node: FakeNode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider, "MAX_RESPONSE_BYTES", 1_000)
    node.raw = lambda _batch: (200, b" " * 1_001)
    with pytest.raises(BadResponseError, match="BodyTooLongError"):
        provider_of(node.url).batch([NUMBER], timeout_seconds=2)


def test_a_compressed_response_is_read(node: FakeNode) -> None:
    node.gzips = True
    assert provider_of(node.url).batch([NUMBER], timeout_seconds=2)[0] > 0


def test_a_long_response_is_read_quickly(node: FakeNode) -> None:
    node.raw = results(CHAIN_ID, "0x" + "ab" * 500_000)
    started = time.monotonic()
    (value,) = provider_of(node.url).batch([Call("eth_getCode", (), responses.data)], timeout_seconds=5)
    assert len(value) == 500_000
    assert time.monotonic() - started < 4


EVM_CALL = Call("eth_call", ({}, "latest"), responses.data, ErrorPolicy.EXECUTION)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (3, "execution reverted"),
        (-32000, "execution reverted: STF"),
        (-32000, "out of gas"),
        (-32015, "VM execution error."),
        (-32603, "EVM error: InvalidFEOpcode"),
    ],
)
def test_an_execution_failure_is_a_result_if_the_policy_accepts_it(node: FakeNode, code: int, message: str) -> None:
    node.raw = error(code, message, data="Reverted 0x")
    (failure,) = provider_of(node.url).batch([EVM_CALL], timeout_seconds=2)
    assert isinstance(failure, CallFailedError)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (-32005, "limit exceeded"),
        (-32000, "header not found"),
        (-32603, "internal error"),
        ([1], None),
    ],
)
def test_a_failure_of_the_provider_is_never_mistaken_for_a_revert(
    node: FakeNode, code: Any, message: str | None
) -> None:
    node.raw = error(code, message)
    with pytest.raises(BadResponseError, match="the node returned an error"):
        provider_of(node.url).batch([EVM_CALL], timeout_seconds=2)


def test_any_error_is_a_result_if_the_policy_accepts_it(node: FakeNode) -> None:
    node.raw = error(4444, "pruned history unavailable")
    call = Call("eth_getTransactionReceipt", ("0x",), responses.data, ErrorPolicy.ANY)
    (failure,) = provider_of(node.url).batch([call], timeout_seconds=2)
    assert isinstance(failure, CallFailedError)


def test_a_real_revert_is_a_result(chain: LocalChain) -> None:
    transfer = "0xa9059cbb" + f"{1:064x}{2**256 - 1:064x}"
    request = {"from": chain.users[0].address, "to": chain.token("USDC").address, "data": transfer}
    call = Call("eth_call", (request, "latest"), responses.data, ErrorPolicy.EXECUTION)
    provider = Provider(url=chain.world["rpcUrl"], target=target_of(31337), position=0)
    (failure,) = provider.batch([call], timeout_seconds=2)
    assert isinstance(failure, CallFailedError)


@pytest.mark.parametrize("seconds", [-3600, 3600])
def test_a_head_too_far_from_the_servers_clock_is_refused(node: FakeNode, seconds: int) -> None:
    head = {"number": "0x1", "hash": "0x" + "11" * 32, "timestamp": hex(int(time.time()) + seconds)}
    node.alter = lambda method, _params, result: head if method == "eth_getBlockByNumber" else result
    provider = Provider(url=node.url, target=target_of(31337, max_head_age_seconds=120), position=0)
    with pytest.raises(BadResponseError, match="too far from the server"):
        provider.batch([Call("eth_getBlockByNumber", ("latest", False), responses.block)], timeout_seconds=2)
