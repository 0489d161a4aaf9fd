"""The tokens of a sweep are swapped so that all of them together give the most."""

from itertools import combinations

from sweepapi.evm.routes.planning import Joining, Plan, Ways
from tests.sweepapi.evm.routes.plans import (
    WRAPPED,
    A,
    B,
    C,
    both,
    by_router,
    in_pool,
    joined_plan,
    last_hop,
    wrapped,
)


def curve(amount: int) -> int:
    """Return the output of a last hop with a million units on both sides."""
    return amount * 10**6 // (10**6 + amount)


def plan(ways: dict[str, Ways]) -> Plan:
    """Return the plan for these ways and that last hop."""
    joining = Joining.of(ways)
    return joining.plan([last_hop(amount, curve(amount)) if amount else None for amount in joining.sums])


def total(planned: Plan) -> int:
    alone = sum(way.output for way in planned.ways.values() if not way.is_joined)
    return alone + (planned.last.expected_output if planned.last is not None else 0)


def test_a_token_with_a_better_direct_pool_is_not_joined() -> None:
    assert plan({A: both(A, direct=100, joined=90)}) == Plan({A: in_pool(A, 100)}, last=None)


def test_a_token_with_a_better_pool_for_the_wrapped_coin_is_joined() -> None:
    planned = plan({A: both(A, direct=100, joined=200)})
    assert planned == Plan({A: in_pool(A, 200, joined=True)}, last_hop(200, curve(200)))


def test_of_equal_ways_a_token_takes_the_direct_one() -> None:
    planned = plan({A: both(A, direct=curve(200), joined=200)})
    assert planned == Plan({A: in_pool(A, curve(200))}, last=None)


def test_a_token_without_a_direct_pool_is_joined() -> None:
    way = in_pool(A, 90, joined=True)
    assert plan({A: Ways(joined=way)}) == Plan({A: way}, last_hop(90, curve(90)))


