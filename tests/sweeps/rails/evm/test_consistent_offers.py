"""Whatever is built, skipped, refreshed and moved in price, the figures of an offer hold together."""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from partners.models import Partner
from sweepapi import networks
from sweeps.protocol.consistency import ContradictoryOfferError
from sweeps.protocol.request import DiscoverRequest
from sweeps.protocol.verdicts import Exclusion
from sweeps.rails.evm.build.consistency import require_consistency
from sweeps.rails.evm.build.stages import EvmPlanned, EvmSimulated
from sweeps.rails.evm.discover import verdicts
from sweeps.rails.evm.discover.consistency import require_consistent_discovery
from sweeps.rails.evm.discover.found import EvmDiscovery, FoundToken
from sweeps.rails.evm_v5.issuing import discover_v5
from tests.factories.sweeps import LOCAL
from tests.local_chain import LocalChain
from tests.market_moves import crash_price
from tests.partner_app import PartnerApp
from tests.sweeps.rails.evm.planner import Planner

pytestmark = pytest.mark.django_db

UNITS = {"USDC": 40, "USDT": 30, "DAI": 50, "GUSD": 20, "WBTC": 0.0004, "LINK": 3, "UNI": 5, "TFEE": 60, "WETH": 0.02}
OUTPUTS = ("WETH", "ETH", "USDC", "DAI")


def choices(chance: random.Random) -> dict[str, Any]:
    """Return what a partner may choose."""
    return {
        "slippageBps": chance.choice([30, 100, 1_000]),
        "onUnroutable": chance.choice(["reject", "skip"]),
        "onLegFailure": chance.choice(["revert", "skip"]),
        "approvals": chance.choice(["exact", "unlimited"]),
        "acceptPriceImpactBps": 10_000,
        "acceptUneconomic": True,
        "execution": {"wallet": {"atomic": chance.choice(["ready", "supported", "unsupported"])}},
    }


def assert_adds_up(answer: dict[str, Any]) -> None:
    """Compare the figures of an answer, as a partner sees them."""
    output, tokens = answer["estimatedOutput"], answer["tokens"]
    assert int(output["gross"]) == sum(int(token["expectedOutput"]) for token in tokens)
    assert int(output["minGross"]) == sum(int(token["minOutput"]) for token in tokens)
    assert int(output["minUser"]) <= int(output["user"]) <= int(output["gross"])
    for token in tokens:
        assert int(token["minOutput"]) <= int(token["expectedOutput"])
        if token["route"] is None:
            assert (token["expectedOutput"], token["minOutput"], token["value"]) == ("0", "0", "0")
    for way in answer["executions"]:
        assert int(way["netOutput"]) == int(output["user"]) - int(way["gasShare"])
    assert not {token["mint"] for token in tokens} & {token["mint"] for token in answer["skippedTokens"]}


def assert_discovery_adds_up(answer: dict[str, Any]) -> None:
    """Compare what is said of the tokens of a wallet, as a partner sees it."""
    basket, contained = answer["bestBasket"], {token["mint"] for token in answer["bestBasket"]["tokens"]}
    for token in answer["tokens"]:
        can_be_sold = token["verdict"] in ("sellable", "taxed")
        assert (token["excludedBecause"] is not None) == (can_be_sold and token["mint"] not in contained)
        if can_be_sold:
            assert int(token["netOutput"]) >= 0
            assert int(token["netOutput"]) <= int(token["expectedOutput"]) - int(token["gasShare"])
    assert contained <= {token["mint"] for token in answer["tokens"]}
    assert (basket["economics"] is None) == (basket["expectedOutput"] == "0") == (not contained)
    if basket["economics"] is not None:
        economics = {name: int(basket["economics"][name]) for name in ("netOutput", "gasShare", "gas")}
        assert 0 < economics["netOutput"] <= int(basket["expectedOutput"]) - economics["gasShare"]


def discover(app: PartnerApp, request: dict[str, Any]) -> dict[str, Any]:
    """Read the wallet of a request to build, with its choices."""
    body = {name: request[name] for name in ("chain", "wallet", "outputMint", "approvals", "execution")}
    response = app.api.post("/v2/sweep/discover", body, content_type="application/json")
    assert response.status_code == 200, response.content
    found: dict[str, Any] = response.json()["data"]
    return found


