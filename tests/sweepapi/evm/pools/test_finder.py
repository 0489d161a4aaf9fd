"""Every swap through existing pools is found and quoted, and the best one is chosen."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from eth_utils.address import to_checksum_address

from sweepapi.evm.chain.chains import Router, SaltRule, Venue
from sweepapi.evm.encoding.addresses import ZERO_ADDRESS
from sweepapi.evm.pools import finder
from sweepapi.evm.pools.finder import PoolKey
from sweepapi.evm.pools.types import MAX_AMOUNT, Hop
from sweepapi.evm.pools.venues import pool_address

A, B, W = (f"0x{digit * 40}" for digit in "123")
V2_FACTORY, V3_FACTORY = "0x" + "b" * 40, "0x" + "e" * 40
V2 = Router("v2", "uniswap_v2", "0x" + "a" * 40, V2_FACTORY, "0x" + "c" * 40, ())
V3 = Router("v3", "uniswap_v3", "0x" + "d" * 40, V3_FACTORY, "0x" + "f" * 40, (500, 3000))
CODE_HASH = "0x" + "12" * 32
V2_POOLS = Venue("v2", 2, "uniswap_v2", V2_FACTORY, V2_FACTORY, SaltRule.PACKED_PAIR, 30, bytes(4), CODE_HASH, W, ())
V3_POOLS = Venue(
    "v3", 1, "uniswap_v3", V3_FACTORY, V3_FACTORY, SaltRule.PAIR_AND_FEE, 0, bytes(4), CODE_HASH, W, (500, 3000)
)
POOL = to_checksum_address("0x" + "9" * 40)


def all_pools(*pairs: tuple[str, str]) -> dict[PoolKey, str]:
    return dict.fromkeys(finder.pool_keys([V2, V3], pairs), POOL)


def test_a_pair_may_have_a_pool_in_every_factory_and_fee_tier() -> None:
    assert finder.pool_keys([V2, V3], [(A, B)]) == [
        PoolKey("uniswap_v2", V2_FACTORY, Hop(A, B)),
        PoolKey("uniswap_v3", V3_FACTORY, Hop(A, B, 500)),
        PoolKey("uniswap_v3", V3_FACTORY, Hop(A, B, 3000)),
    ]


def test_a_factory_that_venues_and_routers_share_is_read_once() -> None:
    pairs = [(A, B), (A, W)]
    assert finder.pool_keys([V3_POOLS, V2_POOLS, V3, V2], pairs) == finder.pool_keys([V3_POOLS, V2_POOLS], pairs)


def test_paths_are_direct_and_through_each_middle_token_unless_it_is_an_end() -> None:
    assert finder.paths(A, B, [W]) == [(A, B), (A, W, B)]
    assert finder.paths(A, W, [W]) == [(A, W)]
    assert finder.paths(W, B, [W]) == [(W, B)]


def test_every_combination_of_pools_along_a_path_is_a_route_within_one_router() -> None:
    routes = list(finder.routes([V2, V3], (A, W, B), all_pools((A, W), (W, B))))
    assert [(route.router.name, route.fee_tiers) for route in routes] == [
        ("v2", ()),
        ("v3", (500, 500)),
        ("v3", (500, 3000)),
        ("v3", (3000, 500)),
        ("v3", (3000, 3000)),
    ]
    assert {route.path for route in routes} == {(A, W, B)}


def test_a_path_with_a_missing_pool_gives_no_route() -> None:
    assert list(finder.routes([V2, V3], (A, W, B), all_pools((A, W)))) == []


def test_the_zero_address_means_that_there_is_no_pool() -> None:
    at = finder.pool_keys([V2], [(A, B), (A, W)])
    assert finder.pools_at(at, [(ZERO_ADDRESS,), (POOL,)]) == {at[0]: None, at[1]: POOL}


def test_a_pool_whose_read_failed_is_not_known() -> None:
    at = finder.pool_keys([V2], [(A, B), (A, W)])
    assert finder.pools_at(at, [None, (POOL,)]) == {at[1]: POOL}


def test_a_pool_of_a_venue_is_one_that_the_factory_reports_where_the_contract_computes_it() -> None:
    (first, second) = finder.pool_keys([V3_POOLS], [(A, B)])
    computed = pool_address(V3_POOLS, A, B, 500)
    (hop,) = finder.pool_hops([V3_POOLS], A, B, {first: computed, second: POOL})
    assert (hop.token_in, hop.token_out, hop.fee_tier, hop.pool) == (A, B, 500, computed)
    assert list(finder.pool_hops([V3_POOLS], A, B, {second: computed})) == []


def test_a_pool_without_a_fee_in_its_address_has_no_fee_tier() -> None:
    (key,) = finder.pool_keys([V2_POOLS], [(A, B)])
    (hop,) = finder.pool_hops([V2_POOLS], A, B, {key: pool_address(V2_POOLS, A, B, 0)})
    assert hop.fee_tier is None


def test_venues_with_another_deployer_have_other_pools() -> None:
    (key,) = finder.pool_keys([V2_POOLS], [(A, B)])
    fork = replace(V2_POOLS, deployer=V3_FACTORY)
    assert list(finder.pool_hops([fork], A, B, {key: pool_address(V2_POOLS, A, B, 0)})) == []


def test_the_best_quote_is_chosen_and_the_first_of_equal_ones() -> None:
    routes = list(finder.routes([V2, V3], (A, B), all_pools((A, B))))
    results: list[Any] = [((1, 70),), (90, [], [], 0), (90, [], [], 0)]
    quotes = [finder.quoted(route, 5, result) for route, result in zip(routes, results, strict=True)]
    best = finder.best(filter(None, quotes), gas_cost=Fraction(0))
    assert best is not None
    assert (best.swap, best.amount_in, best.expected_output) == (routes[1], 5, 90)


@pytest.mark.parametrize("results", [[None, None, None], [((1, 0),), None, (0, [], [], 0)]])
def test_swaps_that_fail_or_give_nothing_have_no_quote(results: list[object]) -> None:
    routes = list(finder.routes([V2, V3], (A, B), all_pools((A, B))))
    assert [finder.quoted(route, 5, result) for route, result in zip(routes, results, strict=True)] == [None] * 3


@pytest.mark.parametrize(
    ("amount", "output", "is_quoted"),
    [(MAX_AMOUNT, MAX_AMOUNT, True), (MAX_AMOUNT + 1, 1, False), (1, MAX_AMOUNT + 1, False)],
)
def test_amounts_that_do_not_fit_a_leg_have_no_quote(amount: int, output: int, *, is_quoted: bool) -> None:
    (route,) = finder.routes([V2], (A, B), all_pools((A, B)))
    assert (finder.quoted(route, amount, ((amount, output),)) is not None) == is_quoted


def test_only_routers_that_measure_what_arrives_carry_short_transfers() -> None:
    routes = list(finder.routes([V2, V3], (A, B), all_pools((A, B))))
    assert [route.router.name for route in routes if finder.carries_short_transfers(route)] == ["v2"]
