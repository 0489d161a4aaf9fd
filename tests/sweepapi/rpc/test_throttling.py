"""A provider that limits our requests is left alone for as long as it says, and others are queried meanwhile."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from sweepapi.evm.encoding import responses
from sweepapi.rpc import Call, ErrorPolicy
from sweepapi.rpc.errors import ChainUnavailableError, PausedError, ThrottledError
from sweepapi.rpc.ranking import ProviderStatus
from sweepapi.rpc.throttling import retry_after_seconds
from tests.fake_node import FakeNode
from tests.local_chain import LocalChain
from tests.sweepapi.rpc.calls import HEAD, NUMBER, ManualClock, error, pool_of

Start = Callable[[], FakeNode]


@pytest.fixture
def node(start_node: Start) -> FakeNode:
    return start_node()


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("0", 0), ("120", 120), (" 3 ", 3), ("", None), ("soon", None), ("-5", None), ("9" * 400, None), ("\u0665", None)],
)
def test_seconds_are_read_and_nonsense_is_not(value: str, seconds: float | None) -> None:
    assert retry_after_seconds({"Retry-After": value}) == seconds


def test_a_date_is_read_as_the_time_that_is_left() -> None:
    date = format_datetime(datetime.now(tz=UTC) + timedelta(seconds=30), usegmt=True)
    seconds = retry_after_seconds({"Retry-After": date})
    assert seconds is not None
    assert 25 < seconds <= 30


@pytest.mark.parametrize(
    ("status", "headers", "waits"), [(429, {}, 1), (429, {"Retry-After": "9"}, 9), (503, {"Retry-After": "4"}, 4)]
)
def test_a_provider_that_limits_us_is_not_queried_until_its_time_is_up(
    chain: LocalChain, node: FakeNode, status: int, headers: dict[str, str], waits: float
) -> None:
    clock = ManualClock()
    pool = pool_of(node.url, chain.world["rpcUrl"], clock=clock)
    node.raw, node.headers = (lambda _batch: (status, b"slow down")), headers
    for _ in range(3):
        assert pool.ask([NUMBER])[0] is pool.providers[1]
    assert len(node.asked) == 1
    assert (pool.state[0].status, pool.state[0].paused_for_seconds) == (ProviderStatus.WAITING, waits)

    clock.forward(waits)
    node.raw = None
    assert pool.ask([NUMBER])[0] is pool.providers[0]
    assert pool.state[0].status is ProviderStatus.HEALTHY


def test_a_service_that_is_down_without_saying_until_when_is_a_failure(node: FakeNode) -> None:
    node.raw = lambda _batch: (503, b"")
    pool = pool_of(node.url)
    with pytest.raises(ChainUnavailableError):
        pool.batch([NUMBER])
    assert pool.providers[0].health.failures == 1


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (429, "Your app has exceeded its capacity"),
        (-32005, "project ID request rate exceeded"),
        (-32007, "50/second request limit reached - reduce calls per second"),
        (-32029, "Too many requests"),
        (-32005, "You've exceeded the RPS limit available on the current plan"),
        (-32000, "rate limit reached"),
    ],
)
def test_an_error_by_rate_is_understood_whatever_the_status_says(node: FakeNode, code: int, message: str) -> None:
    node.raw = error(code, message)
    pool = pool_of(node.url)
    tolerant = Call("eth_getTransactionReceipt", ("0x",), responses.data, ErrorPolicy.ANY)
    with pytest.raises(ThrottledError):
        pool.providers[0].batch([tolerant], timeout_seconds=2)
    with pytest.raises(PausedError):
        pool.providers[0].batch([HEAD], timeout_seconds=2)
    assert len(node.asked) == 1


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (3, "execution reverted: rate limit"),
        (-32000, "execution reverted: too many requests"),
        (-32005, "query returned more than 10000 results"),
        (-32000, None),
    ],
)
def test_the_text_of_a_contract_or_a_limit_of_a_query_is_not_a_limit_of_our_rate(
    node: FakeNode, code: int, message: str | None
) -> None:
    node.raw = error(code, message)
    pool = pool_of(node.url)
    tolerant = Call("eth_call", ({}, "latest"), responses.data, ErrorPolicy.ANY)
    pool.providers[0].batch([tolerant], timeout_seconds=2)
    assert pool.providers[0].health.throttles == 0


def test_while_every_provider_limits_us_none_is_queried(start_node: Start) -> None:
    nodes = [start_node(), start_node()]
    for node in nodes:
        node.raw = _limited
    pool = pool_of(*(node.url for node in nodes))
    for _ in range(3):
        with pytest.raises(ChainUnavailableError):
            pool.batch([NUMBER])
    assert [len(node.asked) for node in nodes] == [1, 1]


def _limited(_batch: list[dict[str, Any]]) -> tuple[int, bytes]:
    return 429, b""
