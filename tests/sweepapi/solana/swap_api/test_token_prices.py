"""Prices that rank wallets: few requests, remembered by all processes, and nothing usable in an answer is lost."""

import json
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from solders.pubkey import Pubkey

from dev.solana.swap_api.server import LocalSwapApi, Request, Response
from dev.solana.swap_api.tokens import LIQUIDITY, PRICE_PATH
from sweepapi.limits.shared_redis import SharedRedis
from sweepapi.solana.swap_api import SwapApiError
from sweepapi.solana.swap_api.connection import SwapApiConnection
from sweepapi.solana.swap_api.pace import Pace
from sweepapi.solana.swap_api.token_prices import MAX_MINTS, MAX_REQUESTS, TokenPrice, TokenPrices, prices_in
from tests.solana_swap_api import KEY, serving_documented

MINT = Pubkey.from_bytes(bytes([3] * 32))
PRICE = {"usdPrice": 1.5, "decimals": 6, "liquidity": 900.5}
NO_REDIS = "redis://127.0.0.1:1"

Process = Callable[..., TokenPrices]


@pytest.fixture
def api() -> Iterator[LocalSwapApi]:
    """A swap API that knows a price for one mint."""
    with serving_documented(lambda _order: {}, dollars=lambda mint: (1.5, 6) if mint == str(MINT) else None) as served:
        yield served


@pytest.fixture
def asked(api: LocalSwapApi) -> list[int]:
    """How many mints each request was about."""
    counts: list[int] = []
    documented = api.observe

    def observe(request: Request, response: Response | None) -> None:
        assert request.path == PRICE_PATH
        counts.append(len(dict(request.query)["ids"].split(",")))
        documented(request, response)

    api.observe = observe
    return counts


@pytest.fixture
def process(api: LocalSwapApi) -> Process:
    """Make the prices of another process; all of them share what is in Redis."""
    prefix = f"test:{uuid4()}"

    def make(redis_url: str = settings.REDIS_URL, per_minute: int = 100) -> TokenPrices:
        redis = SharedRedis(redis_url, timeout_seconds=5)
        pace = Pace(redis, f"{prefix}:window", per_minute=per_minute, share=per_minute)
        return TokenPrices(SwapApiConnection(api.url, KEY, pace), pace, redis, prefix)

    return make


def unpriced(count: int) -> list[Pubkey]:
    return [Pubkey.new_unique() for _ in range(count)]


def test_a_page_takes_ten_requests_of_fifty_mints_at_most(process: Process, asked: list[int]) -> None:
    found = process().ask(unpriced(MAX_MINTS * MAX_REQUESTS + 7))
    assert asked == [MAX_MINTS] * MAX_REQUESTS
    assert list(found.values()) == [None] * MAX_MINTS * MAX_REQUESTS


def test_other_processes_know_what_one_asked_also_that_there_is_no_price(process: Process) -> None:
    (without,) = unpriced(1)
    assert process().ask([MINT, without]) == {MINT: TokenPrice(1.5, 6, LIQUIDITY), without: None}
    (unknown,) = unpriced(1)
    assert process().remembered([MINT, without, unknown]) == {MINT: TokenPrice(1.5, 6, LIQUIDITY), without: None}


def test_builds_have_half_of_the_plan_before_prices(process: Process, asked: list[int]) -> None:
    found = process(per_minute=6).ask([*unpriced(MAX_MINTS * 4), MINT])
    assert asked == [MAX_MINTS] * 3
    assert len(found) == MAX_MINTS * 3


@pytest.mark.parametrize("broken", [Response(500), Response(429), Response(200, b"[]"), Response(200, b"<html>")])
def test_prices_that_do_not_come_are_unknown_and_are_not_asked_for_again_at_once(
    api: LocalSwapApi, process: Process, asked: list[int], broken: Response
) -> None:
    api.replace = lambda: broken
    one = process()
    assert one.ask([MINT]) == one.ask([MINT]) == {}
    assert one.remembered([MINT]) == {}
    assert len(asked) == 1


def test_without_redis_prices_are_asked_and_forgotten(process: Process) -> None:
    alone = process(NO_REDIS)
    assert alone.ask([MINT])[MINT] is not None
    assert alone.remembered([MINT]) == {}


@pytest.mark.parametrize("name", PRICE)
@pytest.mark.parametrize("value", [None, -1, "1.5", True, [], {}, 1e300, float("nan"), float("inf"), 10**400], ids=repr)
def test_a_price_with_a_field_that_can_not_be_is_none(name: str, value: Any) -> None:
    assert prices_in(json.dumps({str(MINT): PRICE | {name: value}}).encode(), [MINT]) == {MINT: None}


@pytest.mark.parametrize("name", PRICE)
def test_a_price_without_a_field_is_none(name: str) -> None:
    price = {field: value for field, value in PRICE.items() if field != name}
    assert prices_in(json.dumps({str(MINT): price}).encode(), [MINT]) == {MINT: None}


@pytest.mark.parametrize("price", [None, 1.5, "1.5", [], [PRICE]])
def test_anything_but_a_price_is_none(price: Any) -> None:
    assert prices_in(json.dumps({str(MINT): price, "?": PRICE}).encode(), [MINT]) == {MINT: None}


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"[" * 40])
def test_anything_but_an_object_is_an_error(body: bytes) -> None:
    with pytest.raises(SwapApiError):
        prices_in(body, [MINT])


def test_a_token_is_worth_no_more_than_its_pools_hold() -> None:
    price = TokenPrice(2.0, 6, 900.5)
    assert price.worth(3 * 10**6) == 6
    assert price.worth(2**64 - 1) == 900.5
    assert TokenPrice(1e15, 255, 1.0).worth(1) == pytest.approx(0)
