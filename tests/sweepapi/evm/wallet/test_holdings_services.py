"""Services that name the tokens of wallets are read as they document it, and can't hold a request or leak a key."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from structlog.testing import capture_logs

from dev.processes.waiting import wait_until
from sweepapi.evm.wallet.holdings.alchemy import Alchemy
from sweepapi.evm.wallet.holdings.blockscout import Blockscout
from sweepapi.evm.wallet.holdings.outside import (
    MAX_PAGE_BYTES,
    MAX_PAGE_TOKENS,
    SUSPECTED_AFTER,
    HoldingsService,
    OutsideSource,
)
from sweepapi.evm.wallet.holdings.sources import Cut, Position, SearchResult
from tests.holdings_services import API, HoldingsServer, serving

WALLET = "0xC45AbE1c48539b9D69801EF05c5dB34155fe45CF"
OTHER_WALLET = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
KEY = "key-of-the-service"
# In EIP-55, as each is all digits.
TOKENS = [f"0x{i:040d}" for i in range(1, 121)]

Make = Callable[[str], HoldingsService]


def alchemy(url: str) -> HoldingsService:
    return Alchemy(url=f"{url.removesuffix(API)}/v2/{KEY}", chain_name="mars")


def blockscout(url: str) -> HoldingsService:
    return Blockscout(url=url, key=KEY, chain_name="mars")


both = pytest.mark.parametrize("make", [alchemy, blockscout])


@pytest.fixture
def server() -> Iterator[HoldingsServer]:
    with serving(TOKENS) as running:
        yield running


def found_by(source: OutsideSource, position: Position = None) -> SearchResult:
    return source.search(WALLET, position).found([])


@both
def test_all_pages_are_read(server: HoldingsServer, make: Make) -> None:
    found = found_by(OutsideSource(make(server.url)))
    assert (found.tokens, found.cut, found.goes_on) == (TOKENS, None, False)
    assert len(server.asked) > 1


@both
def test_a_search_goes_on_where_one_ended(server: HoldingsServer, make: Make) -> None:
    first = make(server.url).page(WALLET, None, 1)
    rest = found_by(OutsideSource(make(server.url)), first.following)
    assert [*first.tokens, *rest.tokens] == TOKENS


def test_a_null_parameter_is_sent_as_the_word_since_blockscout_begins_again_without_it(server: HoldingsServer) -> None:
    found_by(OutsideSource(blockscout(server.url)))
    assert server.asked[0] == {"type": "ERC-20"}
    assert server.asked[1] == {"type": "ERC-20", "fiat_value": "null", "id": "50", "value": "1"}


def test_a_key_that_a_release_echoes_is_in_no_position(server: HoldingsServer) -> None:
    server.alter = lambda given: (200, given[1] | {"next_page_params": {"id": 50, "apikey": KEY, "type": "ERC-721"}})
    assert blockscout(server.url).page(WALLET, None, 1).following == {"id": "50"}


def test_the_key_of_blockscout_is_sent_in_a_header_only(server: HoldingsServer) -> None:
    found_by(OutsideSource(blockscout(server.url)))
    assert set(server.credentials) == {f"Bearer {KEY}"}
    assert KEY not in str(server.asked)


def test_without_a_key_there_is_no_header(server: HoldingsServer) -> None:
    Blockscout(url=server.url, key="", chain_name="mars").page(WALLET, None, 1)
    assert server.credentials == [None]


def test_other_tokens_than_erc20_are_left_out(server: HoldingsServer) -> None:
    def alter(given: tuple[int, Any]) -> tuple[int, Any]:
        for item in given[1]["items"][1:]:
            item["token"]["type"] = "ERC-721"
        return given

    server.alter = alter
    assert blockscout(server.url).page(WALLET, None, 1).tokens == TOKENS[:1]


@both
@pytest.mark.parametrize(
    "answer",
    [
        (500, {}),
        (401, {"error": "no such key"}),
        (404, {"message": "Not found"}),
        (302, {}),
        (200, b"<html>"),
        (200, b"[" * 50_000),
        (200, b"null"),
        (200, {"jsonrpc": "2.0", "id": 0, "error": {"code": -32601, "message": "no such method"}}),
        (200, {"jsonrpc": "2.0", "id": 0, "result": None}),
        (200, {"jsonrpc": "2.0", "id": 0, "result": {"tokenBalances": [{"contractAddress": "0x12"}]}}),
        (200, {"jsonrpc": "2.0", "id": 0, "result": {"tokenBalances": ["0x12"]}}),
        (200, {"jsonrpc": "2.0", "id": 0, "result": {"tokenBalances": [], "pageKey": ["x"]}}),
        (200, {"jsonrpc": "2.0", "id": 0, "result": {"tokenBalances": [], "pageKey": "x" * 513}}),
        (200, {"jsonrpc": "2.0", "id": 0, "result": {"tokenBalances": [{}] * (MAX_PAGE_TOKENS + 1)}}),
        (200, {"items": "all", "next_page_params": None}),
        (200, {"items": [{"token": None}], "next_page_params": None}),
        (200, {"items": [{"token": {"type": "ERC-20", "address_hash": "0x12"}}], "next_page_params": None}),
        (200, {"items": [], "next_page_params": {"id": {"a": 1}}}),
        (200, {"items": [], "next_page_params": {"id": True}}),
        (200, {"items": [], "next_page_params": {"../x?": 1}}),
        (200, {"items": [], "next_page_params": {"id": "9" * 101}}),
        (200, {"items": [], "next_page_params": {f"p{'a' * i}": 1 for i in range(9)}}),
        (200, {"items": [{}] * (MAX_PAGE_TOKENS + 1), "next_page_params": None}),
        (200, b'"' + b"x" * MAX_PAGE_BYTES + b'"'),
    ],
    ids=lambda answer: str(answer)[:60],
)
def test_another_answer_than_a_page_is_a_failure_whose_log_shows_no_key(
    server: HoldingsServer, make: Make, answer: tuple[int, Any]
) -> None:
    server.alter = lambda _given: answer
    with capture_logs() as logs:
        found = found_by(OutsideSource(make(server.url)))
    assert (found.tokens, found.cut, found.goes_on) == ([], Cut.FAILURE, False)
    assert [line["event"] for line in logs] == ["holdings_source_failed"]
    assert KEY not in str(logs)
    assert server.url not in str(logs)


@both
def test_what_was_named_before_a_failure_counts_and_the_next_request_goes_on_there(
    server: HoldingsServer, make: Make
) -> None:
    server.alter = lambda given: given if len(server.asked) == 1 else (500, {})
    found = found_by(OutsideSource(make(server.url)))
    assert (len(found.pages), found.cut, found.goes_on) == (1, Cut.FAILURE, True)
    server.alter = None
    rest = found_by(OutsideSource(make(server.url)), found.goes_on_at)
    assert [*found.tokens, *rest.tokens] == TOKENS


@pytest.mark.parametrize("leads_to", [{"id": 50, "value": "1", "fiat_value": None}, {}])
def test_pages_that_lead_back_to_an_earlier_one_are_read_once(server: HoldingsServer, leads_to: dict[str, Any]) -> None:
    server.alter = lambda given: (200, given[1] | {"next_page_params": leads_to})
    found = found_by(OutsideSource(blockscout(server.url)))
    assert (found.cut, found.goes_on) == (Cut.CIRCLE, False)
    assert len(server.asked) == 2


def test_empty_pages_without_end_are_read_up_to_a_bound(server: HoldingsServer) -> None:
    server.alter = lambda _given: (200, {"items": [], "next_page_params": {"id": len(server.asked)}})
    found = found_by(OutsideSource(blockscout(server.url)))
    assert found.tokens == []
    assert found.cut in (Cut.COUNT, Cut.TIME)
    assert len(server.asked) <= 200


@pytest.mark.usefixtures("probing")
@both
def test_a_service_that_answers_no_one_is_left_alone_until_it_does(
    server: HoldingsServer, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sweepapi.limits.outage.PAUSE_SECONDS", 0.01)
    source = OutsideSource(make(server.url))
    server.alter = lambda _given: (500, {})
    for _ in range(SUSPECTED_AFTER):
        assert found_by(source).cut is Cut.FAILURE
    wait_until(lambda: found_by(source).cut is Cut.PAUSE, within_seconds=5, what="pause")
    server.wallets.clear()
    assert found_by(source).cut is Cut.PAUSE
    assert WALLET not in server.wallets
    server.alter = None
    wait_until(lambda: found_by(source).tokens == TOKENS, within_seconds=5, what="answer")


@pytest.mark.usefixtures("probing")
@both
def test_a_wallet_that_is_too_much_for_a_service_takes_nothing_from_others(server: HoldingsServer, make: Make) -> None:
    source = OutsideSource(make(server.url))
    server.alter = lambda given: (500, {}) if server.wallets[-1] == WALLET else given
    for _ in range(3 * SUSPECTED_AFTER):
        assert found_by(source).cut is Cut.FAILURE
    assert source.search(OTHER_WALLET, None).found([]).tokens == TOKENS


def test_a_service_that_limits_our_requests_is_left_alone_as_long_as_it_says(server: HoldingsServer) -> None:
    now = [1_000.0]
    source = OutsideSource(blockscout(server.url), clock=lambda: now[0])
    server.alter = lambda _given: (429, {})
    assert found_by(source).cut is Cut.FAILURE
    assert found_by(source).cut is Cut.PAUSE
    error = {"jsonrpc": "2.0", "id": 0, "error": {"code": 429, "message": "exceeded its compute units per second"}}
    source = OutsideSource(alchemy(server.url), clock=lambda: now[0])
    server.alter = lambda _given: (200, error)
    assert found_by(source).cut is Cut.FAILURE
    assert found_by(source).cut is Cut.PAUSE


@both
def test_a_service_that_hangs_is_waited_for_until_the_time_is_up(
    server: HoldingsServer, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sweepapi.evm.wallet.holdings.outside.SECONDS", 0.2)
    with server.hung():
        started = time.monotonic()
        found = found_by(OutsideSource(make(server.url)))
        assert 0.1 < time.monotonic() - started < 1
    assert (found.cut, found.goes_on) == (Cut.TIME, False)


def test_what_was_named_until_the_time_was_up_counts(server: HoldingsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sweepapi.evm.wallet.holdings.outside.SECONDS", 0.5)

    def answer_once(given: tuple[int, Any]) -> tuple[int, Any]:
        server._may_answer.clear()  # noqa: SLF001 - the next request hangs
        return given

    server.alter = answer_once
    source = OutsideSource(blockscout(server.url))
    found = found_by(source)
    server._may_answer.set()  # noqa: SLF001 - so that its threads end
    assert (found.tokens, found.cut, found.goes_on) == (TOKENS[:50], Cut.TIME, True)
    assert found.goes_on_at == {"fiat_value": "null", "id": "50", "value": "1"}
