"""While a confirm waits for a slow provider, the next one is queried as well, and the first good answer counts."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import structlog
from structlog.testing import capture_logs

from sweepapi import networks
from sweepapi.evm.chain.multicall import Read
from sweepapi.evm.contracts.v5 import IS_NONCE_USED
from sweepapi.evm.logs.sightings import Subject, read_sightings
from sweepapi.rpc import Call, ProviderPool, hedging
from sweepapi.rpc.errors import ChainUnavailableError
from sweepapi.rpc.hedging import MAX_DELAY_SECONDS, MIN_DELAY_SECONDS
from sweepapi.rpc.ranking import ProviderStatus
from tests.fake_node import FakeNode
from tests.local_chain import LocalChain
from tests.sweepapi.rpc.calls import NUMBER, pool_of

DEADLINE_SECONDS = 20.0  # far more than any of these may take

Start = Callable[[], FakeNode]


@pytest.fixture
def nodes(start_node: Start) -> list[FakeNode]:
    return [start_node() for _ in range(3)]


def pool_with(nodes: list[FakeNode]) -> ProviderPool:
    return pool_of(*(node.url for node in nodes), timeout_seconds=DEADLINE_SECONDS)


@contextmanager
def soon() -> Iterator[None]:
    started = time.monotonic()
    yield
    assert time.monotonic() - started < DEADLINE_SECONDS / 4


def test_a_provider_that_answers_in_time_is_the_only_one_that_is_queried(nodes: list[FakeNode]) -> None:
    pool = pool_with(nodes)
    assert pool.ask([NUMBER], hedged=True)[0] is pool.providers[0]
    assert [len(node.asked) for node in nodes] == [1, 0, 0]


def test_the_answer_of_the_next_provider_counts_while_the_first_hangs(nodes: list[FakeNode]) -> None:
    pool = pool_with(nodes)
    with nodes[0].hung(), soon():
        assert pool.ask([NUMBER], hedged=True)[0] is pool.providers[1]
    assert nodes[2].asked == []


def test_two_that_hang_leave_the_third(nodes: list[FakeNode]) -> None:
    pool = pool_with(nodes)
    with nodes[0].hung(), nodes[1].hung(), soon():
        assert pool.ask([NUMBER], hedged=True)[0] is pool.providers[2]


def test_a_provider_that_fails_is_not_waited_for(nodes: list[FakeNode], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hedging, "MAX_DELAY_SECONDS", DEADLINE_SECONDS)
    nodes[0].raw = lambda _batch: (500, b"")
    pool = pool_with(nodes)
    with soon():
        assert pool.ask([NUMBER], hedged=True)[0] is pool.providers[1]


def test_a_bad_answer_of_the_second_leaves_the_first_its_time(
    nodes: list[FakeNode], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hedging, "MAX_DELAY_SECONDS", 0.0)
    monkeypatch.setattr(hedging, "MIN_DELAY_SECONDS", 0.0)
    for node in nodes[1:]:
        node.raw = lambda _batch: (200, b"nonsense")
    pool = pool_with(nodes)
    assert pool.ask([NUMBER], hedged=True)[0] is pool.providers[0]


def test_a_provider_that_was_late_is_known_to_be_slow(nodes: list[FakeNode]) -> None:
    pool = pool_with(nodes)
    pool.ask([NUMBER], exclude=pool.providers[:1])
    with nodes[0].hung():
        pool.ask([NUMBER], hedged=True)
        assert pool.state[0].status is ProviderStatus.SLOW
        with soon():
            assert pool.ask([NUMBER])[0] is pool.providers[1], "the next read does not wait for it"


@pytest.mark.parametrize(
    ("latency", "delay"), [(None, MAX_DELAY_SECONDS), (0.001, MIN_DELAY_SECONDS), (0.1, 0.3), (9.0, MAX_DELAY_SECONDS)]
)
def test_the_wait_is_a_few_times_what_the_provider_usually_takes_within_bounds(
    latency: float | None, delay: float
) -> None:
    pool = pool_of("http://a", "http://b")
    if latency is not None:
        pool.providers[0].health.note_latency(latency)
    assert hedging._delay(pool.providers[0]) == pytest.approx(delay)  # noqa: SLF001 its figures are the promise


def test_without_any_good_answer_the_chain_is_unavailable(nodes: list[FakeNode]) -> None:
    for node in nodes:
        node.raw = lambda _batch: (500, b"")
    with soon(), pytest.raises(ChainUnavailableError):
        pool_with(nodes).ask([NUMBER], hedged=True)


def test_providers_that_all_hang_are_left_at_the_deadline(nodes: list[FakeNode]) -> None:
    with nodes[0].hung(), nodes[1].hung(), nodes[2].hung(), soon(), pytest.raises(ChainUnavailableError):
        pool_with(nodes).ask([NUMBER], timeout_seconds=0.3, hedged=True)


def test_an_error_of_our_own_is_not_taken_for_a_failure_of_the_provider(nodes: list[FakeNode]) -> None:
    def broken(_result: object) -> object:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        pool_with(nodes).ask([Call("eth_blockNumber", (), broken)], hedged=True)


def test_what_a_hedged_read_logs_carries_the_id_of_its_request(nodes: list[FakeNode]) -> None:
    nodes[0].raw = lambda _batch: (500, b"")
    with (
        structlog.contextvars.bound_contextvars(request_id="one"),
        capture_logs(processors=[structlog.contextvars.merge_contextvars]) as logs,
    ):
        pool_with(nodes).ask([NUMBER], hedged=True)
    assert [(one["event"], one["request_id"]) for one in logs] == [("provider_failed", "one")]


@pytest.mark.parametrize(("timeout_seconds", "is_hedged"), [(DEADLINE_SECONDS, True), (None, False)])
def test_only_a_check_that_a_request_waits_for_is_hedged(
    chain: LocalChain, nodes: list[FakeNode], *, timeout_seconds: float | None, is_hedged: bool
) -> None:
    pool = pool_of(*(node.url for node in nodes), timeout_seconds=2)
    subject = Subject("one", Read(chain.contracts["v5"], IS_NONCE_USED, (1,)), (), None, lambda _sighting: None)
    with nodes[0].hung():
        read_sightings(
            chain=networks.current().chains["local"], pool=pool, subjects=[subject], timeout_seconds=timeout_seconds
        )
        assert (pool.providers[0].health.failures == 0) is is_hedged, "without a hedge its time ran out first"
