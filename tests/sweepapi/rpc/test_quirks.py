"""A provider whose answers are odd but legal is used as any other, and one that gives nothing costs few requests.

Each row of a table is one quirk. What clients put into an answer is in ``evm/encoding/odd_answers.json``.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest

from sweepapi.evm.chain.blocks import head_call, optional_block_call
from sweepapi.evm.chain.gas_price import gas_price_calls, gas_price_of
from sweepapi.evm.encoding import responses
from sweepapi.evm.encoding.responses import Block, GasPrice
from sweepapi.rpc import Call
from sweepapi.rpc.errors import BadResponseError, ThrottledError
from sweepapi.rpc.provider import PROOF_RECHECK_SECONDS
from tests.fake_node import FakeNode
from tests.sweepapi.rpc.calls import CHAIN_ID, HEAD, NUMBER, ManualClock, Reply, pool_of

Request = dict[str, Any]
Answer = dict[str, Any]

HASH = "0x" + "ab" * 32
BALANCE = Call("eth_getBalance", ("0x" + "00" * 20, "latest"), responses.quantity)
CALLS = [HEAD, *[NUMBER, BALANCE] * 5]
READ = [Block(16, HASH, 2), *[7, 5] * 5]
RESULTS = {
    "eth_chainId": hex(CHAIN_ID),
    "eth_getBlockByNumber": {"number": "0x10", "hash": HASH, "timestamp": "0x2"},
    "eth_blockNumber": "0x7",
    "eth_getBalance": "0x5",
}


def answers_to(batch: list[Request]) -> list[Answer]:
    return [{"jsonrpc": "2.0", "id": one["id"], "result": RESULTS[one["method"]]} for one in batch]


def failure(message: str, *, identifier: Any = None, code: int = -32000) -> Answer:
    return {"jsonrpc": "2.0", "id": identifier, "error": {"code": code, "message": message}}


def shaped(shape: Callable[[list[Answer]], Any]) -> Reply:
    """Answer with what this makes of the usual answers."""
    return lambda batch: (200, json.dumps(shape(answers_to(batch))).encode())


def in_bytes(change: Callable[[bytes], bytes]) -> Reply:
    return lambda batch: (200, change(json.dumps(answers_to(batch)).encode()))


def above(limit: int, refusal: Reply) -> Reply:
    """Refuse batches of more calls like this."""
    return lambda batch: refusal(batch) if len(batch) > limit else (200, json.dumps(answers_to(batch)).encode())


def said(answer: Callable[[list[Request]], Any]) -> Reply:
    return lambda batch: (200, json.dumps(answer(batch)).encode())


def without_the_first(answers: list[Answer]) -> list[Answer | None]:
    return [None, *answers[1:]] if len(answers) > 1 else [*answers]


def full_after_three(batch: list[Request]) -> list[Answer]:
    """What geth says of those calls whose answers do not fit any more."""
    return [
        one if i < 3 else failure("response too large", identifier=one["id"], code=-32003)
        for i, one in enumerate(answers_to(batch))
    ]


NOTIFICATION = {"jsonrpc": "2.0", "method": "eth_subscription", "params": {"subscription": "0x1", "result": "0x9"}}

# The quirk, and how many calls each request of the first read has, and of the second one: eleven, with the chain id at
# first.
QUIRKS: dict[str, tuple[Reply, list[int], list[int]]] = {
    "ids as strings": (shaped(lambda some: [one | {"id": str(one["id"])} for one in some]), [12], [11]),
    "another order": (shaped(lambda some: some[::-1]), [12], [11]),
    "a notification among the answers": (shaped(lambda some: [some[0], NOTIFICATION, *some[1:]]), [12], [11]),
    "a null among the answers": (shaped(lambda some: [*some, None]), [12], [11]),
    "other things among the answers": (shaped(lambda some: [7, "x", [], {}, *some, {"id": None}]), [12], [11]),
    "an answer twice": (shaped(lambda some: [*some, some[0]]), [12], [11]),
    "more members than are known": (shaped(lambda some: [one | {"usage": {"units": 1}} for one in some]), [12], [11]),
    "no version": (
        shaped(lambda some: [{"id": one["id"], "result": one["result"]} for one in some]),
        [12],
        [11],
    ),
    "a null error beside the result": (shaped(lambda some: [one | {"error": None} for one in some]), [12], [11]),
    "a byte-order mark": (in_bytes(lambda body: b"\xef\xbb\xbf" + body), [12], [11]),
    "white space around it": (in_bytes(lambda body: b"\r\n " + body + b" \n"), [12], [11]),
    "a null instead of an answer": (shaped(without_the_first), [12, 1], [11, 1]),
    "only three answers": (shaped(lambda some: some[:3]), [12, 6, 6, 3], [6, 3, 5, 2]),
    "only most of the answers": (shaped(lambda some: some[:8]), [12, 4], [11, 3]),
    "what did not fit": (said(full_after_three), [12, 6, 6, 3], [6, 3, 5, 2]),
    "an error for the batch": (
        above(3, said(lambda _: failure("batch limit exceeded"))),
        [12, 6, 3, 3, 3, 3],
        [3, 3, 3, 2],
    ),
    "an error for the batch in the first answer, as geth does": (
        above(3, said(lambda batch: [failure("batch too large", identifier=batch[0]["id"], code=-32600)])),
        [12, 6, 3, 3, 3, 3],
        [3, 3, 3, 2],
    ),
    "HTTP 413 for the batch": (above(3, lambda _: (413, b"")), [12, 6, 3, 3, 3, 3], [3, 3, 3, 2]),
    "HTTP 400 for the batch": (above(3, lambda _: (400, b"no")), [12, 6, 3, 3, 3, 3], [3, 3, 3, 2]),
    "an empty answer to the batch": (above(3, lambda _: (200, b"[]")), [12, 6, 3, 3, 3, 3], [3, 3, 3, 2]),
    "an object for a batch of one": (
        shaped(lambda some: some[0] if len(some) == 1 else failure("batch limit exceeded")),
        [12, 6, 3, *[1] * 12],
        [1] * 11,
    ),
}


@pytest.fixture
def node(start_node: Callable[[], FakeNode]) -> FakeNode:
    return start_node()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.mark.parametrize(("reply", "first", "second"), QUIRKS.values(), ids=QUIRKS)
def test_a_provider_with_a_quirk_is_used_and_its_limit_is_remembered(
    node: FakeNode, reply: Reply, first: list[int], second: list[int]
) -> None:
    node.raw = reply
    pool = pool_of(node.url)
    for expected in (first, second):
        node.asked.clear()
        assert pool.batch(CALLS) == READ
        assert [len(batch) for batch in node.asked] == expected
    (health,) = (one.health for one in pool.providers)
    assert (health.failed, health.error_rate) == (0, 0.0)


def test_a_provider_that_takes_no_batches_is_asked_call_by_call(
    node: FakeNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(body: bytes) -> tuple[int, bytes]:
        asked = json.loads(body)
        node.asked.append([])
        shown = failure("batches are not supported") if isinstance(asked, list) else answers_to([asked])[0]
        return 200, json.dumps(shown).encode()

    monkeypatch.setattr(node, "answer", answer)
    pool = pool_of(node.url)
    assert pool.batch(CALLS) == READ
    assert len(node.asked) == 4 + 12, "batches of 12, 6, 3 and 1, and each call alone"
    node.asked.clear()
    assert pool.batch(CALLS) == READ
    assert len(node.asked) == 11


def test_a_limit_that_was_learned_is_doubled_with_each_proof_of_the_chain(node: FakeNode, clock: ManualClock) -> None:
    node.raw = above(3, lambda _: (413, b""))
    pool = pool_of(node.url, clock=clock)
    pool.batch(CALLS)
    node.raw = shaped(lambda some: some)
    sizes = []
    for _ in range(2):
        clock.forward(PROOF_RECHECK_SECONDS + 1)
        node.asked.clear()
        assert pool.batch(CALLS) == READ
        sizes.append([len(batch) for batch in node.asked])
    assert sizes == [[6, 6], [12]]


# --- hostile ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [b"[]", b"null", b'[{"id": "x", "result": 1}]', b'[{"id": 0.5, "result": "0x1"}]'])
def test_a_provider_that_answers_nothing_costs_few_requests(node: FakeNode, answer: bytes) -> None:
    node.raw = lambda _batch: (200, answer)
    with pytest.raises(BadResponseError):
        pool_of(node.url).providers[0].batch([NUMBER] * 999, timeout_seconds=20)
    assert [len(batch) for batch in node.asked] == [1000, 500, 250, 125, 62, 31, 15, 7, 3, 1, 1]


def test_a_provider_that_answers_one_call_of_each_batch_gets_ever_smaller_ones(node: FakeNode) -> None:
    node.raw = shaped(lambda some: some[:1])
    pool = pool_of(node.url)
    assert pool.providers[0].batch([NUMBER] * 63, timeout_seconds=20) == [7] * 63
    sizes = [len(batch) for batch in node.asked]
    assert sizes[:6] == [64, 32, 16, 8, 4, 2]
    assert len(sizes) <= 64
    assert sum(sizes) < 4 * 64


@pytest.mark.parametrize("identifier", [False, 0.0, None, [0], {"x": 0}, "00", " 0", "0.0", -1, 10**30, "9" * 5_000])
def test_only_a_number_or_its_digits_are_an_id(node: FakeNode, identifier: Any) -> None:
    node.raw = shaped(lambda some: [one | {"id": identifier if one["id"] == 0 else one["id"]} for one in some])
    with pytest.raises(BadResponseError):
        pool_of(node.url).providers[0].batch([NUMBER], timeout_seconds=20)


# --- blocks by tag ----------------------------------------------------------------------------------------------------


def saying_of_tags(error: dict[str, Any]) -> Reply:
    """Answer this for the safe and the final block."""

    def reply(batch: list[Request]) -> tuple[int, bytes]:
        return 200, json.dumps(
            [
                {"id": one["id"], "error": error}
                if one["method"] == "eth_getBlockByNumber" and one["params"][0] in ("safe", "finalized")
                else answers_to([one])[0]
                for one in batch
            ]
        ).encode()

    return reply


BY_TAG = [head_call(), optional_block_call("safe"), optional_block_call("finalized")]


@pytest.mark.parametrize(
    "error",
    [
        {"code": -39001, "message": "Unknown block"},
        {"code": -32000, "message": "safe block not found"},
        {"code": -32602, "message": "invalid block tag"},
        {"code": -32603, "message": "internal error"},
        {"code": -32001, "message": "Resource not found"},
        {"message": None},
        "no such block",
    ],
)
def test_an_error_for_a_tagged_block_means_that_there_is_none(node: FakeNode, error: Any) -> None:
    node.raw = saying_of_tags(error)
    assert pool_of(node.url).batch(BY_TAG) == [READ[0], None, None]


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        ({"code": 429, "message": "slow down"}, ThrottledError),
        ({"code": -32000, "message": "rate limit reached"}, ThrottledError),
        ({"code": -32005, "message": "Limit exceeded"}, BadResponseError),
    ],
)
def test_an_error_that_limits_our_requests_says_nothing_of_a_tagged_block(
    node: FakeNode, error: dict[str, Any], problem: type[Exception]
) -> None:
    node.raw = saying_of_tags(error)
    with pytest.raises(problem):
        pool_of(node.url).providers[0].batch(BY_TAG, timeout_seconds=2)


# --- what gas costs ---------------------------------------------------------------------------------------------------

GAS = {"eth_feeHistory": {"baseFeePerGas": ["0x8", "0xa"]}, "eth_maxPriorityFeePerGas": "0x3", "eth_gasPrice": "0xf"}


@pytest.mark.parametrize(
    ("known", "base_fee", "price"),
    [
        (["eth_feeHistory", "eth_maxPriorityFeePerGas", "eth_gasPrice"], 8, GasPrice(10, 3)),
        (["eth_feeHistory", "eth_gasPrice"], 8, GasPrice(10, 5)),
        (["eth_feeHistory"], 8, GasPrice(10, 0)),
        (["eth_maxPriorityFeePerGas", "eth_gasPrice"], 8, GasPrice(9, 3)),
        (["eth_maxPriorityFeePerGas"], 8, GasPrice(9, 3)),
        (["eth_gasPrice"], 8, GasPrice(9, 6)),
        (["eth_gasPrice"], 100, GasPrice(112, 0)),
        ([], 8, GasPrice(9, 0)),
        (["eth_maxPriorityFeePerGas", "eth_gasPrice"], None, GasPrice(12, 3)),
        (["eth_gasPrice"], None, GasPrice(15, 0)),
        (["eth_maxPriorityFeePerGas"], None, None),
        ([], None, None),
    ],
)
def test_the_gas_price_is_read_from_what_a_node_knows(
    node: FakeNode, known: list[str], base_fee: int | None, price: GasPrice | None
) -> None:
    head = {**RESULTS["eth_getBlockByNumber"], "baseFeePerGas": None if base_fee is None else hex(base_fee)}  # type: ignore[dict-item]  # a block
    shown = {"eth_chainId": hex(CHAIN_ID), "eth_getBlockByNumber": head, **{method: GAS[method] for method in known}}

    def answer(one: Request) -> Answer:
        if one["method"] in shown:
            return {"id": one["id"], "result": shown[one["method"]]}
        return failure("the method does not exist", identifier=one["id"], code=-32601)

    node.raw = said(lambda batch: list(map(answer, batch)))
    block, *prices = pool_of(node.url).batch([head_call(), *gas_price_calls()])
    assert gas_price_of(block, prices) == price
