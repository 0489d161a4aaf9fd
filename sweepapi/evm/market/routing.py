"""Finds the way of every token of a sweep, from quotes, from tests of transfers, and from what the user signed before.

A token that can't be swapped has no way, and neither has one of a renewed offer that no longer gives what was signed.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sweepapi.evm.market.reading import Market
from sweepapi.evm.routes.floors import tokens_below
from sweepapi.evm.routes.planning import RoutePlan
from sweepapi.evm.routes.quoting import Quotes
from sweepapi.evm.tokens.transfers import TransferProblem
from sweepapi.fees import FeeRates


@dataclass(frozen=True)
class SignedFloors:
    """What a renewed offer has to keep, by token."""

    floors: Mapping[str, int]
    fees: FeeRates

    def kept(self, plan: RoutePlan) -> RoutePlan:
        """Return the plan without the tokens that no longer give what the user signed."""
        return plan.without(tokens_below(plan, self.floors, self.fees))


@dataclass(frozen=True)
class RoutingOutcome:
    """The plan that was found, and why it can't be executed, or some tokens are missing in it."""

    plan: RoutePlan
    problems: Mapping[str, TransferProblem]  # of tokens, but for those that were left out for their floors
    output_problem: TransferProblem | None  # of the output at a pool that pays it


def find(market: Market, quotes: Quotes, signed: SignedFloors | None) -> RoutingOutcome:
    """Choose among the ways of the tokens, in one round trip; ``signed`` is None for a new sweep."""
    basket = quotes.basket
    follow_ups = market.read_follow_ups(amounts=basket.amounts, detours=quotes.detours)
    plan = basket.plan(follow_ups.second).with_ways(follow_ups.detours)
    missing = [token for token in basket.ways if token not in plan.ways]
    kept = plan if signed is None else signed.kept(plan)
    return RoutingOutcome(
        plan=kept,
        problems={token: quotes.problems.get(token, TransferProblem.NO_ROUTE) for token in missing},
        output_problem=_output_problem(kept, market.output, quotes),
    )


def _output_problem(plan: RoutePlan, output: str, quotes: Quotes) -> TransferProblem | None:
    """Return the first problem of the output at the pools that pay it."""
    paying = [way.quote for way in plan.ways.values() if way.quote is not None and not way.is_joined]
    for quote in [*paying, *filter(None, [plan.last])]:
        problem = quotes.transfers.problem(output, quote.swap.pools[-1])
        if problem is not None:
            return problem
    return None
