"""POST /v2/sweep/build: how the answer shows the way of each token, and what may be left out."""

from typing import Any

import pytest

from sweepapi import networks
from sweepapi.evm.encoding.addresses import NATIVE_COIN
from sweepapi.evm.pools.venues import pool_address
from tests.partner_app import PartnerApp

pytestmark = pytest.mark.django_db

SWEEPABLE = ("USDC", "USDT", "DAI", "GUSD", "WBTC", "LINK", "UNI")


def pool_of(app: PartnerApp, symbol: str, fee: int) -> str:
    """Return the V3 pool of a token and the wrapped coin."""
    tokens = (app.chain.token(symbol).address, app.chain.token("WETH").address)
    return pool_address(networks.current().chains["local"].venues[0], *tokens, fee)


def pair_of(app: PartnerApp, symbol: str) -> str:
    """Return the V2 pool of a token and the wrapped coin."""
    tokens = (app.chain.token(symbol).address, app.chain.token("WETH").address)
    return pool_address(networks.current().chains["local"].venues[1], *tokens, 0)


def witness_of(built: dict[str, Any]) -> dict[str, Any]:
    witness: dict[str, Any] = built["permit2"]["message"]["witness"]
    return witness


def test_each_token_is_shown_with_its_facts_and_its_route(app: PartnerApp) -> None:
    built = app.build({"WBTC": 0.5})
    (token,) = built["tokens"]
    weth, wbtc = app.chain.token("WETH"), app.chain.token("WBTC")
    assert token["mint"] == wbtc.address
    assert (token["symbol"], token["decimals"], token["amount"]) == ("WBTC", 8, "50000000")
    assert token["route"] == {
        "kind": "pool",
        "venue": "uniswap_v3",
        "router": None,
        "target": pool_of(app, "WBTC", 3000),
        "path": [wbtc.address, weth.address],
        "feeTiers": [3000],
        "priceImpactBps": token["priceImpactBps"],
    }
    assert int(token["minOutput"]) == int(token["expectedOutput"]) * 9_900 // 10_000
    assert int(token["floor"]) == int(token["minOutput"]) * 9_925 // 10_000
    assert built["lastHop"] is None


def test_joined_tokens_are_shown_with_the_last_hop_that_they_share(app: PartnerApp) -> None:
    built = app.build({"WBTC": 0.01, "LINK": 1, "WETH": 0.1}, output="UNI")
    wbtc, link, weth, uni = (app.chain.token(symbol).address for symbol in ("WBTC", "LINK", "WETH", "UNI"))
    routes = [token["route"] for token in built["tokens"]]
    assert [route["kind"] for route in routes] == ["joined"] * 3
    assert [route["path"] for route in routes] == [[wbtc, weth, uni], [link, weth, uni], [weth, uni]]
    assert (routes[0]["venue"], routes[0]["target"]) == ("uniswap_v3", pool_of(app, "WBTC", 3000))
    assert (routes[2]["venue"], routes[2]["target"]) == (None, None), "the wrapped coin needs no pool of its own"
    last = built["lastHop"]
    assert (last["tokenIn"], last["tokenOut"]) == (weth, uni)
    assert last["pool"] == (pool_of(app, "UNI", last["feeTier"]) if last["feeTier"] else pair_of(app, "UNI"))
    tiers = [tier for tier in (3000, last["feeTier"]) if tier is not None]
    assert routes[0]["feeTiers"] == tiers


def test_what_only_a_router_can_swap_is_shown_with_it(app: PartnerApp) -> None:
    built = app.build({"TFEE": 5, "USDC": 3})
    tfee = built["tokens"][0]
    assert (tfee["route"]["kind"], tfee["route"]["router"], tfee["route"]["venue"]) == ("router", "uniswap_v2", None)
    assert tfee["route"]["target"] == app.chain.contracts["swapRouter02"]
    assert (tfee["skippable"], built["maxSkipped"]) == (False, 0)
    assert ("router_swap", tfee["mint"]) in [(warning["code"], warning["token"]) for warning in built["warnings"]]


