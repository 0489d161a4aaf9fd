"""A plan knows what each token gives, and stays right when tokens leave it."""

from sweepapi.evm.routes.planning import RoutePlan
from tests.sweepapi.evm.routes.plans import WRAPPED, A, B, C, in_pool, joined_plan, last_hop, wrapped


def test_the_shares_of_the_last_hop_add_up_to_it() -> None:
    planned = joined_plan({A: 1, B: 1, C: 1}, last=100)
    assert [planned.expected_output(token) for token in (A, B, C)] == [33, 33, 34]


def test_without_a_joined_token_the_last_hop_gives_the_others_a_part_in_proportion() -> None:
    planned = joined_plan({A: 10, B: 20}, last=29).without({A})
    assert (planned.joined, planned.last) == ({B: 20}, last_hop(20, 19))
    assert planned.without({B}) == planned.with_last_hop(None) == RoutePlan({}, last=None)


def test_without_a_token_of_its_own_pool_the_last_hop_stays() -> None:
    planned = joined_plan({A: 10, B: 20}, last=29).with_ways({C: in_pool(C, 5)})
    assert planned.without({C}) == joined_plan({A: 10, B: 20}, last=29)


def test_if_only_the_wrapped_coin_is_still_joined_the_last_hop_is_its_own_swap() -> None:
    both_joined = RoutePlan({A: in_pool(A, 10, joined=True), WRAPPED: wrapped(5)}, last_hop(15, 15))
    planned = both_joined.without({A})
    assert planned.last is None
    assert planned.ways[WRAPPED].quote == last_hop(5, 5)


def test_no_token_is_joined_if_its_part_rounds_to_nothing() -> None:
    assert joined_plan({A: 100, B: 1}, last=50).without({A}) == RoutePlan({}, last=None)
