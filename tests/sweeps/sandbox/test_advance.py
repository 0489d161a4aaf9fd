"""POST /v2/sandbox/advance and /fund: blocks are mined, the clock moves, and builds and expiries follow the chain."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.utils import timezone
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak
from pytest_django import Settings
from redis import Redis

from sweepapi import networks
from sweeps.models import Sweep
from sweeps.sandbox import operating
from sweeps.sandbox.blocks import Heads
from sweeps.sandbox.node import NodeRefusedError
from sweeps.sandbox.outcomes import ForcedOutcome
from tests.factories.partners import PartnerFactory
from tests.factories.sweeps import LOCAL, SweepFactory
from tests.openapi import assert_documented
from tests.partner_app import details_of, error_of
from tests.scenarios.scene import Scene, status_of
from tests.sweeps.sandbox.tester import COIN, REQUESTS, SandboxUser

pytestmark = pytest.mark.django_db


def time_of(block: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(block["timestamp"])


def test_it_mines_the_blocks_and_moves_the_clock_before_the_first(tester: SandboxUser) -> None:
    before = tester.advance()
    after = tester.advance(blocks=9, seconds=3600)
    assert after["head"]["number"] == before["head"]["number"] + 9
    moved = time_of(after["head"]) - time_of(before["head"])
    assert timedelta(seconds=3600) <= moved < timedelta(seconds=3720)
    shown = tester.rpc("eth_getBlockByNumber", hex(after["head"]["number"]), False)  # noqa: FBT003 JSON-RPC
    assert after["head"]["hash"] == shown["hash"]
    assert after["final"]["number"] < after["safe"]["number"] < after["head"]["number"]


def test_the_clock_goes_on_from_where_it_was_moved_to(tester: SandboxUser) -> None:
    moved = time_of(tester.advance(seconds=3600)["head"])
    assert tester.clock() >= moved
    assert time_of(tester.advance()["head"]) >= moved > timezone.now() + timedelta(seconds=3000)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"blocks": 0}, ("blocks", "out_of_range")),
        ({"blocks": 65}, ("blocks", "out_of_range")),
        ({"blocks": "1"}, ("blocks", "invalid_type")),
        ({"seconds": 3601}, ("seconds", "out_of_range")),
        ({"seconds": -1}, ("seconds", "out_of_range")),
        ({"seconds": True}, ("seconds", "invalid_type")),
        ({"minutes": 1}, ("minutes", "unknown_field")),
    ],
)
def test_what_is_out_of_bounds_is_refused(
    tester: SandboxUser, change: dict[str, Any], problem: tuple[str, str]
) -> None:
    head = tester.rpc("eth_blockNumber")
    response = tester.post("/advance", {"chain": "local", **change})
    assert (error_of(response), details_of(response)) == ((400, "invalid_request"), {problem})
    assert tester.rpc("eth_blockNumber") == head


def test_the_clock_is_never_a_year_ahead(tester: SandboxUser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operating, "MAX_AHEAD", timedelta(minutes=30))
    response = tester.post("/advance", {"chain": "local", "seconds": 3600})
    assert details_of(response) == {("seconds", "out_of_range")}


def test_a_partner_can_move_the_clock_by_a_bounded_time_each_day(
    tester: SandboxUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operating, "MAX_SECONDS_PER_DAY", 1000)
    moved = time_of(tester.advance(seconds=700)["head"])
    refused = tester.post("/advance", {"chain": "local", "seconds": 301})
    assert error_of(refused) == (429, "rate_limited")
    assert 0 < int(refused.headers["Retry-After"]) <= 86_400
    assert_documented(refused, path="/v2/sandbox/advance")
    assert time_of(tester.advance(seconds=300)["head"]) - moved < timedelta(
        seconds=360
    )  # what was refused is not counted
    assert error_of(tester.post("/advance", {"chain": "local", "seconds": 1})) == (429, "rate_limited")
    tester.advance(blocks=2)
    operating.advance(networks.current(), LOCAL, PartnerFactory.create().id, blocks=1, seconds=301)


@pytest.mark.django_db(transaction=True)
def test_two_advances_at_once_both_count(tester: SandboxUser) -> None:
    def advance(partner_id: UUID) -> Heads:
        try:
            return operating.advance(networks.current(), LOCAL, partner_id, blocks=5, seconds=100)
        finally:
            connection.close()

    before = tester.advance()["head"]
    partners = [PartnerFactory.create().id for _ in range(4)]
    with ThreadPoolExecutor(2) as pool:
        moves = [pool.submit(advance, partner_id) for partner_id in partners]
        numbers = sorted(move.result().head.number for move in moves)
    assert numbers == [before["number"] + 5 * count for count in (1, 2, 3, 4)]
    moved = tester.clock() - time_of(before)
    assert timedelta(seconds=400) <= moved < timedelta(seconds=520)


# --- expiries ---------------------------------------------------------------------------------------------------------


def test_a_build_after_an_advance_is_valid_by_the_clock_of_the_chain(tester: SandboxUser) -> None:
    tester.fund()
    tester.advance(seconds=3600)
    built = tester.build({"script": COIN})
    assert datetime.fromisoformat(built["expiresAt"]) >= tester.clock() + timedelta(seconds=890)
    tester.approve(built)
    tx_hash = tester.execute(built)
    response = tester.app.post_confirm(built["sweepId"], tx_hash)
    assert (response.status_code, response.json()["data"]["status"]) == (200, "completed")


def test_an_advance_past_the_deadline_expires_a_sweep_at_once(tester: SandboxUser) -> None:
    tester.fund()
    built = tester.build({"script": COIN})
    assert Sweep.objects.filter(next_check_at__gt=timezone.now() + timedelta(seconds=600)).exists()
    tester.advance(blocks=6, seconds=1000)
    assert Sweep.objects.filter(next_check_at__lte=timezone.now()).exists()
    Scene(tester.app).check()
    assert status_of(built) == ("expired", False)


def test_an_advance_does_not_touch_sweeps_of_other_chains(tester: SandboxUser) -> None:
    later = timezone.now() + timedelta(hours=1)
    other = SweepFactory.create(network="eip155:8453", next_check_at=later)
    mine = SweepFactory.create(network=LOCAL, next_check_at=later)
    tester.advance()
    assert Sweep.objects.get(id=other.id).next_check_at == later
    assert Sweep.objects.filter(id=mine.id, next_check_at__lt=later).exists()


# --- the faucet -------------------------------------------------------------------------------------------------------


def test_a_new_wallet_gets_a_coin_and_each_token_in_one_block(tester: SandboxUser) -> None:
    head = tester.advance()["head"]["number"]
    given = tester.fund()
    assert (given["coins"], given["tokenAmount"]) == (str(COIN), str(1000 * COIN))
    assert given["head"]["number"] == head + 1
    assert set(given["tokens"]) == set(tester.tokens().values())
    for mint in given["tokens"]:
        assert tester.app.chain.balance_of(tester.wallet.address, mint) == 1000 * COIN
    assert int(tester.rpc("eth_getBalance", tester.wallet.address, "latest"), 16) == COIN
    assert tester.fund()["coins"] == "0"


def test_a_wallet_is_funded_even_if_someone_took_the_coins_of_the_payer(tester: SandboxUser) -> None:
    payer = tester.app.chain.rpc("eth_accounts")[0]
    tester.app.chain.rpc("anvil_setBalance", payer, "0x1")
    assert tester.fund()["coins"] == str(COIN)


def test_a_reorganisation_keeps_what_a_payer_without_coins_of_its_own_gave(tester: SandboxUser) -> None:
    payer, other = tester.app.chain.rpc("eth_accounts")[0], SandboxUser(tester.app)
    tester.fund()
    tester.app.chain.rpc("anvil_setBalance", payer, "0x1")
    tester.advance()
    tx_hash = tester.send_scripted(ForcedOutcome.REORGANISED)
    tester.app.chain.receipt(tx_hash)
    other.fund()
    tester.advance()
    assert not tester.is_mined(tx_hash)
    assert int(other.rpc("eth_getBalance", other.wallet.address, "latest"), 16) == COIN


@pytest.mark.parametrize(
    ("refused", "path", "body"),
    [
        ("eth_sendTransaction", "/fund", {"chain": "local", "wallet": "0x" + "11" * 20}),
        ("anvil_mine", "/advance", {"chain": "local"}),
    ],
)
def test_a_node_that_refuses_what_it_must_do_is_unavailable(
    tester: SandboxUser, asked: Callable[..., list[str]], refused: str, path: str, body: dict[str, Any]
) -> None:
    asked(**{refused: NodeRefusedError({"code": -32003, "message": "Insufficient funds for gas * price + value"})})
    assert error_of(tester.post(path, body)) == (503, "chain_unavailable")


def reserves_of(tester: SandboxUser, pair: str) -> str:
    reserves: str = tester.rpc("eth_call", {"to": pair, "data": selector("getReserves()")}, "latest")
    return reserves[:130]  # without the time of the block


def selector(function: str) -> str:
    return "0x" + keccak(text=function)[:4].hex()


def pair_of(tester: SandboxUser, name: str) -> str:
    contracts, words = tester.app.chain.world["contracts"], f"{tester.tokens()[name][2:]:0>64}"
    asked = f"{selector('getPair(address,address)')}{words}{contracts['weth'][2:]:0>64}"
    pair = tester.rpc("eth_call", {"to": contracts["uniswapV2Factory"], "data": asked}, "latest")
    return str(to_checksum_address(pair[-40:]))


def test_the_faucet_moves_the_price_of_no_pool(tester: SandboxUser) -> None:
    pair = pair_of(tester, "price_impact")
    before = reserves_of(tester, pair)
    response = tester.post("/fund", {"chain": "local", "wallet": pair})
    assert (error_of(response), details_of(response)) == ((400, "invalid_request"), {("wallet", "not_a_wallet")})
    tester.fund()
    tester.app.chain.receipt(tester.send(pair, selector("sync()"), gas=200_000))
    assert reserves_of(tester, pair) == before


@pytest.mark.parametrize("name", ["script", "price_impact", "transfer_tax", "revert"])
def test_what_wallets_are_given_is_of_a_stock_that_no_one_adds_to(tester: SandboxUser, name: str) -> None:
    token = tester.tokens()[name]
    supply = tester.rpc("eth_call", {"to": token, "data": selector("totalSupply()")}, "latest")
    stock = tester.app.chain.balance_of(token, token)
    tester.fund()
    assert tester.rpc("eth_call", {"to": token, "data": selector("totalSupply()")}, "latest") == supply
    assert tester.app.chain.balance_of(token, token) == stock - 1000 * COIN


@pytest.mark.parametrize("function", ["mint(address,uint256)", "seed(address,uint256)"])
@pytest.mark.parametrize("to", ["wallet", "pool"])
def test_no_wallet_makes_tokens_or_fills_pools(tester: SandboxUser, function: str, to: str) -> None:
    receiver = tester.wallet.address if to == "wallet" else pair_of(tester, "script")
    tester.fund()
    sent = tester.send(tester.tokens()["script"], f"{selector(function)}{receiver[2:]:0>64}{COIN:064x}", gas=200_000)
    assert tester.app.chain.receipt(sent)["status"] == 0


def test_a_token_gives_a_pool_nothing_of_its_stock(tester: SandboxUser) -> None:
    tester.fund()
    pair = pair_of(tester, "script")
    sent = tester.send(tester.tokens()["script"], f"{selector('give(address)')}{pair[2:]:0>64}", gas=200_000)
    assert tester.app.chain.receipt(sent)["status"] == 0


def test_a_wallet_that_delegates_is_funded(tester: SandboxUser) -> None:
    tester.app.chain.put_code(tester.wallet.address, f"ef0100{'22' * 20}")
    assert tester.fund()["coins"] == str(COIN)
    assert tester.app.chain.balance_of(tester.wallet.address, tester.tokens()["script"]) == 1000 * COIN


@pytest.mark.parametrize(
    ("wallet", "code"), [("0x" + "00" * 20, "zero_address"), ("0x12", "invalid_format"), (7, "invalid_type")]
)
def test_a_wallet_that_is_none_is_refused(tester: SandboxUser, wallet: object, code: str) -> None:
    response = tester.post("/fund", {"chain": "local", "wallet": wallet})
    assert (error_of(response), details_of(response)) == ((400, "invalid_request"), {("wallet", code)})


# --- who, and where ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("path", "body"), REQUESTS)
def test_a_live_key_is_refused_everywhere(live_api: Client, path: str, body: dict[str, Any]) -> None:
    response = live_api.post(f"/v2/sandbox{path}", body, content_type="application/json")
    assert error_of(response) == (403, "live_key_refused")
    assert error_of(live_api.get("/v2/sandbox")) == (403, "live_key_refused")


@pytest.mark.parametrize(("path", "body"), REQUESTS)
def test_a_chain_without_a_node_to_control_is_named(
    tester: SandboxUser, settings: Settings, path: str, body: dict[str, Any]
) -> None:
    settings.SANDBOX_RPC_URLS = {}
    response = tester.post(path, body)
    assert (error_of(response), details_of(response)) == ((400, "unsupported_chain"), {("chain", "unsupported")})
    assert tester.app.api.get("/v2/sandbox").json()["data"]["chains"] == []


@pytest.mark.parametrize(("path", "body"), REQUESTS)
def test_a_live_chain_is_out_of_reach_even_if_a_node_of_it_is_configured(
    tester: SandboxUser, change_networks: Callable[..., Any], path: str, body: dict[str, Any]
) -> None:
    local = networks.current().chains["local"]
    change_networks(chains={"local": replace(local, sandbox=False)})
    assert error_of(tester.post(path, body)) == (400, "unsupported_chain")


@pytest.mark.parametrize(("path", "body"), REQUESTS)
def test_a_node_that_is_away_is_unavailable_and_its_url_stays_secret(
    tester: SandboxUser, settings: Settings, caplog: pytest.LogCaptureFixture, path: str, body: dict[str, Any]
) -> None:
    settings.SANDBOX_RPC_URLS = {"local": "http://127.0.0.1:1/secret-of-the-node"}
    response = tester.post(path, body)
    assert error_of(response) == (503, "chain_unavailable")
    assert response.headers["Retry-After"] == "2"
    assert b"secret-of-the-node" not in response.content
    assert "secret-of-the-node" not in caplog.text


def test_nothing_of_the_sandbox_is_in_redis(tester: SandboxUser) -> None:
    before = set(Redis.from_url(settings.REDIS_URL).keys("*sandbox*"))
    tester.fund()
    tester.send_scripted(ForcedOutcome.DELAYED_MINING)
    tester.advance(seconds=1)
    assert set(Redis.from_url(settings.REDIS_URL).keys("*sandbox*")) == before == set()