@pytest.mark.parametrize(("requested", "allowed"), [({}, 2), ({"maxSkipped": 1}, 1), ({"maxSkipped": 10**9}, 2)])
def test_as_many_tokens_may_be_left_out_as_requested_and_never_all(
    app: PartnerApp, requested: dict[str, Any], allowed: int
) -> None:
    built = app.build({"USDC": 3, "DAI": 2, "LINK": 1}, onLegFailure="skip", **requested)
    assert built["maxSkipped"] == allowed
    assert witness_of(built)["maxSkipped"] == built["transactionTemplate"]["args"][0][2] == str(allowed)
    assert [token["skippable"] for token in built["tokens"]] == [True] * 3


@pytest.mark.parametrize("requested", [{}, {"onLegFailure": "revert"}, {"onLegFailure": "skip", "maxSkipped": 0}])
def test_nothing_is_left_out_unless_that_is_requested(app: PartnerApp, requested: dict[str, Any]) -> None:
    built = app.build({"USDC": 3, "DAI": 2}, **requested)
    assert [token["skippable"] for token in built["tokens"]] == [False, False]
    assert witness_of(built)["maxSkipped"] == "0"


@pytest.mark.parametrize("value", [-1, "1", 1.0, True, None], ids=repr)
def test_another_value_than_a_count_of_tokens_is_refused(app: PartnerApp, value: object) -> None:
    response = app.post_build(app.body(onLegFailure="skip", maxSkipped=value))
    assert (response.status_code, response.json()["error"]["details"][0]["field"]) == (400, "maxSkipped")


def test_the_pool_with_the_largest_output_is_chosen(app: PartnerApp) -> None:
    (token,) = app.build({"LINK": 3})["tokens"]
    assert token["route"]["venue"] == "uniswap_v2", "where LINK is 60 bps more expensive than in the V3 pool"
    assert (token["route"]["target"], token["route"]["feeTiers"]) == (pair_of(app, "LINK"), [])


def test_the_wrapped_coin_becomes_native_output_without_a_swap(app: PartnerApp) -> None:
    built = app.build({"USDC": 3, "WETH": 2}, output="ETH")
    weth = built["tokens"][1]
    assert weth["route"] == {
        "kind": "unwrapped",
        "venue": None,
        "router": None,
        "target": None,
        "path": [weth["mint"], NATIVE_COIN],
        "feeTiers": [],
        "priceImpactBps": 0,
    }
    assert weth["expectedOutput"] == weth["minOutput"] == weth["amount"]
    assert built["transactionTemplate"]["args"][0][0][1][3] == "0", "the hop of its leg"


def test_the_wrapped_coin_alone_becomes_native_output(app: PartnerApp) -> None:
    built = app.build({"WETH": 2}, output="ETH")
    assert built["estimatedOutput"]["gross"] == str(2 * 10**18)


def test_any_token_can_be_swept_into_any_other_and_into_the_coin(app: PartnerApp) -> None:
    outputs = (*SWEEPABLE, "WETH", "ETH")
    pairs = [(symbol, output) for symbol in SWEEPABLE for output in outputs if output != symbol]
    refused = [
        (symbol, output)
        for symbol, output in pairs
        if app.post_build(app.body({symbol: 1}, output=output)).status_code != 201
    ]
    assert refused == []


@pytest.mark.parametrize(("max_skipped", "left"), [(1, slice(2)), (2, slice(1))])
def test_the_least_for_the_user_does_not_count_on_what_may_be_skipped(
    app: PartnerApp, max_skipped: int, left: slice
) -> None:
    built = app.build({"USDC": 3, "DAI": 2, "USDT": 1}, onLegFailure="skip", maxSkipped=max_skipped)
    floors = sorted(int(token["floor"]) for token in built["tokens"])
    assert built["estimatedOutput"]["minUser"] == str(sum(floors[left]))
