"""Several providers are asked at the same time, and while one of them is slow, the next one as well."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Barrier, Event
from typing import Any

import pytest
import structlog
from structlog.testing import capture_logs

from sweepapi.rpc import Call, ProviderPool, hedging
from sweepapi.rpc.errors import ChainUnavailableError
from sweepapi.rpc.hedging import MAX_DELAY_SECONDS, MIN_DELAY_SECONDS
from sweepapi.rpc.ranking import ProviderStatus
from tests.fake_node import FakeNode
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


def asked(
    pool: ProviderPool,
    *,
    count: int = 1,
    call: Call = NUMBER,
    timeout_seconds: float = DEADLINE_SECONDS,
    is_waited_for: bool = True,
) -> list[int]:
    """Return the positions of the providers whose answers count."""
    deadline = time.monotonic() + timeout_seconds
    answers = pool.ask_together([call], count=count, deadline=deadline, is_waited_for=is_waited_for)
    return [provider.position for provider in answers]


def test_a_provider_that_answers_in_time_is_the_only_one_that_is_queried(nodes: list[FakeNode]) -> None:
    pool = pool_with(nodes)
    assert asked(pool) == [0]
    assert [len(node.asked) for node in nodes] == [1, 0, 0]


def test_the_answer_of_the_next_provider_counts_while_the_first_hangs(nodes: list[FakeNode]) -> None:
    pool = pool_with(nodes)
    with nodes[0].hung(), soon():
        assert asked(pool) == [1]
    assert nodes[2].asked == []


def test_two_that_hang_leave_the_third(nodes: list[FakeNode]) -> None:
    pool = pool_with(nodes)
    with nodes[0].hung(), nodes[1].hung(), soon():
        assert asked(pool) == [2]


def test_a_provider_that_fails_is_not_waited_for(nodes: list[FakeNode], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hedging, "MAX_DELAY_SECONDS", DEADLINE_SECONDS)
    nodes[0].raw = lambda _batch: (500, b"")
    pool = pool_with(nodes)
    with soon():
        assert asked(pool) == [1]


def test_a_bad_answer_of_the_second_leaves_the_first_its_time(
    nodes: list[FakeNode], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hedging, "MAX_DELAY_SECONDS", 0.0)
    monkeypatch.setattr(hedging, "MIN_DELAY_SECONDS", 0.0)
    for node in nodes[1:]:
        node.raw = lambda _batch: (200, b"nonsense")
    pool = pool_with(nodes)
    assert asked(pool) == [0]


def test_a_provider_that_was_late_is_known_to_be_slow(nodes: list[FakeNode]) -> None:
    pool = pool_with(nodes)
    pool.ask([NUMBER], exclude=pool.providers[:1])
    with nodes[0].hung():
        asked(pool)
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
    assert hedging.usual_patience(pool.providers[0]) == pytest.approx(delay)


def test_without_any_good_answer_the_chain_is_unavailable(nodes: list[FakeNode]) -> None:
    for node in nodes:
        node.raw = lambda _batch: (500, b"")
    with soon(), pytest.raises(ChainUnavailableError):
        asked(pool_with(nodes))


def test_providers_that_all_hang_are_left_at_the_deadline(nodes: list[FakeNode]) -> None:
    with nodes[0].hung(), nodes[1].hung(), nodes[2].hung(), soon(), pytest.raises(ChainUnavailableError):
        asked(pool_with(nodes), timeout_seconds=0.3)


def test_an_error_of_our_own_is_not_taken_for_a_failure_of_the_provider(nodes: list[FakeNode]) -> None:
    def broken(_result: object) -> object:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asked(pool_with(nodes), call=Call("eth_blockNumber", (), broken))


def test_what_a_hedged_read_logs_carries_the_id_of_its_request(nodes: list[FakeNode]) -> None:
    nodes[0].raw = lambda _batch: (500, b"")
    with (
        structlog.contextvars.bound_contextvars(request_id="one"),
        capture_logs(processors=[structlog.contextvars.merge_contextvars]) as logs,
    ):
        asked(pool_with(nodes))
    assert [(one["event"], one["request_id"]) for one in logs] == [("provider_failed", "one")]


# --- two at the same time ---------------------------------------------------------------------------------------------


def test_two_are_asked_at_the_same_time(nodes: list[FakeNode]) -> None:
    pool, together = pool_with(nodes), Barrier(2, timeout=DEADLINE_SECONDS)
    for node in nodes[:2]:
        node.alter = lambda _method, _params, result: result if together.wait() >= 0 else None
    assert asked(pool, count=2) == [0, 1]
    assert nodes[2].asked == []


@pytest.mark.parametrize("position", [0, 1])
def test_the_third_answers_for_one_that_hangs_or_fails(nodes: list[FakeNode], position: int) -> None:
    pool, others = pool_with(nodes), [one for one in range(3) if one != position]
    with nodes[position].hung(), soon():
        assert sorted(asked(pool, count=2)) == others
    nodes[position].raw = lambda _batch: (500, b"")
    assert sorted(asked(pool_with(nodes), count=2)) == others


def test_without_a_third_one_that_hangs_is_not_waited_for(nodes: list[FakeNode]) -> None:
    pool = pool_with(nodes[:2])
    with nodes[1].hung(), soon():
        assert asked(pool, count=2) == [0]


def test_a_check_of_the_worker_waits_for_the_second_for_half_of_its_time(nodes: list[FakeNode]) -> None:
    pool, done = pool_with(nodes[:2]), Event()

    def late(_method: str, _params: list[Any], result: Any) -> Any:
        done.wait(MAX_DELAY_SECONDS + 0.2)
        return result

    nodes[1].alter = late
    assert asked(pool, count=2, is_waited_for=False) == [0, 1]
