"""Finds how each of many tokens would be sold alone, in one round trip for any number of them.

It works as for a build, except that no token depends on another one.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from sweepapi.evm.market.reading import Market
from sweepapi.evm.pools.types import PoolHop
from sweepapi.evm.routes.basket import Basket
from sweepapi.evm.routes.planning import RoutePlan
from sweepapi.evm.routes.quoting import Quotes
from sweepapi.evm.tokens.transfers import TransferProblem


@dataclass(frozen=True)
class Sales:
    """The plan of each token that can be sold, and the problem of each other one."""

    plans: Mapping[str, RoutePlan]
    problems: Mapping[str, TransferProblem]
    output_problem: TransferProblem | None


def find(market: Market, quotes: Quotes) -> Sales:
    """Find the best plan for each token; raises ``ChainUnavailableError`` if no provider answers."""
    whole = quotes.basket
    baskets = {token: replace(whole, ways={token: ways}) for token, ways in whole.ways.items()}
    follow_ups = market.read_follow_ups(amounts=_amounts(baskets.values()), detours=quotes.detours)
    plans = {token: basket.plan(follow_ups.second) for token, basket in baskets.items()}
    plans |= {token: RoutePlan({token: way}, last=None) for token, way in follow_ups.detours.items()}
    found = {token: plan for token, plan in plans.items() if plan.ways}
    return Sales(
        plans=found,
        problems={token: quotes.problems.get(token, TransferProblem.NO_ROUTE) for token in plans if token not in found},
        output_problem=_output_problem(market.output, quotes),
    )


def _amounts(baskets: Iterable[Basket]) -> dict[PoolHop, list[int]]:
    """Return what has to be quoted for each token alone."""
    needed: dict[PoolHop, dict[int, None]] = defaultdict(dict)
    for basket in baskets:
        for hop, amounts in basket.amounts.items():
            needed[hop] |= dict.fromkeys(amounts)
    return {hop: list(amounts) for hop, amounts in needed.items()}


def _output_problem(output: str, quotes: Quotes) -> TransferProblem | None:
    """Return the first problem of the output at the pools that pay it for a middle token."""
    problems = (quotes.transfers.problem(output, hop.pool) for hop in quotes.basket.second_hops)
    return next(filter(None, problems), None)
