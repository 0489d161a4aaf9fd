"""The list of verified tokens: one request in hours for all processes, and an old list while no newer one comes."""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from solders.pubkey import Pubkey

from dev.solana.swap_api.server import LocalSwapApi, Request, Response
from dev.solana.swap_api.tokens import TAG_PATH
from sweepapi.limits.shared_redis import SharedRedis
from sweepapi.solana.swap_api import SwapApiError, verified_list
from sweepapi.solana.swap_api.connection import SwapApiConnection
from sweepapi.solana.swap_api.pace import Pace
from sweepapi.solana.swap_api.verified_list import FRESH_SECONDS, ListState, VerifiedList, verified_mints
from tests.solana_swap_api import KEY, serving_documented

MINTS = [Pubkey.from_bytes(bytes([number] * 32)) for number in (3, 4)]
NO_REDIS = "redis://127.0.0.1:1"

Process = Callable[..., VerifiedList]


@pytest.fixture
def api() -> Iterator[LocalSwapApi]:
    """A swap API whose list has two tokens."""
    with serving_documented(lambda _order: {}, listed=lambda: map(str, MINTS)) as served:
        yield served


@pytest.fixture
def asked(api: LocalSwapApi) -> list[str]:
    """The requests so far."""
    paths: list[str] = []
    documented = api.observe

    def observe(request: Request, response: Response | None) -> None:
        paths.append(request.path)
        documented(request, response)

    api.observe = observe
    return paths


@pytest.fixture
def process(api: LocalSwapApi) -> Process:
    """Make the list of another process; all of them share what is in Redis."""
    prefix = f"test:{uuid4()}"

    def make(redis_url: str = settings.REDIS_URL, *, used: int = 0) -> VerifiedList:
        redis = SharedRedis(redis_url, timeout_seconds=5)
        pace = Pace(redis, f"{prefix}:window", per_minute=60, share=60)
        pace.take(used, for_build=True)
        return VerifiedList(SwapApiConnection(api.url, KEY, pace), pace, redis, prefix)

    return make


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Let the processes believe that so many seconds have passed."""

    def pass_by(seconds: float) -> None:
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + seconds)

    return pass_by


def test_all_processes_ask_once(process: Process, asked: list[str]) -> None:
    lists = [process().read(), process().read()]
    assert [(set(one.mints), one.state) for one in lists] == [(set(MINTS), ListState.COMPLETE)] * 2
    assert asked == [TAG_PATH]


def test_one_process_asks_again_after_hours(
    process: Process, asked: list[str], later: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = process(), process()
    first.read()
    later(FRESH_SECONDS + 1)
    monkeypatch.setattr(VerifiedList, "_is_our_turn", lambda _self: True)  # Redis does not know that time went by
    assert first.read().state is ListState.COMPLETE
    assert second.read().state is ListState.COMPLETE
    assert len(asked) == 2


@pytest.mark.parametrize(
    "broken",
    [Response(500), Response(200, b"[]"), Response(200, b"{}"), Response(200, b'[{"id": "?"}]'), Response(200, b"[")],
    ids=["500", "empty", "not a list", "without a mint", "not JSON"],
)
def test_an_old_list_is_better_than_none(
    api: LocalSwapApi,
    process: Process,
    later: Callable[[float], None],
    monkeypatch: pytest.MonkeyPatch,
    broken: Response,
) -> None:
    process().read()
    monkeypatch.setattr(VerifiedList, "_is_our_turn", lambda _self: True)
    later(FRESH_SECONDS + 1)
    api.replace = lambda: broken
    found = process().read()
    assert (set(found.mints), found.state) == (set(MINTS), ListState.STALE)


def test_without_any_list_the_service_is_not_asked_each_time(
    api: LocalSwapApi, process: Process, asked: list[str]
) -> None:
    api.replace = lambda: Response(500)
    for one in (process(), process()):
        assert one.read().state is ListState.UNAVAILABLE
    assert len(asked) == 1


def test_without_redis_each_process_asks_and_not_each_time(
    api: LocalSwapApi, process: Process, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    api.replace = lambda: Response(500)
    alone = process(NO_REDIS)
    assert alone.read().state is alone.read().state is ListState.UNAVAILABLE
    assert len(asked) == 1
    api.replace = None
    monkeypatch.setattr(verified_list, "RETRY_SECONDS", 0)
    assert set(alone.read().mints) == set(MINTS)


def test_builds_have_half_of_the_plan_before_the_list(process: Process, asked: list[str]) -> None:
    assert process(used=30).read().state is ListState.UNAVAILABLE
    assert asked == []


@pytest.mark.parametrize(
    "token", [{"id": None}, {}, {"id": 7}, {"id": "x" * 44}, None, [], "text", {"isVerified": True}]
)
def test_a_token_without_a_usable_mint_is_left_out(token: Any) -> None:
    assert verified_mints(json.dumps([token, {"id": str(MINTS[0])}]).encode()) == {MINTS[0]}


@pytest.mark.parametrize(("is_verified", "count"), [(True, 2), (None, 2), (False, 1), ("yes", 2)])
def test_a_token_is_listed_unless_it_is_said_not_to_be_verified(is_verified: Any, count: int) -> None:
    tokens = [{"id": str(MINTS[0])}, {"id": str(MINTS[1]), "isVerified": is_verified}]
    assert len(verified_mints(json.dumps(tokens).encode())) == count


@pytest.mark.parametrize("body", [b"", b"null", b"7", b"[" * 40, b"[" + b"1," * 50_000 + b"1]"])
def test_anything_but_a_list_of_some_length_is_an_error(body: bytes) -> None:
    with pytest.raises(SwapApiError):
        verified_mints(body)