@pytest.mark.parametrize("seed", range(15))
def test_the_figures_of_every_answer_hold_together(app: PartnerApp, each_mode: str, seed: int) -> None:
    chance = random.Random(f"{each_mode} {seed}")  # noqa: S311 - not a secret
    output = chance.choice(OUTPUTS)
    held = sorted(UNITS.keys() - {output})
    units = {symbol: UNITS[symbol] * chance.uniform(0.001, 2) for symbol in chance.sample(held, chance.randint(1, 6))}
    for symbol in chance.sample(sorted(units), chance.randint(0, len(units))):
        app.chain.approve(app.user, app.chain.token(symbol))
    request = app.body(units, output=output, **choices(chance))
    assert_discovery_adds_up(discover(app, request))
    response = app.post_build(request)
    assert response.status_code in (201, 422), response.content
    if response.status_code == 422:
        return
    built = response.json()["data"]
    assert_adds_up(built)
    for symbol in sorted(units.keys() & {"USDC", "DAI", "LINK", "UNI"})[: chance.randint(0, 2)]:
        crash_price(app, symbol)
    assert_discovery_adds_up(discover(app, request))
    again = app.api.post(f"/v2/sweep/build/{built['sweepId']}/refresh", content_type="application/json")
    assert again.status_code in (200, 409), again.content
    if again.status_code == 200:
        assert_adds_up(again.json()["data"])


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda one: replace(one, min_output=one.expected_output + 1), "is above the expected"),
        (lambda one: replace(one, floor=one.min_output + 1), "is below its floor"),
        (lambda one: replace(one, swap=None), "is dropped and still counts"),
        (lambda one: replace(one, expected_output=one.expected_output * 2), "are of other outputs or at other prices"),
        (lambda one: replace(one, economics=replace(one.economics, net_output=1)), "leaves"),
    ],
)
def test_a_token_that_contradicts_itself_is_not_shown(
    planner: Planner, spoil: Callable[[Any], Any], message: str
) -> None:
    planned = planner.sweep({"LINK": 1.0, "UNI": 2.0}, output="WETH")
    require_consistency(planned)
    first, *others = planned.tokens
    with pytest.raises(ContradictoryOfferError, match=message):
        require_consistency(replace(planned, tokens=[spoil(first), *others]))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda planned: replace(planned, max_skipped=0), "more tokens can be left out"),
        (lambda planned: replace(planned, rates=planned.rates.sponsored), "is at another price"),
    ],
)
def test_a_sweep_that_contradicts_its_tokens_is_not_shown(
    planner: Planner, spoil: Callable[[EvmPlanned], EvmPlanned], message: str
) -> None:
    planned = planner.sweep({"LINK": 1.0, "UNI": 2.0}, output="WETH")
    require_consistency(planned)
    with pytest.raises(ContradictoryOfferError, match=message):
        require_consistency(spoil(planned))


def worthiest(discovery: EvmDiscovery) -> FoundToken:
    """Return the first token of the basket as it is in the wallet."""
    first = discovery.best_basket.tokens[0].asset
    return next(token for token in discovery.tokens if token.asset == first)


def with_token(discovery: EvmDiscovery, **changes: Any) -> EvmDiscovery:
    """Return the answer with other facts of its worthiest token."""
    changed = worthiest(discovery)
    return replace(
        discovery,
        tokens=[replace(one, **changes) if one is changed else one for one in discovery.tokens],
    )


def with_basket(discovery: EvmDiscovery, **changes: Any) -> EvmDiscovery:
    return replace(discovery, best_basket=replace(discovery.best_basket, **changes))


def with_rates(sale: EvmSimulated | None, **changes: Any) -> EvmSimulated:
    assert sale is not None
    return replace(sale, rates=replace(sale.rates, **changes))


def with_economics(discovery: EvmDiscovery, **changes: Any) -> EvmDiscovery:
    economics = discovery.best_basket.economics
    assert economics is not None
    return with_basket(discovery, economics=replace(economics, **changes))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda one: with_token(one, excluded_because=Exclusion.PRICE_UNKNOWN), "is excluded from the basket"),
        (lambda one: with_token(one, finding=verdicts.BROKEN), "has tokens that can't be sold"),
        (lambda one: with_token(one, sale=None), "can be sold in no way"),
        (lambda one: with_token(one, sale=with_rates(worthiest(one).sale, gas_price=1)), "is at another price"),
        (lambda one: with_basket(one, tokens=one.best_basket.tokens[1:]), "is not excluded from the basket"),
        (lambda one: with_basket(one, tokens=one.best_basket.tokens[1:]), "have other tokens"),
        (lambda one: with_basket(one, sweep=None), "without a sweep has tokens"),
        (lambda one: with_basket(one, sweep=with_rates(one.best_basket.sweep, gas_price=1)), "valued at other prices"),
        (lambda one: with_economics(one, net_output=-1), "the basket leaves -1"),
        (lambda one: with_economics(one, net_output=10**30), "is left of"),
        (lambda one: with_economics(one, value=1), "is at other prices"),
    ],
)
def test_a_wallet_whose_tokens_contradict_the_basket_is_not_shown(
    chain: LocalChain, partner: Partner, spoil: Callable[[EvmDiscovery], EvmDiscovery], message: str
) -> None:
    request = DiscoverRequest(LOCAL, chain.users[0].address, chain.token("WETH").address, (), includes_hidden=False)
    discovery = discover_v5(registry=networks.current(), partner=partner, request=request)
    require_consistent_discovery(discovery)
    with pytest.raises(ContradictoryOfferError, match=message):
        require_consistent_discovery(spoil(discovery))


def test_a_contradiction_is_an_internal_error_and_nothing_is_stored(
    app: PartnerApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = EvmPlanned.min_user
    monkeypatch.setattr(EvmPlanned, "min_user", property(lambda _planned: 2**200))
    response = app.post_build(app.body())
    assert (response.status_code, response.json()["error"]["code"]) == (500, "internal_error")
    monkeypatch.setattr(EvmPlanned, "min_user", stored)
    assert app.api.get("/v2/sweep/history").json()["data"]["items"] == []
