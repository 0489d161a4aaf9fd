"""Routes random baskets as a build does, and compares what they give with an exhaustive search."""

from dataclasses import dataclass
from typing import cast

from lab.route_quality.markets import CHAIN, CONTRACT, WALLET, Market, random_market
from lab.route_quality.model_chain import ModelChain
from lab.route_quality.search import Search
from sweepapi.evm.market import reading as build
from sweepapi.evm.market import routing
from sweepapi.evm.market.lasting import LastingFacts
from sweepapi.evm.pools.leg_gas import swap_gas
from sweepapi.evm.pools.types import PoolHop
from sweepapi.evm.routes.planning import RoutePlan
from sweepapi.rpc import ProviderPool

BASKETS = 200
TARGET_RATIO, TARGET_SHARE = 0.999, 0.99


@dataclass(frozen=True)
class Basket:
    """The figures of one basket; the ratios are of our net output to that of a search."""

    seed: int
    ratio: float
    ratio_to_any_pools: float  # to what two pools could give at best, also where the contract can't
    is_exact: bool  # whether the plan gives what it expects
    round_trips: int
    router_legs: int


@dataclass(frozen=True)
class Quality:
    """The figures of all baskets."""

    baskets: list[Basket]

    @property
    def share_reached(self) -> float:
        """How many of the baskets give at least the target ratio."""
        return sum(basket.ratio >= TARGET_RATIO for basket in self.baskets) / len(self.baskets)

    @property
    def share_reached_of_any_pools(self) -> float:
        """The same, compared with any two pools."""
        return sum(basket.ratio_to_any_pools >= TARGET_RATIO for basket in self.baskets) / len(self.baskets)

    @property
    def figures(self) -> dict[str, float]:
        """The figures by name."""
        return {
            "baskets": len(self.baskets),
            "share at target": self.share_reached,
            "share at target of any two pools": self.share_reached_of_any_pools,
            "worst ratio": min(basket.ratio for basket in self.baskets),
            "share exact": sum(basket.is_exact for basket in self.baskets) / len(self.baskets),
            "most round trips": max(basket.round_trips for basket in self.baskets),
            "share with router legs": sum(basket.router_legs > 0 for basket in self.baskets) / len(self.baskets),
        }


def measure(count: int = BASKETS) -> Quality:
    """Measure the baskets of the first seeds."""
    return Quality([measured(seed) for seed in range(count)])


def measured(seed: int) -> Basket:
    """Measure the basket of one seed."""
    market = random_market(seed)
    chain = ModelChain(market)
    plan = planned(market, chain)
    search = Search(market, is_free=False)
    ours, gross = _outputs(search, plan)
    expected = sum(plan.expected_output(token) for token in plan.ways)
    return Basket(
        seed,
        ours / search.best,
        ours / Search(market, is_free=True).best,
        gross == expected,
        chain.trips,
        sum(not isinstance(way.quote.swap, PoolHop) for way in plan.ways.values() if way.quote is not None),
    )


def planned(market: Market, chain: ModelChain) -> RoutePlan:
    """Return the plan that a build would make."""
    tokens = list(market.amounts)
    pool, contract = cast("ProviderPool", chain), build.Contract(CONTRACT, ())
    reader = build.Market(CHAIN, pool, LastingFacts(), WALLET, contract, market.output)
    facts = reader.read_facts(swept=tokens, permit_words=[0])
    quotes = reader.read_quotes(amounts=market.amounts, facts=facts)
    return routing.find(reader, quotes, signed=None).plan


def _outputs(search: Search, plan: RoutePlan) -> tuple[float, int]:
    """Return what the pools give for a plan, net of gas and gross."""
    by_address = {place.address: place for place in search.market.pools}
    legs = []
    for token, way in plan.ways.items():
        if way.quote is not None:
            places = tuple(by_address[pool] for pool in way.quote.swap.pools)
            legs.append(search.leg_of(token, places, gas=swap_gas(way.quote.swap), joins=way.is_joined))
    last = None if plan.last is None else by_address[plan.last.swap.pool]
    outcome = search.outcome(legs, last)
    return (float("-inf"), 0) if outcome is None else (outcome.net_output, outcome.output)
