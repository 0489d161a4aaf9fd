"""The tokens of a sweep are swapped so that all of them together give the most, net of gas."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from sweepapi.evm.pools.curves import Curve
from sweepapi.evm.pools.leg_gas import LAST_HOP
from sweepapi.evm.pools.pricing import GasCosts, MidPrices
from sweepapi.evm.pools.types import PoolHop, Quote, Route
from sweepapi.evm.routes.basket import Basket
from sweepapi.evm.routes.guessing import ROUTER_MARGIN_BPS
from sweepapi.evm.routes.planning import Bridge, RoutePlan, Ways
from tests.sweepapi.evm.routes.plans import (
    OUTPUT,
    ROUTER,
    VENUE,
    WRAPPED,
    A,
    B,
    C,
    both,
    by_router,
    in_pool,
    last_hop,
    wrapped,
)

SIDE = 10**6  # of the last hop, and of the pool behind the connector
CONNECTOR = "0x" + "6" * 40
LAST = last_hop(1, 1).swap
BEHIND = PoolHop(VENUE, CONNECTOR, OUTPUT, None, CONNECTOR)
AT_PAR = MidPrices({(OUTPUT, WRAPPED): Fraction(1)})


def curve(amount: int) -> int:
    """Return the output of a pool with a million units on both sides."""
    return amount * SIDE // (SIDE + amount)


def basket(ways: Mapping[str, Ways], *, gas_price: int = 0) -> Basket:
    """Return the basket with these ways, a last hop and a pool behind a connector."""
    curves = {hop.pool: Curve(SIDE, SIDE, 1) for hop in (LAST, BEHIND)}
    return Basket(ways, [LAST, BEHIND], curves, GasCosts(gas_price, AT_PAR, WRAPPED), OUTPUT)


def plan(ways: Mapping[str, Ways], *, gas_price: int = 0, output: Callable[[int], int | None] = curve) -> RoutePlan:
    """Return the plan for these ways, if pools swap like this."""
    whole = basket(ways, gas_price=gas_price)
    outputs = {(hop, amount): output(amount) for hop, amounts in whole.amounts.items() for amount in amounts}
    return whole.plan(
        {(hop.pool, amount): Quote(hop, amount, given) for (hop, amount), given in outputs.items() if given is not None}
    )


def total(planned: RoutePlan) -> int:
    return sum(planned.expected_output(token) for token in planned.ways)


def over_connector(token: str, output: int) -> Ways:
    """Return a way of a token into the connector, from where a router goes on."""
    first = PoolHop(VENUE, token, CONNECTOR, None, f"{token[:-1]}e")
    return Ways(bridges=[Bridge(ROUTER, Quote(first, 1, output))])


def test_a_token_with_a_better_direct_pool_is_not_joined() -> None:
    assert plan({A: both(A, direct=100, joined=90)}) == RoutePlan({A: in_pool(A, 100)}, last=None)


def test_a_token_with_a_better_pool_for_the_wrapped_coin_is_joined() -> None:
    planned = plan({A: both(A, direct=100, joined=200)})
    assert planned == RoutePlan({A: in_pool(A, 200, joined=True)}, last_hop(200, curve(200)))


def test_of_equal_ways_a_token_takes_the_direct_one() -> None:
    planned = plan({A: both(A, direct=curve(200), joined=200)})
    assert planned == RoutePlan({A: in_pool(A, curve(200))}, last=None)


def test_a_token_without_a_direct_pool_is_joined() -> None:
    way = in_pool(A, 90, joined=True)
    assert plan({A: Ways(joined=way)}) == RoutePlan({A: way}, last_hop(90, curve(90)))


def test_the_last_hop_is_quoted_for_the_sum_of_what_is_joined() -> None:
    ways = {token: Ways(joined=in_pool(token, 300_000, joined=True)) for token in (A, B, C)}
    planned = plan(ways)
    assert planned.last == last_hop(900_000, curve(900_000))
    outputs = [planned.expected_output(token) for token in (A, B, C)]
    assert sum(outputs) == curve(900_000)
    assert max(outputs) - min(outputs) <= 1


def test_only_as_many_tokens_join_as_the_last_hop_pays_for() -> None:
    ways = {A: both(A, 180_000, 200_000), B: both(B, 190_000, 200_000), C: both(C, 150_000, 200_000)}
    planned = plan(ways)
    assert sorted(planned.joined) == [C]
    assert planned.last == last_hop(200_000, curve(200_000))


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
    assert plan({token: Ways(direct=way) for token, way in ways.items()}) == RoutePlan(ways, last=None)


def test_a_token_without_ways_is_missing() -> None:
    assert plan({A: Ways(), B: Ways(direct=in_pool(B, 1))}).ways.keys() == {B}
    assert plan({A: Ways()}) == RoutePlan({}, last=None)


@given(st.lists(st.tuples(st.integers(1_000, 90_000), st.integers(1_000, 90_000)), min_size=1, max_size=6))
def test_no_choice_of_joined_tokens_gives_noticeably_more(outputs: list[tuple[int, int]]) -> None:
    tokens = {f"0x{number:040x}": output for number, output in enumerate(outputs, 1)}
    most = max(
        curve(sum(tokens[token][1] for token in joined))
        + sum(direct for token, (direct, _) in tokens.items() if token not in joined)
        for size in range(len(tokens) + 1)
        for joined in combinations(tokens, size)
    )
    planned = plan({token: both(token, *output) for token, output in tokens.items()})
    assert total(planned) >= most * 0.999


# --- gas --------------------------------------------------------------------------------------------------------------


def test_a_token_does_not_join_for_less_than_the_gas_of_the_last_hop() -> None:
    direct, joined = 10**6, 10**6 + 10**9
    deep = replace(basket({A: both(A, direct, joined)}), curves={LAST.pool: Curve(10**30, 10**30, 1)})
    for gas_price, joins in ((0, True), (10**9 // LAST_HOP + 1, False)):
        costly = replace(deep, costs=GasCosts(gas_price, AT_PAR, WRAPPED))
        quotes = {(LAST.pool, joined): Quote(LAST, joined, joined)}
        assert bool(costly.plan(quotes).joined) == joins


def test_the_ticks_that_the_last_hop_crosses_cost_gas() -> None:
    whole = basket({A: both(A, 100, 200)}, gas_price=1)
    crossing = Quote(LAST, 200, 10**6, tick_gas=10**7)
    assert whole.plan({(LAST.pool, 200): crossing}).joined == {}
    assert whole.plan({(LAST.pool, 200): replace(crossing, tick_gas=0)}).joined == {A: 200}


# --- routers ----------------------------------------------------------------------------------------------------------


def test_a_router_swaps_what_has_no_pool() -> None:
    ways = {A: Ways(direct=in_pool(A, 5)), B: Ways(routed=by_router(B, 100))}
    assert plan(ways).ways == {A: ways[A].direct, B: ways[B].routed}


def test_a_router_has_to_be_better_by_a_margin() -> None:
    for routed, wins in ((10**6, False), (10**6 + 10**6 * ROUTER_MARGIN_BPS // 10_000, False), (1_001_000, True)):
        ways = Ways(direct=in_pool(A, 10**6), routed=by_router(A, routed))
        assert (plan({A: ways}).ways[A] == ways.routed) == wins


def test_a_router_has_to_pay_for_its_gas() -> None:
    ways = Ways(direct=in_pool(A, 10**6), routed=by_router(A, 10**6 + 10**4))
    assert plan({A: ways}).ways[A] == ways.routed
    assert plan({A: ways}, gas_price=1).ways[A] == ways.direct


def test_a_router_goes_over_a_connector_if_that_gives_more() -> None:
    better = replace(over_connector(A, 2_000), direct=in_pool(A, 1_000))
    way = plan({A: better}).ways[A]
    assert way.quote is not None
    assert isinstance(way.quote.swap, Route)
    assert way.quote.swap.path == (A, CONNECTOR, OUTPUT)
    assert way.output == curve(2_000)
    worse = replace(better, direct=in_pool(A, 3_000))
    assert plan({A: worse}).ways[A] == worse.direct


def test_tokens_that_share_a_pool_behind_the_connector_are_priced_together() -> None:
    planned = plan({token: over_connector(token, 300_000) for token in (A, B, C)})
    outputs = [planned.expected_output(token) for token in (A, B, C)]
    assert outputs == [curve(300_000), curve(600_000) - curve(300_000), curve(900_000) - curve(600_000)]


def test_routers_come_to_a_pool_after_a_swept_connector() -> None:
    direct = Quote(BEHIND, 400_000, curve(400_000))
    ways = {CONNECTOR: Ways(direct=replace(in_pool(CONNECTOR, direct.expected_output), quote=direct))}
    planned = plan({A: over_connector(A, 300_000), **ways})
    assert planned.expected_output(A) == curve(700_000) - curve(400_000)


def test_only_as_many_tokens_go_over_the_connector_as_it_pays_for() -> None:
    ways = {token: replace(over_connector(token, 300_000), direct=in_pool(token, 170_000)) for token in (A, B, C)}
    planned = plan(ways)
    assert sorted(way.output for way in planned.ways.values()) == [170_000, 170_000, curve(300_000)]


def test_a_token_that_shares_a_pool_that_cannot_take_it_is_missing() -> None:
    ways = {A: over_connector(A, 10), B: over_connector(B, 20)}
    assert plan(ways, output=lambda amount: curve(amount) if amount <= 10 else None).ways.keys() == {A}


# --- last hops that can't swap a sum ----------------------------------------------------------------------------------


def test_if_the_last_hop_swaps_no_sum_the_others_go_directly_and_the_rest_by_router_or_not_at_all() -> None:
    ways = {
        A: both(A, 1, 10**6),
        B: Ways(joined=in_pool(B, 9, joined=True), routed=by_router(B, 2)),
        C: Ways(joined=in_pool(C, 9, joined=True)),
    }
    assert basket(ways).plan({}) == RoutePlan({A: in_pool(A, 1), B: by_router(B, 2)}, last=None)


def test_a_sum_that_the_last_hop_cannot_swap_is_not_chosen() -> None:
    ways = {A: both(A, 1, 10**6), B: Ways(joined=in_pool(B, 9, joined=True))}
    planned = plan(ways, output=lambda amount: 8 if amount == 9 else None)
    assert planned.joined == {B: 9}
    assert planned.ways[A] == ways[A].direct


def test_more_swapped_tokens_are_better_than_a_larger_output() -> None:
    ways = {A: both(A, 100, 50), B: Ways(joined=in_pool(B, 1, joined=True))}
    assert plan(ways, output=lambda amount: 40 if amount == 51 else None).joined == {A: 50, B: 1}
