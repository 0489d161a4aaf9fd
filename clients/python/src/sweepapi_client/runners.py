"""Run calls, blocking or awaited: each request is repeated while that can help and does no harm."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any, TypeVar, cast

import httpx2

from sweepapi_client.calls import Call
from sweepapi_client.errors import NoAnswerError, SweepApiError

if TYPE_CHECKING:
    from sweepapi_client.types import ApiError

FIRST_WAIT_SECONDS = 0.25
LONGEST_WAIT_SECONDS = 20
ERROR_FIELDS = {"code", "message", "details", "retryable", "requestId", "docUrl"}
FAILURES = (SweepApiError, NoAnswerError, httpx2.RequestError)

Data = TypeVar("Data")


class SyncRunner:
    """Runs calls of a `SweepClient`."""

    def __init__(self, http: httpx2.Client, retries: int) -> None:
        self._http, self._retries = http, retries

    def data(self, call: Call[Data]) -> Data:
        """Return the data of an answer; raises `SweepApiError` and `NoAnswerError`."""
        request, repetitions = _request(self._http, call), _Repetitions(call, self._retries)
        while True:
            try:
                return _data(self._http.send(request), call)
            except FAILURES as failure:
                seconds = repetitions.seconds_after(failure)
            time.sleep(seconds)

    def items(self, call: Call[Data]) -> Iterator[Data]:
        """Iterate over the items of a page and of those after it; raises as `data` does."""
        following: Call[Any] | None = call
        while following is not None:
            page = self.data(following)
            yield from page["items"]
            following = _following(following, page)


class AsyncRunner:
    """Runs calls of an `AsyncSweepClient`, as `SyncRunner` does."""

    def __init__(self, http: httpx2.AsyncClient, retries: int) -> None:
        self._http, self._retries = http, retries

    async def data(self, call: Call[Data]) -> Data:
        request, repetitions = _request(self._http, call), _Repetitions(call, self._retries)
        while True:
            try:
                return _data(await self._http.send(request), call)
            except FAILURES as failure:
                seconds = repetitions.seconds_after(failure)
            await asyncio.sleep(seconds)

    async def items(self, call: Call[Data]) -> AsyncIterator[Data]:
        following: Call[Any] | None = call
        while following is not None:
            page = await self.data(following)
            for item in page["items"]:
                yield item
            following = _following(following, page)


class _Repetitions:
    """How often a call was repeated, and how long to wait before the next time."""

    def __init__(self, call: Call[Any], retries: int) -> None:
        self._left = retries if call.is_repeatable else 0
        self._backoff = FIRST_WAIT_SECONDS

    def seconds_after(self, failure: Exception) -> float:
        """Return how long to wait; raises the failure unless a repetition can help, is left and comes soon."""
        said = failure.retry_after_seconds if isinstance(failure, SweepApiError) else None
        is_final = isinstance(failure, SweepApiError) and not failure.retryable
        if is_final or not self._left or (said or 0) > LONGEST_WAIT_SECONDS:
            if isinstance(failure, httpx2.RequestError):
                raise NoAnswerError("no answer of the API arrived") from failure
            raise failure
        seconds, self._left, self._backoff = said or self._backoff, self._left - 1, 2 * self._backoff
        return seconds


def _request(http: httpx2.Client | httpx2.AsyncClient, call: Call[Any]) -> httpx2.Request:
    return http.build_request(call.method, call.path, json=call.body, params=call.query, headers=call.headers)


def _data(response: httpx2.Response, call: Call[Data]) -> Data:
    """Return the data of a success; raises `SweepApiError`, or `NoAnswerError` if the answer is not the API's."""
    try:
        body = response.json()
    except ValueError:
        body = None
    if isinstance(body, dict):
        if response.is_success and (not call.has_envelope or "data" in body):
            return cast("Data", body["data"] if call.has_envelope else body)
        error = body.get("error")
        if isinstance(error, dict) and error.keys() >= ERROR_FIELDS:
            raise SweepApiError(response.status_code, cast("ApiError", error), _retry_after_seconds(response))
    raise NoAnswerError(f"the answer with HTTP status {response.status_code} is not the API's")


def _retry_after_seconds(response: httpx2.Response) -> int | None:
    said = response.headers.get("Retry-After", "")
    return int(said) or None if re.fullmatch("[0-9]{1,9}", said) else None


def _following(call: Call[Any], page: dict[str, Any]) -> Call[Any] | None:
    cursor: str | None = page["nextCursor"]
    return None if cursor is None else call.from_cursor(cursor)
