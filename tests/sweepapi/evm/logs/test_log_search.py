"""The one event that explains a change of state is found, and a provider's lie or refusal is not mistaken for it.

The event is the cancellation of an authorization, on the real contract.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from eth_utils.address import to_checksum_address
from structlog.testing import capture_logs

from sweepapi import networks
from sweepapi.evm.chain.chains import Chain, FinalityRule
from sweepapi.evm.contracts import v5
from sweepapi.evm.encoding import responses
from sweepapi.evm.encoding.responses import Log
from sweepapi.evm.logs import log_query, log_search
from sweepapi.evm.logs.log_search import Event, Hit, LogSearch, SearchFinding
from sweepapi.evm.logs.standing import Standing
from sweepapi.rpc import ProviderPool
from sweepapi.rpc.errors import ChainUnavailableError
from tests.factories.ledger import random_hash
from tests.fake_node import Alter, FakeNode, hiding_logs
from tests.local_chain import SAFE_AFTER, LocalChain

NONCE = 2**255 + 7
STRANGER = to_checksum_address("0x" + "0f" * 20)
NOTHING = SearchFinding(None, None, agreed=False, resume_at=None)

Providers = Callable[..., ProviderPool]
Start = Callable[[], FakeNode]


@dataclass(frozen=True)
class Cancelled:
    """A cancellation on a safe block, and the search that should find it."""

    chain: LocalChain
    tx_hash: str
    search: LogSearch

    @property
    def hit(self) -> Hit:
        (mined,) = responses.mined_logs(self.chain.rpc("eth_getTransactionReceipt", self.tx_hash)["logs"])
        return Hit(Event(self.chain.holder("ops").address, is_hint=False), mined)


@pytest.fixture
def cancelled(chain: LocalChain) -> Cancelled:
    tx_hash = chain.cancel(NONCE)
    chain.cancel(NONCE + 1)
    chain.mine(SAFE_AFTER)
    return Cancelled(chain, tx_hash, search(chain))


def search(chain: LocalChain, *, nonce: int = NONCE, **changes: Any) -> LogSearch:
    """Return a search for the use of a nonce, over all safe blocks."""

    def read(log: Log) -> Event | None:
        event = v5.decode_cancelled(log)
        return Event(event.by, is_hint=False) if event is not None and event.nonce == nonce else None

    topics = ((v5.EXECUTED_TOPIC, v5.CANCELLED_TOPIC), f"0x{nonce:064x}")
    safe = chain.web3.eth.get_block("safe")["number"]
    return replace(LogSearch("one", chain.contracts["v5"], topics, read, first_block=0, last_block=safe), **changes)


def find_all(pool: ProviderPool, *searches: LogSearch) -> dict[Any, SearchFinding]:
    return log_search.find(chain=networks.current().chain("eip155:31337"), pool=pool, searches=searches)


def find(pool: ProviderPool, *searches: LogSearch) -> SearchFinding:
    """Return what was found for the first search."""
    found = find_all(pool, *searches)
    assert set(found) == {one.key for one in searches}
    return found[searches[0].key]


@pytest.fixture
def pool(chain: LocalChain, use_providers: Providers) -> ProviderPool:
    return use_providers(chain.world["rpcUrl"])


def test_a_cancellation_is_found_with_its_sender(cancelled: Cancelled, pool: ProviderPool) -> None:
    assert find(pool, cancelled.search) == SearchFinding(cancelled.hit, None, agreed=True, resume_at=None)


def test_only_the_event_with_the_given_topics_counts(cancelled: Cancelled, pool: ProviderPool) -> None:
    assert find(pool, search(cancelled.chain, nonce=NONCE + 2)) == NOTHING
    assert find(pool, replace(cancelled.search, topics=(v5.EXECUTED_TOPIC,))) == NOTHING


def test_many_searches_are_one_round_trip(
    cancelled: Cancelled, pool: ProviderPool, round_trips: list[list[str]]
) -> None:
    searches = [replace(cancelled.search, key=number) for number in range(log_search.MAX_SEARCHES)]
    assert find(pool, *searches).hit == cancelled.hit
    assert len(round_trips) == 1


def test_the_maximum_number_of_searches_stays_under_a_hundred_calls(
    chain: LocalChain, pool: ProviderPool, round_trips: list[list[str]]
) -> None:
    endless = [search(chain, key=number, last_block=10**7) for number in range(log_search.MAX_SEARCHES)]
    find(pool, *endless)
    assert len(round_trips[0]) <= 100


def test_a_long_search_resumes_where_it_stopped(
    cancelled: Cancelled, pool: ProviderPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_query, "SPAN_BLOCKS", 4)
    monkeypatch.setattr(log_query, "SPANS_AT_ONCE", 2)
    height = cancelled.hit.mined.block_number
    far = replace(cancelled.search, first_block=height - 10)
    assert find(pool, far) == SearchFinding(None, None, agreed=False, resume_at=height - 2)
    assert find(pool, replace(far, first_block=height - 2)).hit == cancelled.hit


def test_a_search_of_all_blocks_that_finds_nothing_starts_over(cancelled: Cancelled, pool: ProviderPool) -> None:
    after = replace(cancelled.search, first_block=cancelled.hit.mined.block_number + 1)
    assert find(pool, after) == NOTHING


def test_the_spans_cover_every_block_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_query, "SPAN_BLOCKS", 10)
    spans = LogSearch("one", STRANGER, (), lambda _log: None, first_block=5, last_block=30).spans()
    assert spans == [(5, 14), (15, 24), (25, 30)]


# --- how deep ---------------------------------------------------------------------------------------------------------


def test_an_event_above_the_safe_block_does_not_count(chain: LocalChain, pool: ProviderPool) -> None:
    chain.cancel(NONCE)
    found = find(pool, search(chain, last_block=chain.web3.eth.block_number))
    assert found.hit is not None
    assert not found.agreed


@pytest.mark.parametrize(("depth", "agreed"), [(3, True), (4, False)])
def test_depth_is_counted_from_the_head_where_a_chain_has_no_tags(
    chain: LocalChain, pool: ProviderPool, change_chain: Callable[..., Chain], depth: int, *, agreed: bool
) -> None:
    change_chain(finality=FinalityRule(safe=depth, final=9, recheck_seconds=3, max_head_age_seconds=None))
    chain.cancel(NONCE)
    chain.mine(3)
    assert find(pool, search(chain, last_block=chain.web3.eth.block_number)).agreed is agreed


# --- several providers ------------------------------------------------------------------------------------------------


def forged(**changes: Any) -> Alter:
    """Return how a node changes the logs that it shows."""
    return lambda method, _params, result: [log | changes for log in result] if method == "eth_getLogs" else result


def test_two_providers_that_show_the_same_agree(
    cancelled: Cancelled, use_providers: Providers, start_node: Start
) -> None:
    nodes = [start_node() for _ in range(3)]
    found = find(use_providers(*(node.url for node in nodes)), cancelled.search)
    assert (found.hit, found.agreed) == (cancelled.hit, True)
    assert [len(node.asked) for node in nodes] == [1, 1, 0]


@pytest.mark.parametrize("liar_is_first", [True, False])
@pytest.mark.parametrize(
    "lie",
    [
        {"blockHash": random_hash()},
        {"transactionHash": random_hash()},
        {"blockNumber": "0x1"},
        {"data": "0x01"},
    ],
)
def test_two_providers_that_show_different_logs_do_not_agree(
    cancelled: Cancelled,
    use_providers: Providers,
    start_node: Start,
    lie: dict[str, str],
    *,
    liar_is_first: bool,
) -> None:
    liar = start_node()
    liar.alter = forged(**lie)
    urls = [liar.url, cancelled.chain.world["rpcUrl"]]
    found = find(use_providers(*(urls if liar_is_first else reversed(urls))), cancelled.search)
    assert found.hit is not None
    assert not found.agreed


def test_two_providers_that_number_logs_differently_agree(
    cancelled: Cancelled, use_providers: Providers, start_node: Start
) -> None:
    other = start_node()
    other.alter = forged(logIndex="0x63")
    found = find(use_providers(other.url, cancelled.chain.world["rpcUrl"]), cancelled.search)
    assert (found.hit, found.agreed) == (cancelled.hit, True)


@pytest.mark.parametrize("position", [0, 1])
@pytest.mark.parametrize("lie", [{"transactionHash": random_hash()}, None])
def test_of_three_providers_two_decide_which_event_it_was(
    cancelled: Cancelled, use_providers: Providers, start_node: Start, lie: dict[str, str] | None, position: int
) -> None:
    liar = start_node()
    liar.alter = hiding_logs if lie is None else forged(**lie)
    urls = [cancelled.chain.world["rpcUrl"]] * 2
    urls.insert(position, liar.url)
    with capture_logs() as logs:
        assert find(use_providers(*urls), cancelled.search) == SearchFinding(
            cancelled.hit, None, agreed=True, resume_at=None
        )
    assert [(one["event"], one["outvoted"]) for one in logs] == [("providers_disagree", [position])]


def test_an_event_that_two_of_three_providers_do_not_show_is_not_reported(
    cancelled: Cancelled, use_providers: Providers, start_node: Start
) -> None:
    inventor, nonce = start_node(), NONCE + 2
    inventor.alter = lambda method, _params, result: (
        [log | {"topics": [log["topics"][0], f"0x{nonce:064x}", *log["topics"][2:]]} for log in every]
        if method == "eth_getLogs"
        else result
    )
    every = cancelled.chain.rpc("eth_getTransactionReceipt", cancelled.tx_hash)["logs"]
    urls = [inventor.url] + [cancelled.chain.world["rpcUrl"]] * 2
    span = replace(search(cancelled.chain, nonce=nonce), first_block=int(every[0]["blockNumber"], 16))
    assert find(use_providers(*urls), span) == NOTHING


def test_blocks_that_a_provider_has_not_reached_are_not_searched(
    cancelled: Cancelled, use_providers: Providers, start_node: Start
) -> None:
    behind = start_node()
    behind.alter = lambda method, params, result: (
        result | {"number": "0x1"}
        if (method, params[:1]) == ("eth_getBlockByNumber", ["latest"])
        else hiding_logs(method, params, result)
    )
    assert find(use_providers(behind.url), cancelled.search) == replace(NOTHING, resume_at=0)


@pytest.mark.parametrize("blind_is_first", [True, False])
def test_an_event_that_only_one_provider_shows_is_reported_and_does_not_count(
    cancelled: Cancelled, use_providers: Providers, start_node: Start, *, blind_is_first: bool
) -> None:
    blind = start_node()
    blind.alter = lambda method, _params, result: [] if method == "eth_getLogs" else result
    urls = [blind.url, cancelled.chain.world["rpcUrl"]]
    found = find(use_providers(*(urls if blind_is_first else reversed(urls))), cancelled.search)
    assert (found.hit, found.agreed) == (cancelled.hit, False)


def test_a_second_provider_whose_safe_block_is_lower_does_not_agree_yet(
    cancelled: Cancelled, use_providers: Providers, start_node: Start
) -> None:
    behind = start_node()
    behind.alter = lambda method, params, result: (
        result | {"number": "0x1"} if (method, params[:1]) == ("eth_getBlockByNumber", ["safe"]) else result
    )
    assert not find(use_providers(cancelled.chain.world["rpcUrl"], behind.url), cancelled.search).agreed


def test_a_second_provider_that_is_down_confirms_nothing(cancelled: Cancelled, use_providers: Providers) -> None:
    found = find(use_providers(cancelled.chain.world["rpcUrl"], "http://127.0.0.1:1"), cancelled.search)
    assert (found.hit, found.agreed) == (cancelled.hit, False)


def test_a_search_that_no_provider_answers_is_an_error(cancelled: Cancelled, no_providers: ProviderPool) -> None:
    with pytest.raises(ChainUnavailableError):
        find(no_providers, cancelled.search)


def test_a_hint_needs_no_second_opinion_because_its_receipt_decides(
    cancelled: Cancelled, use_providers: Providers, start_node: Start
) -> None:
    hint = replace(cancelled.search, read=lambda _log: Event(None, is_hint=True))
    nodes = [start_node() for _ in range(2)]
    seen = find(use_providers(*(node.url for node in nodes)), hint).seen
    assert seen is not None
    assert (seen.receipt.tx_hash, seen.standing) == (cancelled.tx_hash, Standing.AGREED)
    searched = [["eth_getLogs" in methods for methods in node.asked] for node in nodes]
    assert searched == [[True, False], [False]]


# --- hostile responses ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "lie",
    [
        {"address": STRANGER},
        {"topics": [v5.CANCELLED_TOPIC, f"0x{NONCE + 1:064x}", "0x" + "00" * 32]},
        {"topics": [random_hash(), f"0x{NONCE:064x}", "0x" + "00" * 32]},
        {"topics": [v5.EXECUTED_TOPIC, f"0x{NONCE:064x}", "0x" + "00" * 32, "0x" + "00" * 32]},
        {"topics": [v5.CANCELLED_TOPIC, f"0x{NONCE:064x}"]},
        {"topics": []},
        {"data": "0x00"},
        {"removed": True},
        {"removed": "false"},
        {"blockNumber": "0x7fffffff"},
        {"blockNumber": None},
        {"blockHash": None},
        {"transactionHash": "0x12"},
    ],
)
def test_a_log_that_was_not_queried_is_not_a_hit(
    cancelled: Cancelled, use_providers: Providers, start_node: Start, lie: dict[str, Any]
) -> None:
    liar = start_node()
    liar.alter = forged(**lie)
    found = find(use_providers(liar.url), cancelled.search)
    assert found == SearchFinding(None, None, agreed=False, resume_at=0)


@pytest.mark.parametrize("answer", [None, {}, "0x", [None], [[]]])
def test_a_response_of_another_shape_is_not_a_hit(
    cancelled: Cancelled, use_providers: Providers, start_node: Start, answer: Any
) -> None:
    liar = start_node()
    liar.alter = lambda method, _params, result: answer if method == "eth_getLogs" else result
    assert find(use_providers(liar.url), cancelled.search).hit is None


def test_an_event_that_is_shown_twice_is_not_a_hit(
    cancelled: Cancelled, use_providers: Providers, start_node: Start
) -> None:
    liar = start_node()
    liar.alter = lambda method, _params, result: (
        [*result, *(log | {"transactionHash": random_hash()} for log in result)] if method == "eth_getLogs" else result
    )
    assert find(use_providers(liar.url), cancelled.search).hit is None


def test_a_span_that_is_refused_is_searched_again_and_affects_no_other_search(
    cancelled: Cancelled, use_providers: Providers, start_node: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_query, "SPAN_BLOCKS", 10)
    first_block = cancelled.hit.mined.block_number - 15
    stingy = start_node()
    stingy.alter = lambda method, params, result: (
        None if method == "eth_getLogs" and params[0]["fromBlock"] == hex(first_block + 10) else result
    )
    refused = replace(cancelled.search, key="refused", first_block=first_block)
    granted = replace(cancelled.search, first_block=first_block + 5)
    found = find_all(use_providers(stingy.url), refused, granted)
    assert found["refused"] == SearchFinding(None, None, agreed=False, resume_at=first_block + 10)
    assert found["one"].hit == cancelled.hit
