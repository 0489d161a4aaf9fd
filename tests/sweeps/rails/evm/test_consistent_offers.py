"""Whatever is built, skipped, refreshed and moved in price, the figures of an offer hold together."""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from sweeps.protocol.consistency import ContradictoryOfferError
from sweeps.rails.evm.build.consistency import require_consistency
from sweeps.rails.evm.build.stages import EvmPlanned
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


@pytest.mark.parametrize("seed", range(15))
def test_the_figures_of_every_answer_hold_together(app: PartnerApp, each_mode: str, seed: int) -> None:
    chance = random.Random(f"{each_mode} {seed}")  # noqa: S311 - not a secret
    output = chance.choice(OUTPUTS)
    held = sorted(UNITS.keys() - {output})
    units = {symbol: UNITS[symbol] * chance.uniform(0.001, 2) for symbol in chance.sample(held, chance.randint(1, 6))}
    for symbol in chance.sample(sorted(units), chance.randint(0, len(units))):
        app.chain.approve(app.user, app.chain.token(symbol))
    response = app.post_build(app.body(units, output=output, **choices(chance)))
    assert response.status_code in (201, 422), response.content
    if response.status_code == 422:
        return
    built = response.json()["data"]
    assert_adds_up(built)
    for symbol in sorted(units.keys() & {"USDC", "DAI", "LINK", "UNI"})[: chance.randint(0, 2)]:
        crash_price(app, symbol)
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


def test_a_contradiction_is_an_internal_error_and_nothing_is_stored(
    app: PartnerApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = EvmPlanned.min_user
    monkeypatch.setattr(EvmPlanned, "min_user", property(lambda _planned: 2**200))
    response = app.post_build(app.body())
    assert (response.status_code, response.json()["error"]["code"]) == (500, "internal_error")
    monkeypatch.setattr(EvmPlanned, "min_user", stored)
    assert app.api.get("/v2/sweep/history").json()["data"]["items"] == []
