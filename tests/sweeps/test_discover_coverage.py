"""POST /v2/sweep/discover: what names the tokens of a wallet, what was searched, and where the next page begins."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from django.test import Client
from eth_account import Account
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak
from structlog.testing import capture_logs

from dev.chain.listing import list_tokens
from partners.models import ApiKey
from sweepapi.evm.chain.chains import Chain, HoldingsSource
from sweepapi.evm.tokens.erc20 import TRANSFER_TOPIC
from sweepapi.evm.wallet.holdings import outside, reading
from sweepapi.evm.wallet.holdings.reading import MAX_HELD
from sweepapi.modes import Mode
from sweepapi.networks import Networks
from sweeps.rails.evm.discover import discovering
from tests.factories.partners import PartnerFactory
from tests.fake_node import FakeNode
from tests.holdings_services import HoldingsServer, serving
from tests.openapi import assert_documented
from tests.partner_app import PartnerApp, details_of, error_of

pytestmark = pytest.mark.django_db

DISCOVER = "/v2/sweep/discover"
SERVICES = ("alchemy", "blockscout")
BALANCE_OF_ONE = "600160005260206000f3"  # one of each token, whatever it is asked
BURNS_ALL_GAS = "5b600056"
MOST_ROUND_TRIPS = 7
SPAM, REAL = 5_000, 20
KEY = "key-of-the-explorer"

Serve = Callable[..., HoldingsServer]


def post_discover(app: PartnerApp, **fields: Any) -> Any:
    body = {
        "chain": app.chain.world["chain"],
        "wallet": app.user.address,
        "outputMint": app.chain.token("WETH").address,
    }
    return app.api.post(DISCOVER, body | fields, content_type="application/json")


def discovered(app: PartnerApp, **fields: Any) -> dict[str, Any]:
    """Read a wallet and return the response's data."""
    response = post_discover(app, includeHidden=True, **fields)
    assert response.status_code == 200, response.content
    data: dict[str, Any] = response.json()["data"]
    return data


def pages_of(app: PartnerApp, **fields: Any) -> list[dict[str, Any]]:
    """Read a wallet to the last page."""
    pages = [discovered(app, **fields)]
    while (cursor := pages[-1]["coverage"]["nextCursor"]) is not None:
        pages.append(discovered(app, **{**fields, "cursor": cursor}))
    return pages


def mints(found: dict[str, Any]) -> list[str]:
    return [token["mint"] for token in found["tokens"]]


def source_of(found: dict[str, Any], name: str) -> dict[str, Any]:
    sources: list[dict[str, Any]] = found["coverage"]["sources"]
    return next(source for source in sources if source["source"] == name)


def account(number: int) -> str:
    """Return an address that nothing else uses."""
    return to_checksum_address(keccak(b"coverage %d" % number)[:20])


def put_tokens(app: PartnerApp, count: int, *, code: str = BALANCE_OF_ONE, start: int = 0) -> list[str]:
    """Put so many tokens without a pool into every wallet."""
    tokens = [account(start + i) for i in range(count)]
    app.chain.node.batch([("anvil_setCode", [token, f"0x{code}"]) for token in tokens])
    return tokens


@pytest.fixture
def serve(change_networks: Callable[..., Networks], change_chain: Callable[..., Chain]) -> Iterator[Serve]:
    """Serve a service that names these tokens of any wallet, and let the service ask it."""
    with ExitStack() as stack:

        def start(name: str, tokens: list[str]) -> HoldingsServer:
            server = stack.enter_context(serving(tokens))
            change_chain(holdings_sources=tuple(HoldingsSource))
            change_networks(**{f"{name}_urls": {"local": server.url}, "blockscout_key": KEY})
            return server

        yield start


