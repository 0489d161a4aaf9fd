"""Floors are after the fee, and a renewed offer drops as few tokens as it takes for the others to reach theirs."""

import pytest

from sweepapi.evm.routes.floors import tokens_below
from sweepapi.evm.routes.planning import RoutePlan
from sweepapi.fees import FeeRates
from tests.sweepapi.evm.routes.plans import A, B, C, by_router, in_pool, joined_plan


def contract_accepts(output: int, floor: int, fee_bps: int) -> bool:
    return output * (10_000 - fee_bps) >= floor * 10_000


@pytest.mark.parametrize("fee_bps", [0, 1, 75, 300])
@pytest.mark.parametrize("output", [1, 2, 99, 100, 12_345, 10**18 + 7, 2**128 - 1])
def test_the_contract_accepts_an_output_for_the_floor_that_follows_from_it(output: int, fee_bps: int) -> None:
    floor = FeeRates(fee_bps, 0).floor_of(output)
    assert contract_accepts(output, floor, fee_bps)
    assert FeeRates(fee_bps, 0).split(output).user_amount >= floor


@pytest.mark.parametrize("fee_bps", [0, 1, 75, 300])
@pytest.mark.parametrize("floor", [1, 2, 99, 100, 12_345, 10**18 + 7])
def test_the_least_output_of_a_floor_is_the_least_that_the_contract_accepts(floor: int, fee_bps: int) -> None:
    least = FeeRates(fee_bps, 0).min_output_of(floor)
    assert contract_accepts(least, floor, fee_bps)
    assert not contract_accepts(least - 1, floor, fee_bps)


@pytest.mark.parametrize(("output", "is_below"), [(1_000, False), (999, True)])
def test_a_token_of_its_own_is_compared_with_its_own_floor(output: int, *, is_below: bool) -> None:
    for way in (in_pool(A, output), by_router(A, output)):
        plan = RoutePlan({A: way, B: in_pool(B, 10**6)}, last=None)
        assert tokens_below(plan, {A: 990, B: 1}, FeeRates(100, 0)) == ({A} if is_below else set())


def test_joined_tokens_are_compared_together() -> None:
    plan = joined_plan({A: 50, B: 50}, last=1_000)
    assert tokens_below(plan, {A: 700, B: 300}, FeeRates(0, 0)) == set()


def test_the_joined_token_that_misses_its_floor_by_the_most_is_dropped_first() -> None:
    plan = joined_plan({A: 100, B: 100, C: 100}, last=900)
    assert tokens_below(plan, {A: 290, B: 400, C: 500}, FeeRates(0, 0)) == {B, C}
    assert tokens_below(plan, {A: 290, B: 301, C: 500}, FeeRates(0, 0)) == {C}


def test_a_dropped_joined_token_leaves_the_others_above_their_floors() -> None:
    plan = joined_plan({A: 100, B: 100}, last=200)
    assert tokens_below(plan, {A: 98, B: 1_000}, FeeRates(100, 0)) == {B}
    assert tokens_below(plan, {A: 100, B: 1_000}, FeeRates(100, 0)) == {A, B}


def test_a_plan_with_nothing_joined_has_no_sum_to_compare() -> None:
    assert tokens_below(RoutePlan({}, last=None), {A: 1}, FeeRates(0, 0)) == set()
