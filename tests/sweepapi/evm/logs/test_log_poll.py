"""A poll reads the events of contracts in the blocks that are not final yet, and falls back where a provider refuses.

The events are cancellations of authorizations, on the real contract.
"""

from collections.abc import Callable
from typing import Any

import pytest

from sweepapi import networks
from sweepapi.evm.chain.chains import Chain, FinalityRule
from sweepapi.evm.contracts import v5
from sweepapi.evm.logs import log_poll
from sweepapi.evm.logs.log_poll import Depths, Poll
from sweepapi.rpc import ProviderPool
from sweepapi.rpc.errors import BadResponseError, ChainUnavailableError
from tests.factories.ledger import random_hash
from tests.fake_node import FakeNode
from tests.local_chain import FINAL_AFTER, LocalChain

NONCES = (2**255 + 7, 2**255 + 8, 2**255 + 9)

Providers = Callable[..., ProviderPool]
Start = Callable[[], FakeNode]


@pytest.fixture
def hashes(chain: LocalChain) -> list[str]:
    """Three cancellations in blocks of their own, the newest of the chain."""
    return [chain.cancel(nonce) for nonce in NONCES]


@pytest.fixture
def pool(chain: LocalChain, use_providers: Providers) -> ProviderPool:
    return use_providers(chain.world["rpcUrl"])


def poll(chain: LocalChain, pool: ProviderPool, *, known: Depths | None = None) -> Poll:
    return log_poll.poll(
        chain=networks.current().chain("eip155:31337"),
        pool=pool,
        contracts=[chain.contracts["v5"], chain.contracts["v4"]],
        topics=[v5.EXECUTED_TOPIC, v5.CANCELLED_TOPIC],
        known=known,
    )


def hashes_of(found: Poll) -> list[str]:
    return [event.tx_hash for event in found.events]


def head(chain: LocalChain) -> int:
    return int(chain.web3.eth.block_number)


def queried(node: FakeNode, head_number: int) -> list[tuple[int, int]]:
    """Have the node note which blocks are queried."""
    spans: list[tuple[int, int]] = []

    def alter(method: str, params: list[Any], result: Any) -> Any:
        if method == "eth_getLogs":
            first, last = params[0]["fromBlock"], params[0]["toBlock"]
            spans.append((int(first, 16), head_number if last == "latest" else int(last, 16)))
        return result

    node.alter = alter
    return spans


# --- what is read -----------------------------------------------------------------------------------------------------


def test_events_above_the_final_block_are_read_with_what_identifies_them(
    chain: LocalChain, pool: ProviderPool, hashes: list[str]
) -> None:
    found = poll(chain, pool)
    assert (hashes_of(found), found.is_whole) == (hashes, True)
    assert [(one.contract, one.topic, int(one.subject, 16)) for one in found.events] == [
        (chain.contracts["v5"], v5.CANCELLED_TOPIC, nonce) for nonce in NONCES
    ]
    assert [one.decode().block_hash for one in found.events] == [one.block_hash for one in found.events]


def test_they_are_read_again_until_the_last_poll_saw_them_final(
    chain: LocalChain, pool: ProviderPool, hashes: list[str]
) -> None:
    first = poll(chain, pool)
    chain.mine(FINAL_AFTER)
    second = poll(chain, pool, known=first.depths)
    assert hashes_of(second) == hashes
    assert hashes_of(poll(chain, pool, known=second.depths)) == []


@pytest.mark.usefixtures("hashes")
def test_depths_are_those_of_the_tags_or_of_the_number_of_blocks(
    chain: LocalChain, pool: ProviderPool, change_chain: Callable[..., Chain]
) -> None:
    get_block = chain.web3.eth.get_block
    expected = Depths(head(chain), get_block("safe")["number"], get_block("finalized")["number"])
    assert poll(chain, pool).depths == expected
    change_chain(finality=FinalityRule(safe=2, final=10**6, recheck_seconds=3, max_head_age_seconds=None))
    assert poll(chain, pool).depths == Depths(head(chain), head(chain) - 2, 0)


def test_a_chain_without_a_final_block_yet_is_read_from_its_beginning(
    chain: LocalChain, use_providers: Providers, start_node: Start, hashes: list[str]
) -> None:
    young = start_node()
    young.alter = lambda method, params, result: (
        None if (method, params[:1]) == ("eth_getBlockByNumber", ["finalized"]) else result
    )
    found = poll(chain, use_providers(young.url))
    assert (hashes_of(found), found.depths.final) == (hashes, None)