def test_the_last_hop_is_quoted_for_the_sum_of_what_is_joined() -> None:
    ways = {token: Ways(joined=in_pool(token, 300_000, joined=True)) for token in (A, B, C)}
    planned = plan(ways)
    assert planned.last == last_hop(900_000, curve(900_000))
    assert [planned.expected_output(token) for token in (A, B, C)] == [curve(900_000) // 3] * 3


def test_only_as_many_tokens_join_as_the_last_hop_pays_for() -> None:
    ways = {A: both(A, 180_000, 200_000), B: both(B, 190_000, 200_000), C: both(C, 150_000, 200_000)}
    planned = plan(ways)
    assert sorted(planned.joined) == [C]
    assert planned.last == last_hop(200_000, curve(200_000))


def test_no_other_choice_of_joined_tokens_gives_more() -> None:
    tokens = [f"0x{number:040x}" for number in range(1, 9)]
    for seed in range(40):
        outputs = {
            token: (1_000 + 7_919 * (seed + i * i) % 90_000, 1_000 + 6_007 * (seed * i + 3) % 90_000)
            for i, token in enumerate(tokens)
        }
        ways = {token: both(token, *direct_and_joined) for token, direct_and_joined in outputs.items()}
        most = max(
            curve(sum(outputs[token][1] for token in joined))
            + sum(outputs[token][0] for token in tokens if token not in joined)
            for size in range(len(tokens) + 1)
            for joined in combinations(tokens, size)
        )
        assert total(plan(ways)) == most


def test_the_sums_are_those_of_none_one_and_two_of_the_tokens_that_could_do_without() -> None:
    ways = {A: both(A, 3, 10), B: both(B, 2, 20), C: Ways(joined=in_pool(C, 5, joined=True))}
    assert Joining.of(ways).sums == [5, 25, 35]


def test_a_swept_wrapped_coin_joins_the_last_hop() -> None:
    ways = {A: Ways(joined=in_pool(A, 90, joined=True)), WRAPPED: Ways(joined=wrapped(10))}
    planned = plan(ways)
    assert planned.joined == {A: 90, WRAPPED: 10}
    assert planned.last == last_hop(100, curve(100))


def test_a_swept_wrapped_coin_that_nothing_joins_takes_the_pool_for_itself() -> None:
    planned = plan({A: both(A, 100, 90), WRAPPED: Ways(joined=wrapped(10))})
    assert planned.last is None
    way = planned.ways[WRAPPED]
    assert (way.quote, way.output, way.is_joined) == (last_hop(10, curve(10)), curve(10), False)


def test_a_wrapped_coin_to_unwrap_is_not_joined() -> None:
    ways = {WRAPPED: wrapped(10, joined=False), A: in_pool(A, 5)}
    assert plan({token: Ways(direct=way) for token, way in ways.items()}) == Plan(ways, last=None)


def test_a_router_swaps_only_what_has_no_pool() -> None:
    ways = {A: Ways(direct=in_pool(A, 5), routed=by_router(A, 100)), B: Ways(routed=by_router(B, 100))}
    assert plan(ways).ways == {A: ways[A].direct, B: ways[B].routed}


def test_if_the_last_hop_swaps_no_sum_the_others_go_directly_and_the_rest_by_router_or_not_at_all() -> None:
    ways = {
        A: both(A, 1, 10**6),
        B: Ways(joined=in_pool(B, 9, joined=True), routed=by_router(B, 2)),
        C: Ways(joined=in_pool(C, 9, joined=True)),
    }
    joining = Joining.of(ways)
    assert joining.plan([None, None]) == Plan({A: in_pool(A, 1), B: by_router(B, 2)}, last=None)


def test_a_sum_that_the_last_hop_can_not_swap_is_not_chosen() -> None:
    ways = {A: both(A, 1, 10**6), B: Ways(joined=in_pool(B, 9, joined=True))}
    planned = Joining.of(ways).plan([last_hop(9, 8), None])
    assert planned.joined == {B: 9}
    assert planned.ways[A] == ways[A].direct


def test_a_sum_that_the_last_hop_can_swap_is_chosen_even_if_one_that_it_can_not_seems_to_give_more() -> None:
    ways = {A: both(A, 100, 50), B: Ways(joined=in_pool(B, 1, joined=True))}
    assert Joining.of(ways).plan([None, last_hop(51, 40)]).joined == {A: 50, B: 1}


def test_a_last_hop_is_quoted_for_just_what_is_joined() -> None:
    planned = joined_plan({A: 10, B: 20}, last=29)
    assert planned.is_quoted
    assert not planned.without({A}).is_quoted
    assert Plan({A: in_pool(A, 10)}, last=None).is_quoted


def test_a_token_without_ways_is_missing() -> None:
    assert plan({A: Ways(), B: Ways(direct=in_pool(B, 1))}).ways.keys() == {B}
    assert plan({A: Ways()}) == Plan({}, last=None)


def test_shares_of_the_last_hop_never_exceed_it() -> None:
    planned = joined_plan({A: 1, B: 1, C: 1}, last=100)
    assert [planned.expected_output(token) for token in (A, B, C)] == [33, 33, 33]


def test_a_plan_without_a_joined_token_takes_a_new_quote_of_the_last_hop() -> None:
    planned = joined_plan({A: 10, B: 20}, last=29).without({A}).with_last_hop(last_hop(20, 20))
    assert (planned.joined, planned.expected_output(B)) == ({B: 20}, 20)
    assert planned.with_last_hop(None) == Plan({}, last=None)


def test_if_only_the_wrapped_coin_is_still_joined_the_last_hop_is_its_own_swap() -> None:
    both_joined = Plan({A: in_pool(A, 10, joined=True), WRAPPED: wrapped(5)}, last_hop(15, 14))
    planned = both_joined.without({A}).with_last_hop(last_hop(5, 5))
    assert planned.last is None
    assert planned.ways[WRAPPED].quote == last_hop(5, 5)
