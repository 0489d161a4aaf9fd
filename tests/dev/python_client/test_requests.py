"""Requests of the Python client are repeated where that helps and does no harm, and show the key to no one else."""

import asyncio
import inspect
import json
import logging
import pickle
import re
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from sweepapi.api.openapi.document import document
from sweepapi_client import AsyncSweepClient, NoAnswerError, SweepApiError, operations
from sweepapi_client.calls import Described, Operations
from sweepapi_client.clients import TIMEOUT_SECONDS
from tests.dev.python_client.conftest import Kind, World

KEY = "swp_test_secret"
STATUS = httpx2.Response(200, json={"ok": True, "data": {"version": "2.0.0"}})

Answer = httpx2.Response | httpx2.TransportError


def refusal(status: int, *, retryable: bool, after: str | None = None) -> httpx2.Response:
    error = {"code": "x", "message": "", "details": [], "retryable": retryable, "requestId": "", "docUrl": ""}
    headers = {} if after is None else {"Retry-After": after}
    return httpx2.Response(status, json={"ok": False, "error": error}, headers=headers)


def unavailable(status: int = 503, *, after: str | None = None) -> httpx2.Response:
    return refusal(status, retryable=True, after=after)


class Connection(httpx2.MockTransport):
    """Gives these answers one after the other, the last one again and again; it remembers the requests."""

    def __init__(self, *answers: Answer) -> None:
        self.requests: list[httpx2.Request] = []
        super().__init__(self._answer)
        self._answers = answers

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        answer = self._answers[min(len(self.requests), len(self._answers)) - 1]
        if isinstance(answer, httpx2.TransportError):
            raise answer
        return httpx2.Response(answer.status_code, headers=answer.headers, content=answer.content)  # each is read once


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the clients wanted to wait; they don't."""
    waited: list[float] = []

    async def note(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr("sweepapi_client.runners.time.sleep", waited.append)
    monkeypatch.setattr("sweepapi_client.runners.asyncio.sleep", note)
    return waited


# --- repetitions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 503])
def test_what_is_unavailable_is_asked_again_when_it_says(kind: Kind, waits: list[float], status: int) -> None:
    connection = Connection(unavailable(status, after="7"), STATUS)
    assert kind.wait(kind.create(transport=connection).status()) == {"version": "2.0.0"}
    assert waits == [7]


def test_without_a_time_each_wait_is_twice_the_one_before(kind: Kind, waits: list[float]) -> None:
    connection = Connection(unavailable(), httpx2.ReadError("reset"), unavailable(), STATUS)
    kind.wait(kind.create(transport=connection, retries=3).status())
    assert waits == [0.25, 0.5, 1.0]


@pytest.mark.parametrize(
    "answer",
    [unavailable(after="21"), refusal(422, retryable=False)],
    ids=["too long a wait", "not for a while only"],
)
def test_a_refusal_that_waiting_does_not_end_is_raised_at_once(
    kind: Kind, waits: list[float], answer: httpx2.Response
) -> None:
    connection = Connection(answer)
    with pytest.raises(SweepApiError):
        kind.wait(kind.create(transport=connection).status())
    assert (len(connection.requests), waits) == (1, [])


def test_a_refusal_says_when_to_ask_again(kind: Kind) -> None:
    connection = Connection(unavailable(after="21"))
    with pytest.raises(SweepApiError) as refused:
        kind.wait(kind.create(transport=connection).status())
    assert refused.value.retry_after_seconds == 21


@pytest.mark.parametrize(
    "answer",
    [
        httpx2.ConnectError("refused"),
        httpx2.Response(502, text="<html>Bad Gateway</html>"),
        httpx2.Response(200, text="<html>Log in</html>"),
        httpx2.Response(200, json=["not", "ours"]),
        httpx2.Response(500, json={"error": {"code": "of a proxy"}}),
        httpx2.Response(500, json={"ok": True, "data": {}}),
    ],
    ids=["no connection", "a gateway", "a portal", "other JSON", "other errors", "data of an error"],
)
@pytest.mark.usefixtures("waits")
def test_what_is_not_an_answer_of_the_api_is_asked_again_and_then_raised(kind: Kind, answer: Answer) -> None:
    connection = Connection(answer)
    with pytest.raises(NoAnswerError):
        kind.wait(kind.create(transport=connection).status())
    assert len(connection.requests) == 3


def test_a_build_is_repeated_under_its_key_and_another_has_another(kind: Kind, waits: list[float]) -> None:
    connection = Connection(httpx2.ReadError("lost"), STATUS)
    client = kind.create(transport=connection)
    kind.wait(client.build({}))
    kind.wait(client.build({}))
    first, repeated, other = (request.headers["Idempotency-Key"] for request in connection.requests)
    assert first == repeated != other
    assert len(waits) == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda client: client.webhooks.create({}),
        lambda client: client.webhooks.delete("1"),
        lambda client: client.webhooks.ping("1"),
        lambda client: client.webhooks.rotate_secret("1"),
        lambda client: client.sandbox.advance({}),
    ],
    ids=["create", "delete", "ping", "rotate", "advance"],
)
def test_what_must_not_happen_twice_is_not_repeated(kind: Kind, call: Callable[[Any], Any]) -> None:
    connection = Connection(httpx2.ReadError("lost"))
    with pytest.raises(NoAnswerError):
        kind.wait(call(kind.create(transport=connection)))
    assert len(connection.requests) == 1


