"""The client sends documented requests, in parallel within its bounds, and gives up in time."""

import gzip
import json
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from threading import Barrier, Event, Lock
from typing import Any

import pytest
from spl.token.constants import WRAPPED_SOL_MINT

from dev.processes.waiting import wait_until
from dev.solana.swap_api.orders import Order, RefusedError
from dev.solana.swap_api.server import LocalSwapApi, Response
from sweepapi.limits import outage
from sweepapi.solana.swap_api import NoQuote, QuoteRequest, SwapApiError, SwapApiQuote, client
from sweepapi.solana.swap_api.client import MAX_RESPONSE_BYTES, WORKERS
from tests.solana_swap_api import client_at, serving_documented
from tests.sweepapi.solana.canned_swap_api import (
    BOUGHT,
    FEE_ACCOUNT,
    REQUEST,
    SOLD,
    TAKER,
    build,
    client_of,
    quote_of,
    refusal,
)

pytestmark = pytest.mark.usefixtures("probing")

SECRET = "words-of-the-url-and-the-key"


@pytest.fixture
def start() -> Iterator[Callable[..., LocalSwapApi]]:
    """Start swap APIs, which build answers without a cluster."""
    with ExitStack() as stack:
        yield lambda build: stack.enter_context(serving_documented(build))


@pytest.fixture
def api(start: Callable[..., LocalSwapApi]) -> LocalSwapApi:
    return start(build)


def wait_for_workers() -> None:
    """Wait until the threads of the client ended, which nothing waits for once one request failed."""
    for thread in threading.enumerate():
        if thread.name.startswith("swap-api"):
            thread.join(timeout=10)
            assert not thread.is_alive()


@pytest.mark.parametrize(
    ("request_", "changes"),
    [
        (REQUEST, {}),
        (replace(REQUEST, max_accounts=20), {"maxAccounts": "20"}),
        (replace(REQUEST, price_percentile="medium"), {"computeUnitPricePercentile": "2500"}),
        (replace(REQUEST, platform_fee_bps=0), {"platformFeeBps": "0", "feeAccount": None}),
        (
            replace(REQUEST, input_mint=str(WRAPPED_SOL_MINT)),
            {"inputMint": str(WRAPPED_SOL_MINT), "wrapAndUnwrapSol": "false"},
        ),
    ],
)
def test_a_request_sends_its_terms(api: LocalSwapApi, request_: QuoteRequest, changes: dict[str, str]) -> None:
    queries: list[dict[str, str]] = []

    def note(query: Any, body: dict[str, Any]) -> dict[str, Any]:
        queries.append(query)
        return body

    api.alter = note
    quote_of(api, request_)
    usual = {
        "inputMint": str(SOLD),
        "outputMint": str(BOUGHT),
        "amount": "1000000",
        "taker": str(TAKER),
        "slippageBps": "50",
        "platformFeeBps": "75",
        "feeAccount": str(FEE_ACCOUNT),
        "maxAccounts": "64",
        "computeUnitPricePercentile": "7500",
        "wrapAndUnwrapSol": "true",
    }
    assert queries == [{name: value for name, value in (usual | changes).items() if value is not None}]


def test_requests_run_in_parallel_within_a_bound_and_are_answered_in_order(
    start: Callable[..., LocalSwapApi],
) -> None:
    together, lock = Barrier(WORKERS, timeout=10), Lock()
    running: list[int] = [0]
    most: list[int] = []

    def build_together(order: Order) -> dict[str, Any]:
        with lock:
            running[0] += 1
            most.append(running[0])
        together.wait()  # until as many requests as there are workers
        with lock:
            running[0] -= 1
        return build(order)

    requests = [replace(REQUEST, amount=amount) for amount in range(100, 100 + 2 * WORKERS)]
    quotes = client_of(start(build_together)).quotes(requests)
    assert [quote.in_amount for quote in quotes if isinstance(quote, SwapApiQuote)] == [*range(100, 100 + 2 * WORKERS)]
    assert max(most) == WORKERS


def test_a_bad_answer_leaves_the_others_theirs(start: Callable[..., LocalSwapApi]) -> None:
    api = start(build)
    api.alter = lambda query, body: {**body, "inAmount": "7"} if query["amount"] == "2" else body
    first, bad, last = client_of(api).quotes([REQUEST, replace(REQUEST, amount=2), REQUEST])
    assert isinstance(bad, SwapApiError)
    assert (str(bad), bad.is_temporary) == ("the swap API quotes another amount than requested", False)
    assert isinstance(first, SwapApiQuote)
    assert isinstance(last, SwapApiQuote)


def test_a_late_answer_leaves_the_others_theirs(start: Callable[..., LocalSwapApi]) -> None:
    release = Event()

    def build_some(order: Order) -> dict[str, Any]:
        if order.amount == 2:
            release.wait()
        return build(order)

    late, other = client_of(start(build_some), timeout_seconds=1).quotes([replace(REQUEST, amount=2), REQUEST])
    release.set()
    assert isinstance(late, SwapApiError)
    assert late.is_temporary
    assert isinstance(other, SwapApiQuote)


