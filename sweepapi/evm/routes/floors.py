"""The floors that a user signs: the least to receive for each token, after the fee; and which tokens miss theirs."""

from collections.abc import Mapping
from fractions import Fraction

from sweepapi.evm.routes.planning import RoutePlan
from sweepapi.fees import FeeRates


def tokens_below(plan: RoutePlan, floors: Mapping[str, int], fees: FeeRates) -> set[str]:
    """Return the tokens whose floors, which are after the fee, the plan does not reach.

    The contract compares the floors of joined tokens as a sum, so only as many of them are returned as it takes for the
    others to reach theirs, those that miss their own by the most first.
    """
    alone = {
        token
        for token, way in plan.ways.items()
        if not way.is_joined and way.output < fees.min_output_of(floors[token])
    }
    return alone | _joined_below(plan, floors, fees)


def _joined_below(plan: RoutePlan, floors: Mapping[str, int], fees: FeeRates) -> set[str]:
    if plan.last is None:
        return set()
    # A pool gives more per unit for less, so the price for the whole sum is the least that the others get.
    price = Fraction(plan.last.expected_output, plan.last.amount_in)
    left = plan.joined
    while price * sum(left.values()) < fees.min_output_of(sum(floors[token] for token in left)):
        del left[min(left, key=lambda token: Fraction(left[token], floors[token]))]
    return plan.joined.keys() - left.keys()