@pytest.fixture
def ample_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait longer for services: how many pages fit into two seconds depends on what else the machine does."""
    monkeypatch.setattr(outside, "SECONDS", 30.0)


@pytest.fixture
def wallet() -> str:
    """A wallet that never received anything."""
    address: str = Account.create().address
    return address


# --- what is found ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SERVICES)
def test_a_token_that_was_received_long_ago_is_found_by_a_service(app: PartnerApp, serve: Serve, name: str) -> None:
    gusd = app.chain.token("GUSD").address
    app.chain.mine(1_001)
    head = int(app.chain.rpc("eth_blockNumber"), 16)
    found = discovered(app)
    assert gusd not in mints(found)
    assert not found["coverage"]["complete"]
    searched = source_of(found, "transfer_logs")
    assert (searched["status"], searched["cutBy"]) == ("partial", "blocks")
    assert (searched["fromBlock"], searched["toBlock"]) == (head - 999, head)

    serve(name, [gusd, account(1)])
    response = post_discover(app)
    assert_documented(response, path=DISCOVER)
    found = response.json()["data"]
    assert gusd in mints(found)
    assert account(1) not in mints(found)  # it is not a token
    assert (found["coverage"]["complete"], found["coverage"]["nextCursor"]) == (True, None)
    assert source_of(found, name) == {
        "source": name,
        "status": "complete",
        "cutBy": None,
        "tokens": 2,
        "fromBlock": None,
        "toBlock": None,
    }


def test_a_token_of_the_list_is_found_whenever_it_was_received(
    app: PartnerApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    gusd = app.chain.token("GUSD").address
    app.chain.mine(1_001)
    listed = source_of(discovered(app), "token_list")["tokens"]
    monkeypatch.setattr(discovering, "tokens_of", lambda _chain_id: {gusd: "GUSD"})
    found = discovered(app)
    assert gusd in mints(found)
    assert source_of(found, "token_list")["tokens"] == listed + 1


def test_a_cursor_goes_on_to_older_blocks_up_to_the_first(app: PartnerApp, settings: Any) -> None:
    settings.DISCOVER_LOG_BLOCKS = 300
    gusd = app.chain.token("GUSD").address
    app.chain.mine(1_001)
    first, *later = pages_of(app)
    assert gusd not in mints(first)
    assert [gusd in mints(page) for page in later].count(True) == 1
    ranges = [source_of(page, "transfer_logs") for page in (first, *later)]
    assert [one["toBlock"] + 1 for one in ranges[1:]] == [one["fromBlock"] for one in ranges[:-1]]
    assert ranges[-1]["fromBlock"] == 0
    assert [page["coverage"]["complete"] for page in (first, *later)] == [*([False] * len(later)), True]
    assert [source["source"] for source in later[0]["coverage"]["sources"]] == ["transfer_logs"]


def real_tokens(app: PartnerApp, wallet: str) -> list[str]:
    """List tokens with a pool each, of which the wallet has some."""
    rpc, contracts = app.chain.node, app.chain.world["contracts"]
    return [
        token
        for kind in ("uniswap_v3", "uniswap_v2")
        for token in list_tokens(rpc, contracts, [wallet], count=REAL // 2, kind=kind)
    ]


def sellable(found: dict[str, Any]) -> set[str]:
    return {token["mint"] for token in found["tokens"] if token["verdict"] == "sellable"}


@pytest.mark.usefixtures("ample_time")
@pytest.mark.parametrize("name", SERVICES)
def test_twenty_real_tokens_among_five_thousand_of_spam_are_all_on_the_first_page(
    app: PartnerApp, serve: Serve, round_trips: list[list[str]], wallet: str, name: str
) -> None:
    real, spam = real_tokens(app, wallet), put_tokens(app, SPAM)
    server = serve(name, [*spam, *real])
    round_trips.clear()
    first = discovered(app, wallet=wallet)
    assert len(round_trips) <= MOST_ROUND_TRIPS, [len(trip) for trip in round_trips]
    assert set(real) <= sellable(first)
    assert len(mints(first)) == MAX_HELD
    coverage = first["coverage"]
    assert (coverage["complete"], coverage["tokensLeft"]) == (False, SPAM + REAL - MAX_HELD)
    assert source_of(first, name)["status"] == "complete"

    server.asked.clear()
    later = pages_of(app, wallet=wallet, cursor=coverage["nextCursor"])
    assert server.asked == []
    every = [mint for page in (first, *later) for mint in mints(page)]
    assert sorted(every) == sorted([*spam, *real])
    assert [page["coverage"]["complete"] for page in later] == [*([False] * (len(later) - 1)), True]


def test_spam_in_the_logs_hides_no_real_token_either(app: PartnerApp, node: FakeNode, wallet: str) -> None:
    named = [*real_tokens(app, wallet), *put_tokens(app, SPAM)]  # the newest last
    topics = [TRANSFER_TOPIC, "0x" + "00" * 32, "0x" + "00" * 32]
    logs = [{"address": token.lower(), "topics": topics} for token in named]
    node.alter = lambda method, _params, result: logs if method == "eth_getLogs" else result
    first = discovered(app, wallet=wallet)
    assert set(named[:REAL]) <= sellable(first)
    assert source_of(first, "transfer_logs")["tokens"] == SPAM + REAL


def test_listed_tokens_and_those_with_a_pool_come_first_among_the_candidates_of_a_partner(
    app: PartnerApp, wallet: str
) -> None:
    usdc, gusd = app.chain.token("USDC"), app.chain.token("GUSD")
    spam = put_tokens(app, MAX_HELD + 100)
    app.chain.put_code(usdc.address, BALANCE_OF_ONE)
    app.chain.put_code(gusd.address, BALANCE_OF_ONE)
    found = discovered(app, wallet=wallet, candidates=[*spam, gusd.address])
    assert {usdc.address, gusd.address} <= set(mints(found))
    assert len(mints(found)) == MAX_HELD
    assert found["coverage"]["tokensLeft"] == 102


def test_a_listed_token_comes_before_those_with_a_pool(
    app: PartnerApp, change_chain: Callable[..., Chain], wallet: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_HELD", 2)
    monkeypatch.setattr(reading, "MANY", 2)
    unlisted, listed = put_tokens(app, 2)
    pooled = [app.chain.put_code(app.chain.token(symbol).address, BALANCE_OF_ONE) for symbol in ("GUSD", "TFEE")]
    change_chain(tokens={"LISTED": listed}, reference_token=app.chain.token("USDC").address)
    first, second = pages_of(app, wallet=wallet, candidates=[unlisted, *pooled])
    assert set(mints(first)) == {listed, pooled[0]}
    assert set(mints(second)) == {pooled[1], unlisted}


def test_what_a_request_has_no_room_for_is_looked_at_by_the_next_one(
    app: PartnerApp, serve: Serve, wallet: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_LOOKED_AT", 120)
    app.chain.mine(1_001)
    spam = put_tokens(app, 130)
    serve("blockscout", spam)
    first, second = pages_of(app, wallet=wallet)
    looked_at = source_of(first, "blockscout")
    assert (looked_at["tokens"], looked_at["status"], looked_at["cutBy"]) == (100, "partial", "count")
    assert mints(first) + mints(second) == spam
    assert second["coverage"]["complete"]


def test_only_tokens_that_are_held_count(app: PartnerApp) -> None:
    names = [account(i) for i in range(1_200)]
    found = discovered(app, candidates=[*names, app.chain.token("GUSD").address])
    assert app.chain.token("GUSD").address in mints(found)
    assert found["coverage"]["tokensLeft"] == 0


def test_sources_are_asked_in_the_order_of_the_chains_file(
    app: PartnerApp, serve: Serve, change_chain: Callable[..., Chain], node: FakeNode
) -> None:
    serve("blockscout", [])
    order = (HoldingsSource.BLOCKSCOUT, HoldingsSource.CANDIDATES)
    change_chain(holdings_sources=order)
    found = discovered(app, candidates=[app.chain.token("DAI").address])
    assert [source["source"] for source in found["coverage"]["sources"]] == list(order)
    assert mints(found) == [app.chain.token("DAI").address]
    assert not any("eth_getLogs" in batch for batch in node.asked)


@pytest.mark.parametrize("kind", ["erc20", "ERC20"])
def test_candidates_may_be_assets_as_wallets_describe_them(app: PartnerApp, kind: str) -> None:
    gusd, tfee = app.chain.token("GUSD").address, app.chain.token("TFEE").address
    asset = {"address": gusd.lower(), "balance": "0x1", "type": kind, "metadata": {"symbol": "FAKE"}}
    coin = {"address": "native", "balance": "0x1", "type": "native"}
    found = discovered(app, candidates=[asset, coin, tfee])
    assert {gusd, tfee} <= set(mints(found))
    assert source_of(found, "candidates")["tokens"] == 2


# --- cursors ----------------------------------------------------------------------------------------------------------


def test_the_cursor_of_another_wallet_or_partner_or_a_changed_one_is_refused(
    app: PartnerApp,
) -> None:
    _, key = ApiKey.issue(partner=PartnerFactory.create(), name="another", mode=Mode.TEST)
    other_app = PartnerApp(Client(headers={"x-api-key": key}), app.chain)
    app.chain.mine(1_001)
    cursor = discovered(app)["coverage"]["nextCursor"]
    assert post_discover(app, cursor=cursor).status_code == 200
    changed = ("A" if cursor[0] != "A" else "B") + cursor[1:]
    for response in (
        post_discover(app, cursor=cursor, wallet=account(1)),
        post_discover(app, cursor=cursor, outputMint=app.chain.token("USDC").address),
        post_discover(other_app, cursor=cursor),
        post_discover(app, cursor=changed),
        post_discover(app, cursor="none"),
    ):
        assert error_of(response) == (400, "invalid_request")
        assert details_of(response) == {("cursor", "invalid_format")}


def test_what_was_sold_meanwhile_is_not_on_the_next_page(app: PartnerApp, wallet: str) -> None:
    spam = put_tokens(app, MAX_HELD + 10)
    first = discovered(app, wallet=wallet, candidates=spam)
    left = sorted(set(spam) - set(mints(first)))
    app.chain.put_code(left[0], "60005f5260205ff3")  # a balance of zero
    second = discovered(app, wallet=wallet, cursor=first["coverage"]["nextCursor"])
    assert sorted(mints(second)) == left[1:]


# --- services that misbehave ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_that_hangs_costs_two_seconds_and_what_it_knows(app: PartnerApp, serve: Serve, name: str) -> None:
    server = serve(name, [app.chain.token("GUSD").address])
    app.chain.mine(1_001)
    with server.hung():
        started = time.monotonic()
        found = discovered(app)
        assert time.monotonic() - started < outside.SECONDS + 1
    assert (source_of(found, name)["status"], source_of(found, name)["cutBy"]) == ("unavailable", "time")
    assert not found["coverage"]["complete"]
    assert app.chain.token("DAI").address in mints(found)


@pytest.mark.usefixtures("ample_time")
@pytest.mark.parametrize("name", SERVICES)
def test_a_service_that_names_a_million_tokens_is_read_up_to_a_bound(
    app: PartnerApp, serve: Serve, wallet: str, name: str
) -> None:
    server = serve(name, [])
    server.tokens = EndlessTokens()
    app.chain.mine(1_001)
    found = discovered(app, wallet=wallet)
    looked_at = source_of(found, name)
    assert (looked_at["status"], looked_at["cutBy"]) == ("partial", "count")
    assert looked_at["tokens"] <= 6_000
    assert found["tokens"] == []
    before = len(server.asked)
    discovered(app, wallet=wallet, cursor=found["coverage"]["nextCursor"])
    assert server.asked[before] != server.asked[0]


def test_a_token_of_a_service_that_burns_all_gas_fails_no_other(app: PartnerApp, serve: Serve, wallet: str) -> None:
    spam = put_tokens(app, 200)
    burners = [app.chain.put_code(token, BURNS_ALL_GAS) for token in spam[::50]]
    serve("blockscout", spam)
    found = discovered(app, wallet=wallet)
    assert set(mints(found)) == set(spam) - set(burners)


def test_a_service_that_says_that_a_wallet_has_nothing_hides_nothing_that_others_name(
    app: PartnerApp, serve: Serve
) -> None:
    serve("blockscout", [])
    found = discovered(app, candidates=[app.chain.token("TFEE").address])
    assert {app.chain.token(symbol).address for symbol in ("TFEE", "DAI", "GUSD")} <= set(mints(found))


def test_without_state_overrides_listed_tokens_come_first_and_nothing_is_lost(
    app: PartnerApp, serve: Serve, node: FakeNode, wallet: str
) -> None:
    spam = put_tokens(app, MAX_HELD + 100)
    usdc = app.chain.put_code(app.chain.token("USDC").address, BALANCE_OF_ONE)
    serve("blockscout", [*spam, usdc])
    node.alter = lambda method, params, result: "0x" if method == "eth_call" and len(params) > 2 else result
    node.refuse = lambda batch: len(str(batch)) > 1_500_000  # as the node behind it
    first, second = pages_of(app, wallet=wallet)
    assert usdc in mints(first)
    assert set(spam) <= {*mints(first), *mints(second)}


def test_an_unreachable_service_costs_no_secret_and_no_request(
    app: PartnerApp, change_networks: Callable[..., Networks], change_chain: Callable[..., Chain]
) -> None:
    change_chain(holdings_sources=tuple(HoldingsSource))
    change_networks(
        alchemy_urls={"local": f"http://127.0.0.1:1/v2/{KEY}"}, blockscout_urls={"local": "http://127.0.0.1:1"}
    )
    with capture_logs() as logs:
        response = post_discover(app)
    assert response.status_code == 200
    assert {line["source"] for line in logs if line["event"] == "holdings_source_failed"} == set(SERVICES)
    assert KEY not in str(logs) + response.content.decode()


class EndlessTokens(list[str]):
    """A million tokens, made when they are looked at."""

    def __len__(self) -> int:
        return 1_000_000

    def __getitem__(self, part: Any) -> Any:
        return [account(i) for i in range(*part.indices(len(self)))]