def test_one_token_without_a_quote_leaves_the_others_theirs(start: Callable[..., LocalSwapApi]) -> None:
    def build_some(order: Order) -> dict[str, Any]:
        if order.amount == 1:
            raise RefusedError("Dust")
        return build(order)

    first, second = client_of(start(build_some)).quotes([replace(REQUEST, amount=1), REQUEST])
    assert first == NoQuote("Dust")
    assert isinstance(second, SwapApiQuote)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("7", 7), ("999999999", 3_600), ("-1", 5), ("Wed, 21 Oct 2026 07:28:00 GMT", 5), (None, 5)],
)
def test_a_429_says_when_to_try_again(
    api: LocalSwapApi, monkeypatch: pytest.MonkeyPatch, header: str | None, seconds: int
) -> None:
    monkeypatch.setattr(client, "MAX_WAIT_SECONDS", 0)
    headers = {} if header is None else {"Retry-After": header}
    api.replace = lambda: Response(429, b'{"error": "slow down"}', headers)
    refused = refusal(api)
    assert str(refused) == "the swap API takes no more requests for now"
    assert (refused.retry_after_seconds, refused.is_temporary) == (seconds, True)


@pytest.mark.parametrize("status", [201, 204, 401, 403, 404, 500, 503])
def test_any_other_status_is_an_error(api: LocalSwapApi, status: int) -> None:
    api.replace = lambda: Response(status)
    refused = refusal(api)
    assert (str(refused), refused.is_temporary) == (f"the swap API answered with status {status}", status >= 500)


def test_a_redirect_is_not_followed(api: LocalSwapApi, start: Callable[..., LocalSwapApi]) -> None:
    asked: list[Order] = []

    def build_elsewhere(order: Order) -> dict[str, Any]:
        asked.append(order)
        return build(order)

    elsewhere = start(build_elsewhere)
    api.replace = lambda: Response(302, headers={"Location": f"{elsewhere.url}/build"})
    assert str(refusal(api)) == "the swap API answered with status 302"
    assert asked == []


def test_a_compressed_answer_is_read(api: LocalSwapApi) -> None:
    compressed = gzip.compress(json.dumps(build(Order(SOLD, BOUGHT, 1_000_000, TAKER, 50))).encode())
    api.replace = lambda: Response(200, compressed, {"Content-Encoding": "gzip"})
    assert quote_of(api).out_amount == 2_000_000


@pytest.mark.parametrize("headers", [{}, {"Content-Encoding": "gzip"}])
def test_an_answer_that_is_too_long_is_refused(api: LocalSwapApi, headers: dict[str, str]) -> None:
    body = b" " * (MAX_RESPONSE_BYTES + 1)
    sent = gzip.compress(body) if headers else body
    api.replace = lambda: Response(200, sent, headers)
    assert str(refusal(api)) == "the swap API did not answer (BodyTooLongError)"


def test_a_swap_api_that_hangs_is_given_up_in_time(api: LocalSwapApi) -> None:
    with api.hung():
        assert "did not answer" in str(refusal(api, timeout_seconds=0.2))


def test_one_request_does_not_use_the_time_of_all(api: LocalSwapApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "MAX_REQUEST_SECONDS", 0.1)
    with api.hung():
        assert str(refusal(api, timeout_seconds=60)) == "the swap API did not answer (ReadTimeout)"


def test_an_answer_that_trickles_is_given_up_in_time(api: LocalSwapApi) -> None:
    done = Event()

    def trickle() -> Iterable[bytes]:
        while not done.wait(0.02):
            yield b" "

    api.replace = lambda: Response(200, parts=trickle())
    assert "did not answer" in str(refusal(api, timeout_seconds=0.2))
    wait_for_workers()
    done.set()


def test_requests_that_no_worker_reached_in_time_are_not_sent(start: Callable[..., LocalSwapApi]) -> None:
    asked: list[Order] = []
    release = Event()

    def build_late(order: Order) -> dict[str, Any]:
        asked.append(order)
        release.wait()
        return build(order)

    with pytest.raises(SwapApiError):
        client_of(start(build_late), timeout_seconds=1).quotes(
            [replace(REQUEST, amount=amount) for amount in range(1, 3 * WORKERS)]
        )
    release.set()
    wait_for_workers()
    assert len(asked) == WORKERS


@pytest.mark.parametrize(
    "url",
    [f"http://127.0.0.1:1/{SECRET}", SECRET, f"http://{SECRET}:x@127.0.0.1:1", f"http://{SECRET}.invalid:1"],
)
@pytest.mark.parametrize("key", [SECRET, f"{SECRET}\n"])
def test_neither_the_url_nor_the_key_is_in_an_error(url: str, key: str) -> None:
    swap_api = client_at(url, key)
    assert SECRET not in repr(swap_api)
    with pytest.raises(SwapApiError) as raised:
        swap_api.quotes([REQUEST])
    assert SECRET not in "".join(traceback.format_exception(raised.value))


def test_a_swap_api_that_keeps_failing_is_answered_at_once_and_asked_beside_until_it_answers(
    start: Callable[..., LocalSwapApi], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outage, "PAUSE_SECONDS", 0.01)
    hung = Event()

    def build_late(order: Order) -> dict[str, Any]:
        hung.wait()
        return build(order)

    client = client_of(start(build_late), timeout_seconds=0.2)

    def is_refused_at_once() -> bool:
        with pytest.raises(SwapApiError) as refused:
            client.quotes([REQUEST])
        return str(refused.value) == "the swap API does not answer"

    wait_until(is_refused_at_once, within_seconds=60, what="knowledge of the outage")
    hung.set()

    def is_back() -> bool:
        with suppress(SwapApiError):
            return len(client.quotes([REQUEST])) == 1
        return False

    wait_until(is_back, within_seconds=60, what="its end")
