"""The floors that a user signs: the least to receive for each token, after the fee; and which tokens miss theirs."""

from collections.abc import Mapping
from fractions import Fraction

from sweepapi.evm.routes.planning import RoutePlan
from sweepapi.fees import BPS_DENOMINATOR, floor_share


def floor_of(min_output: int, *, fee_bps: int) -> int:
    """Return the floor of a minimum before the fee."""
    return floor_share(min_output, BPS_DENOMINATOR - fee_bps)


def min_output_of(floor: int, *, fee_bps: int) -> int:
    """Return the least output before the fee that the contract accepts for a floor."""
    return -(-floor * BPS_DENOMINATOR // (BPS_DENOMINATOR - fee_bps))


def tokens_below(plan: RoutePlan, floors: Mapping[str, int], *, fee_bps: int) -> set[str]:
    """Return the tokens whose floors, which are after the fee, the plan does not reach.

    The contract compares the floors of joined tokens as a sum, so only as many of them are returned as it takes for the
    others to reach theirs, those that miss their own by the most first.
    """
    alone = {
        token
        for token, way in plan.ways.items()
        if not way.is_joined and way.output < min_output_of(floors[token], fee_bps=fee_bps)
    }
    return alone | _joined_below(plan, floors, fee_bps)


def _joined_below(plan: RoutePlan, floors: Mapping[str, int], fee_bps: int) -> set[str]:
    if plan.last is None:
        return set()
    # A pool gives more per unit for less, so the price for the whole sum is the least that the others get.
    price = Fraction(plan.last.expected_output, plan.last.amount_in)
    left = plan.joined
    while price * sum(left.values()) < min_output_of(sum(floors[token] for token in left), fee_bps=fee_bps):
        del left[min(left, key=lambda token: Fraction(left[token], floors[token]))]
    return plan.joined.keys() - left.keys()
