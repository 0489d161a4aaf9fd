"""Routes are compared with an exhaustive search in markets that can tell good ones from bad ones."""

from itertools import product

import pytest

from dev.route_quality.markets import CHAIN, LEAST_POOLS, WRAPPED, Market, random_market
from dev.route_quality.measuring import TARGET_RATIO, measure, measured
from dev.route_quality.search import Leg, Search
from sweepapi.evm.routes.guessing import Guesser

SEEDS = range(12)


def tried_in_full(market: Market) -> float:
    """Return the best net output of all combinations of legs and last hops, one by one."""
    search = Search(market, is_free=False)
    legs: list[list[Leg]] = [list(search.legs(token)) for token in market.amounts]
    lasts = [place for place in market.pools if set(place.pair) == {WRAPPED, market.output}]
    outcomes = [search.outcome(chosen, last) for chosen in product(*legs) for last in lasts]
    return max(outcome.net_output for outcome in outcomes if outcome is not None)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_token_has_three_pools_or_more_on_two_venues(seed: int) -> None:
    market = random_market(seed)
    assert 2 <= len(market.amounts) <= 5
    for token in market.amounts:
        places = [place for place in market.pools if token in place.pair]
        assert len(places) >= LEAST_POOLS
        assert {place.venue for place in places} == set(CHAIN.venues)


def test_in_a_third_of_the_markets_the_deepest_pool_is_the_wrong_one() -> None:
    assert [random_market(seed).misleads for seed in range(6)] == [True, False, False] * 2


def test_the_search_finds_what_trying_everything_finds() -> None:
    small = [market for market in map(random_market, range(20)) if len(market.amounts) == 2]
    assert small
    for market in small:
        assert Search(market, is_free=False).best == pytest.approx(tried_in_full(market), rel=1e-12)


def test_routes_reach_the_target_in_three_round_trips_and_give_what_they_promise() -> None:
    figures = measure(len(SEEDS)).figures
    assert (figures["share at target"], figures["share exact"], figures["most round trips"]) == (1, 1, 3)


def test_the_best_ways_of_tokens_alone_do_not_reach_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Guesser, "best", lambda _: iter(()))
    assert min(measured(seed).ratio for seed in SEEDS) < TARGET_RATIO


@pytest.mark.parametrize("seed", SEEDS)
def test_no_plan_beats_the_search(seed: int) -> None:
    basket = measured(seed)
    assert basket.ratio <= 1 + 1e-9
    assert basket.ratio_to_any_pools <= 1 + 1e-9
