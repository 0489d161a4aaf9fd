"""What each token has to give follows from its quote and the slippage, and for a renewed offer from what was signed."""

import pytest

from sweepapi.evm.routes.minimums import Minimums
from sweepapi.evm.routes.planning import RoutePlan
from sweepapi.fees import FeeRates
from tests.sweepapi.evm.routes.plans import WRAPPED, A, B, C, by_router, in_pool, joined_plan, last_hop, wrapped

FEES, SLIPPAGE_BPS, ROUTER_SLIPPAGE_BPS = FeeRates(75, 0), 200, 50


def minimums(plan: RoutePlan, *, slippage_bps: int = SLIPPAGE_BPS, signed: dict[str, int] | None = None) -> Minimums:
    return Minimums(plan, FEES, slippage_bps, ROUTER_SLIPPAGE_BPS, signed)


def test_a_pool_leg_may_give_less_than_quoted_by_the_slippage() -> None:
    its = minimums(RoutePlan({A: in_pool(A, 10_000)}, last=None))
    assert (its.min_output(A), its.floor(A)) == (9_800, 9_800 * 9_925 // 10_000)


def test_a_joined_leg_may_give_less_than_its_share_of_the_last_hop_by_the_slippage() -> None:
    its = minimums(joined_plan({A: 1, B: 3}, last=40_000))
    assert (its.min_output(A), its.min_output(B)) == (9_800, 29_400)


def test_a_wrapped_coin_is_unwrapped_at_par_and_swapped_under_the_slippage() -> None:
    assert minimums(RoutePlan({WRAPPED: wrapped(10_000, joined=False)}, last=None)).min_output(WRAPPED) == 10_000
    ways = {WRAPPED: wrapped(10_000), A: in_pool(A, 10_000, joined=True)}
    assert minimums(RoutePlan(ways, last_hop(20_000, 20_000))).min_output(WRAPPED) == 9_800


def test_a_router_leg_beside_another_token_may_give_little_less_than_quoted() -> None:
    its = minimums(RoutePlan({A: by_router(A, 10_000), B: in_pool(B, 10_000)}, last=None))
    assert (its.min_output(A), its.min_output(B)) == (9_950, 9_800)


@pytest.mark.parametrize(("slippage_bps", "least"), [(200, 9_800), (30, 9_970)])
def test_a_router_leg_alone_has_the_slippage_of_the_user(slippage_bps: int, least: int) -> None:
    assert minimums(RoutePlan({A: by_router(A, 10_000)}, last=None), slippage_bps=slippage_bps).min_output(A) == least


def test_a_smaller_slippage_of_the_user_also_holds_for_a_router_leg() -> None:
    plan = RoutePlan({A: by_router(A, 10_000), B: by_router(B, 10_000)}, last=None)
    assert minimums(plan, slippage_bps=10).min_output(A) == 9_990


def test_a_pool_that_may_be_skipped_gets_half_of_the_room_of_the_last_hop() -> None:
    its = minimums(joined_plan({A: 10_000, B: 10_000}, last=10**6))
    assert its.least_wrapped(A, skippable=True) == 9_900
    assert its.least_wrapped(A, skippable=False) == 9_800


def test_the_least_of_a_joined_leg_is_rounded_up() -> None:
    its = minimums(joined_plan({A: 1, B: 10**6}, last=10**9), slippage_bps=5_000)
    assert its.least_wrapped(A, skippable=True) == 1
    assert its.least_wrapped(A, skippable=False) == 1


def test_a_renewed_offer_keeps_the_floors_and_asks_for_the_least_that_reaches_them() -> None:
    its = minimums(RoutePlan({A: in_pool(A, 10**6)}, last=None), signed={A: 5_000, B: 7})
    assert (its.floor(A), its.floor(B)) == (5_000, 7)
    assert its.min_output(A) == FEES.min_output_of(5_000)


def test_a_router_of_a_renewed_offer_is_held_to_the_new_quote_and_at_least_to_the_floor() -> None:
    plan = RoutePlan({A: by_router(A, 10_000), B: in_pool(B, 10_000)}, last=None)
    assert minimums(plan, signed={A: 1, B: 1}).min_output(A) == 9_950
    assert minimums(plan, signed={A: 9_900, B: 1}).min_output(A) == FEES.min_output_of(9_900)


@pytest.mark.parametrize(
    ("floors", "least"),
    [
        (5_000, 9_900),  # the price rose, and the slippage bounds the room
        (9_850, 9_963),  # 0.75 % of room are left
        (9_925, 10_000),  # none
    ],
)
def test_the_room_of_a_renewed_offer_is_what_the_floors_leave_and_at_most_the_slippage(floors: int, least: int) -> None:
    its = minimums(joined_plan({A: 10_000, B: 10_000}, last=20_000), signed={A: floors, B: floors, C: 1})
    assert its.least_wrapped(A, skippable=True) == least