# --- the end of a request ---------------------------------------------------------------------------------------------


def test_a_server_that_does_not_answer_in_time_is_given_up(kind: Kind) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        client = kind.create(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout_seconds=0.05, retries=0)
        began = time.monotonic()
        with pytest.raises(NoAnswerError):
            kind.wait(client.status())
        assert time.monotonic() - began < TIMEOUT_SECONDS


@pytest.mark.parametrize("answers", [True, False], ids=["between two requests", "within a request"])
def test_a_task_that_is_cancelled_ends_at_once_and_asks_no_more(*, answers: bool) -> None:
    async def cancel() -> int:
        requests: list[httpx2.Request] = []
        asked = asyncio.Event()

        async def answer(request: httpx2.Request) -> httpx2.Response:
            requests.append(request)
            asked.set()
            if not answers:
                await asyncio.Event().wait()  # for ever
            return unavailable(after="15")

        async with AsyncSweepClient("https://api.example.com", KEY, transport=httpx2.MockTransport(answer)) as client:
            task = asyncio.create_task(client.status())
            await asked.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        return len(requests)

    assert asyncio.run(cancel()) == 1


# --- the key ----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("waits")
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_does_not_take_the_key_to_another_host(kind: Kind, status: int) -> None:
    connection = Connection(httpx2.Response(status, headers={"Location": "https://thief.example.com/"}))
    with pytest.raises(NoAnswerError, match=f"HTTP status {status}"):
        kind.wait(kind.create(transport=connection).status())
    assert {request.url.host for request in connection.requests} == {"api.example.com"}


@pytest.mark.usefixtures("waits")
def test_the_key_is_sent_and_is_in_no_error_and_no_representation(kind: Kind) -> None:
    for answer in (httpx2.ConnectError("refused"), refusal(403, retryable=False), httpx2.Response(502)):
        connection = Connection(answer)
        client = kind.create(api_key=KEY, transport=connection)
        with pytest.raises((SweepApiError, NoAnswerError)) as raised:
            kind.wait(client.status())
        shown = [repr(client), repr(raised.value), *traceback.format_exception(raised.value)]
        assert connection.requests[0].headers["x-api-key"] == KEY
        assert KEY not in "".join(shown)


@pytest.mark.django_db(transaction=True)
def test_the_key_is_in_no_log(kind: Kind, world: World, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        kind.wait(kind.create(*world.access).partner())
    assert "/v2/partner" in caplog.text
    assert world.access[1] not in caplog.text


@pytest.mark.parametrize("key", ["", f"{KEY}\n", f"{KEY} ", f"{KEY}é"])
def test_a_key_that_no_header_can_have_is_refused_without_being_shown(kind: Kind, key: str) -> None:
    with pytest.raises(ValueError, match="the API key is empty, or has") as refused:
        kind.create(api_key=key)
    assert KEY not in str(refused.value)


# --- the shape --------------------------------------------------------------------------------------------------------


def test_an_id_stays_one_segment_of_the_path(kind: Kind) -> None:
    connection = Connection(STATUS)
    kind.wait(kind.create(transport=connection).sweep("../../partner?x=1"))
    assert connection.requests[0].url.raw_path == b"/v2/sweep/status/..%2F..%2Fpartner%3Fx%3D1"


def test_the_query_of_a_page_is_that_of_the_pages_after_it(kind: Kind) -> None:
    pages = [
        {"items": [1, 2], "nextCursor": "two"},
        {"items": [], "nextCursor": "three"},
        {"items": [3], "nextCursor": None},
    ]
    connection = Connection(*(httpx2.Response(200, json={"ok": True, "data": page}) for page in pages))
    assert kind.items(kind.create(transport=connection).history({"from": "2026-01-01"})) == [1, 2, 3]
    queries = [dict(request.url.params) for request in connection.requests]
    since = {"from": "2026-01-01"}
    assert queries == [since, {**since, "cursor": "two"}, {**since, "cursor": "three"}]


def test_every_call_is_an_operation_of_the_api() -> None:
    groups = [one for one in vars(operations).values() if inspect.isclass(one) and issubclass(one, Operations)]
    described = [one for group in groups for one in vars(group).values() if isinstance(one, Described)]
    calls = {call_of(one) for one in described}
    of_the_api = {
        (method.upper(), re.sub(r"\{\w+\}", "id", path))
        for path, methods in json.loads(document().plain.body)["paths"].items()
        for method in methods
    }
    assert calls - of_the_api == {("GET", "/.well-known/jwks.json")}
    assert len(calls) > 30


def call_of(described: Any) -> tuple[str, str]:
    required = [one for one in inspect.signature(described.describe).parameters.values() if one.default is one.empty]
    call = described.describe(*["id"] * len(required))
    return call.method, call.path


def test_the_types_are_needed_by_type_checkers_only() -> None:
    code = "import sys; sys.modules['sweepapi_client.types'] = None; import sweepapi_client.mcp_server"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_refusal_passes_between_processes() -> None:
    error = {"code": "x", "message": "m", "details": [], "retryable": True, "requestId": "r", "docUrl": "d"}
    refused: Any = pickle.loads(pickle.dumps(SweepApiError(503, error, 7)))  # type: ignore[arg-type]  # noqa: S301
    assert (refused.code, refused.retry_after_seconds) == ("x", 7)