def test_many_blocks_are_read_in_spans_the_last_of_which_is_open(
    chain: LocalChain, use_providers: Providers, start_node: Start, monkeypatch: pytest.MonkeyPatch, hashes: list[str]
) -> None:
    monkeypatch.setattr(log_poll, "SPAN_LENGTHS", (2,))
    monkeypatch.setattr(log_poll, "SPANS_AT_ONCE", 3)
    node, top = start_node(), head(chain)
    spans = queried(node, top)
    found = poll(chain, use_providers(node.url), known=Depths(top - 1, None, top - 8))
    assert spans == [(top - 5, top - 4), (top - 3, top - 2), (top - 1, top)]
    assert hashes_of(found) == hashes


def test_a_last_poll_with_a_final_block_above_the_head_is_survived(
    chain: LocalChain, pool: ProviderPool, hashes: list[str]
) -> None:
    found = poll(chain, pool, known=Depths(head(chain), None, 2**39))
    assert (hashes_of(found), found.depths.head) == (hashes[-1:], head(chain))


# --- refusals and nonsense --------------------------------------------------------------------------------------------


@pytest.fixture
def stingy(start_node: Start) -> FakeNode:
    """A node that refuses queries of logs."""
    node = start_node()
    node.lacks = ["eth_getLogs"]
    return node


def test_shorter_spans_are_read_if_the_provider_refuses_long_ones(
    chain: LocalChain, use_providers: Providers, start_node: Start, monkeypatch: pytest.MonkeyPatch, hashes: list[str]
) -> None:
    monkeypatch.setattr(log_poll, "SPAN_LENGTHS", (8, 2))
    node, top = start_node(), head(chain)
    spans = queried(node, top)

    def refuse_all_but_short_ones(batch: list[dict[str, Any]]) -> bool:
        node.lacks = ["eth_getLogs"] if len([call for call in batch if call["method"] == "eth_getLogs"]) == 1 else []
        return False

    node.refuse = refuse_all_but_short_ones
    found = poll(chain, use_providers(node.url), known=Depths(top, None, top - 4))
    assert (hashes_of(found), found.is_whole) == (hashes, True)
    assert spans == [(top - 3, top - 2), (top - 1, top)]


def test_a_poll_whose_queries_are_refused_says_so_and_still_shows_the_depths(
    chain: LocalChain, use_providers: Providers, stingy: FakeNode, hashes: list[str]
) -> None:
    found = poll(chain, use_providers(stingy.url))
    assert (found.events, found.is_whole, found.depths.head) == ([], False, head(chain))
    assert len(hashes) == 3


@pytest.mark.parametrize(
    "lie",
    [
        {"address": "0x" + "0f" * 20},
        {"topics": [random_hash(), random_hash()]},
        {"topics": [v5.CANCELLED_TOPIC]},
        {"topics": None},
        {"transactionHash": "0x12"},
        {"transactionHash": "0x" + "ab" * 31 + "\0a"},
        {"blockHash": None},
        {"blockNumber": "0x" + "f" * 30},
    ],
)
def test_a_provider_whose_logs_were_not_queried_is_left_for_another(
    chain: LocalChain, use_providers: Providers, start_node: Start, hashes: list[str], lie: dict[str, Any]
) -> None:
    liar = start_node()
    liar.alter = lambda method, _params, result: [log | lie for log in result] if method == "eth_getLogs" else result
    with pytest.raises(ChainUnavailableError):
        poll(chain, use_providers(liar.url))
    assert hashes_of(poll(chain, use_providers(liar.url, chain.world["rpcUrl"]))) == hashes


@pytest.mark.parametrize("answer", [None, {}, "0x", [None], [[]]])
def test_a_response_of_another_shape_does_not_count(
    chain: LocalChain, use_providers: Providers, start_node: Start, answer: Any
) -> None:
    liar = start_node()
    liar.alter = lambda method, _params, result: answer if method == "eth_getLogs" else result
    with pytest.raises(ChainUnavailableError):
        poll(chain, use_providers(liar.url))


def test_a_log_is_checked_when_it_is_decoded(
    chain: LocalChain, use_providers: Providers, start_node: Start, hashes: list[str]
) -> None:
    liar = start_node()
    liar.alter = lambda method, _params, result: (
        [log | {"removed": True} for log in result] if method == "eth_getLogs" else result
    )
    found = poll(chain, use_providers(liar.url))
    assert hashes_of(found) == hashes
    with pytest.raises(BadResponseError, match="removed"):
        found.events[0].decode()


def test_receipts_are_asked_for_in_batches_that_providers_take(
    pool: ProviderPool, hashes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_poll, "RECEIPTS_AT_ONCE", 2)
    assert list(log_poll.seen(pool, pool.providers[0], hashes)) == hashes
