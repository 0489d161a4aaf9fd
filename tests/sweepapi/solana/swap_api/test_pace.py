"""The swap API is asked no more than it takes, and nothing twice; what is asked too early says when to ask again."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from threading import Lock
from typing import Any

import pytest

from dev.solana.swap_api.orders import Order, RefusedError
from dev.solana.swap_api.server import LocalSwapApi, Response
from sweepapi.solana.swap_api import (
    NoQuote,
    QuoteAnswer,
    QuoteRequest,
    RateLimitedError,
    SwapApi,
    SwapApiError,
    SwapApiQuote,
    client,
    pace,
)
from sweepapi.solana.swap_api.pace import reset_in
from tests.solana_swap_api import serving_documented
from tests.sweepapi.solana.canned_swap_api import REQUEST, build
from tests.sweepapi.solana.canned_swap_api import client_of as new_client

NO_REDIS = "redis://127.0.0.1:1"


class Counted:
    """A swap API, and the amounts that it was asked for."""

    def __init__(self) -> None:
        self.amounts: list[int] = []
        self._lock = Lock()

    def build(self, order: Order) -> dict[str, Any]:
        with self._lock:
            self.amounts.append(order.amount)
        if order.amount == 1:
            raise RefusedError("Dust")
        return build(order)


@pytest.fixture
def counted() -> Counted:
    return Counted()


@pytest.fixture
def api(counted: Counted) -> Iterator[LocalSwapApi]:
    with ExitStack() as stack:
        yield stack.enter_context(serving_documented(counted.build))


def client_of(api: LocalSwapApi, **options: Any) -> SwapApi:
    """Return the client of a new process, which shares with others of this swap API."""
    return new_client(api, shared_as=f"{api.url} {id(api)}", **options)


def requests_of(count: int, *, first: int = 100) -> list[QuoteRequest]:
    return [replace(REQUEST, amount=amount) for amount in range(first, first + count)]


def kinds(answers: list[QuoteAnswer]) -> list[type]:
    return [type(answer) for answer in answers]


# --- the window -------------------------------------------------------------------------------------------------------


def test_a_build_is_quoted_as_far_as_the_window_goes_and_told_when_the_rest_may_be(
    api: LocalSwapApi, counted: Counted
) -> None:
    answers = client_of(api, per_minute=3).quotes(requests_of(5))
    assert kinds(answers) == [SwapApiQuote] * 3 + [RateLimitedError] * 2
    assert [answer.retry_after_seconds for answer in answers if isinstance(answer, RateLimitedError)] == [60, 60]
    assert len(counted.amounts) == 3


def test_all_processes_share_a_window(api: LocalSwapApi, counted: Counted) -> None:
    clients = [client_of(api, per_minute=13) for _ in range(4)]
    with ThreadPoolExecutor(4) as executor:
        answers = list(
            executor.map(lambda n: clients[n].quotes(requests_of(4, first=100 * n + 100)), range(4), timeout=60)
        )
    assert sum(kinds(one).count(SwapApiQuote) for one in answers) == len(counted.amounts) == 13


def test_if_nothing_is_free_in_time_the_error_says_when_something_is(api: LocalSwapApi) -> None:
    client_of(api, per_minute=2).quotes(requests_of(2))
    with pytest.raises(RateLimitedError) as raised:
        client_of(api, per_minute=2).quotes(requests_of(1, first=500))
    assert raised.value.is_temporary
    assert 50 < (raised.value.retry_after_seconds or 0) <= 60


def test_a_build_waits_for_room_in_the_window_and_a_discovery_does_not(
    api: LocalSwapApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "WINDOW_SECONDS", 0.5)
    one = client_of(api, per_minute=4)
    assert kinds(one.quotes(requests_of(6), for_build=False)) == [SwapApiQuote] * 2 + [RateLimitedError] * 4
    assert kinds(one.quotes(requests_of(6, first=200))) == [SwapApiQuote] * 6


def test_half_of_the_window_is_left_to_builds(api: LocalSwapApi) -> None:
    one = client_of(api, per_minute=4)
    assert kinds(one.quotes(requests_of(4), for_build=False)).count(SwapApiQuote) == 2
    assert kinds(one.quotes(requests_of(2, first=200))) == [SwapApiQuote] * 2


def test_only_so_many_builds_of_a_process_wait(api: LocalSwapApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "MAX_WAITING", 0)
    monkeypatch.setattr(pace, "WINDOW_SECONDS", 5.0)
    one = client_of(api, per_minute=1)
    started = time.monotonic()
    assert kinds(one.quotes(requests_of(2))) == [SwapApiQuote, RateLimitedError]
    assert time.monotonic() - started < 5


def test_without_redis_a_process_counts_alone(api: LocalSwapApi, counted: Counted) -> None:
    one = client_of(api, per_minute=3, redis_url=NO_REDIS)
    assert kinds(one.quotes(requests_of(5))).count(SwapApiQuote) == 3
    with pytest.raises(RateLimitedError):
        one.quotes(requests_of(1, first=500))
    assert len(counted.amounts) == 3


# --- what the swap API says -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("redis_url", ["", NO_REDIS])
def test_what_others_used_of_the_limit_is_believed(api: LocalSwapApi, counted: Counted, redis_url: str) -> None:
    api.admit = lambda: {"x-ratelimit-remaining": "2", "x-ratelimit-reset": "30"}
    one = client_of(api, per_minute=60, redis_url=redis_url)
    one.quotes(requests_of(1))
    answers = one.quotes(requests_of(5, first=200))
    assert kinds(answers) == [SwapApiQuote] * 2 + [RateLimitedError] * 3
    assert [answer.retry_after_seconds for answer in answers if isinstance(answer, SwapApiError)] == [30] * 3
    assert len(counted.amounts) == 3


def test_a_token_that_got_a_429_is_asked_again_when_the_swap_api_says(api: LocalSwapApi) -> None:
    first_two = [Response(429, headers={"x-ratelimit-reset": "1"})] * 2
    api.admit = lambda: first_two.pop() if first_two else {}
    assert kinds(client_of(api).quotes(requests_of(4))) == [SwapApiQuote] * 4


def test_after_a_429_no_one_asks_until_it_says(api: LocalSwapApi, counted: Counted) -> None:
    asked: list[None] = []

    def refuse() -> Response:
        asked.append(None)
        return Response(429, headers={"x-ratelimit-reset": str(int(time.time()) + 40)})

    api.admit = refuse
    with pytest.raises(RateLimitedError) as raised:
        client_of(api).quotes(requests_of(1))
    assert 30 < (raised.value.retry_after_seconds or 0) <= 40
    for for_build in (True, False):
        with pytest.raises(RateLimitedError):
            client_of(api).quotes(requests_of(3, first=200), for_build=for_build)
    assert (len(asked), counted.amounts) == (1, [])


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"x-ratelimit-reset": "12"}, 12),
        ({"x-ratelimit-reset": "12.5"}, 12.5),
        ({"x-ratelimit-reset": "1700000012"}, 12),
        ({"x-ratelimit-reset": "1700000012500"}, 12.5),
        ({"x-ratelimit-reset": "1600000000"}, 1),
        ({"x-ratelimit-reset": "0"}, 1),
        ({"x-ratelimit-reset": "99999"}, 3600),
        ({"x-ratelimit-reset": "soon", "Retry-After": "7"}, 7),
        ({"x-ratelimit-reset": "-5"}, None),
        ({}, None),
    ],
)
def test_the_reset_is_a_time_or_a_number_of_seconds(
    monkeypatch: pytest.MonkeyPatch, headers: dict[str, str], seconds: float | None
) -> None:
    monkeypatch.setattr(time, "time", lambda: 1_700_000_000.0)
    assert reset_in(headers) == seconds


# --- answers that are reused ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("amount", [1, 100])
def test_what_one_process_was_answered_another_does_not_ask(api: LocalSwapApi, counted: Counted, amount: int) -> None:
    wanted = [replace(REQUEST, amount=amount)]
    first = client_of(api).quotes(wanted, for_build=False)
    assert client_of(api).quotes(wanted) == first
    assert kinds(first) == [NoQuote if amount == 1 else SwapApiQuote]
    assert counted.amounts == [amount]


@pytest.mark.parametrize(
    "other",
    [
        {"taker": REQUEST.input_mint},
        {"amount": 7},
        {"slippage_bps": 51},
        {"platform_fee_bps": 0},
        {"max_accounts": 20},
    ],
)
def test_an_answer_to_other_terms_is_not_reused(api: LocalSwapApi, counted: Counted, other: dict[str, Any]) -> None:
    client_of(api).quotes([REQUEST])
    client_of(api).quotes([replace(REQUEST, **other)])
    assert len(counted.amounts) == 2


def test_an_answer_that_was_refused_is_asked_for_again(api: LocalSwapApi, counted: Counted) -> None:
    api.alter = lambda _query, body: {**body, "inAmount": "7"}
    for _ in range(2):
        with pytest.raises(SwapApiError):
            client_of(api).quotes([REQUEST])
    assert len(counted.amounts) == 2


# --- availability -----------------------------------------------------------------------------------------------------


def fail(call: Callable[[], object], times: int) -> None:
    for _ in range(times):
        with pytest.raises(SwapApiError):
            call()


def test_it_is_not_answering_after_three_failures_in_any_process_and_again_after_an_answer(api: LocalSwapApi) -> None:
    api.replace = lambda: Response(500)
    fail(lambda: client_of(api).quotes([REQUEST]), 2)
    assert client_of(api).is_answering
    fail(lambda: client_of(api).quotes([REQUEST]), 1)
    assert not client_of(api).is_answering
    api.replace = None
    client_of(api).quotes([REQUEST])
    assert client_of(api).is_answering


def test_a_full_window_is_not_an_outage(api: LocalSwapApi) -> None:
    one = client_of(api, per_minute=1)
    one.quotes([REQUEST])
    fail(lambda: one.quotes(requests_of(1)), 4)
    assert one.is_answering
