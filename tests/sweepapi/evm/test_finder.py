"""Every route through existing pools is quoted, and the best one is chosen."""

import pytest

from sweepapi.evm.addresses import ZERO_ADDRESS
from sweepapi.evm.chains import Router
from sweepapi.evm.routes import finder
from sweepapi.evm.routes.types import Hop

A, B, W = (f"0x{digit * 40}" for digit in "123")
V2 = Router("v2", "uniswap_v2", "0x" + "a" * 40, "0x" + "b" * 40, "0x" + "c" * 40, ())
V3 = Router("v3", "uniswap_v3", "0x" + "d" * 40, "0x" + "e" * 40, "0x" + "f" * 40, (500, 3000))
POOL = "0x" + "9" * 40


def all_pools(*pairs: tuple[str, str]) -> dict[finder.PoolKey, str]:
    return dict.fromkeys(finder.pool_keys([V2, V3], pairs), POOL)


def test_a_pair_may_have_a_pool_in_every_router_and_fee_tier() -> None:
    assert finder.pool_keys([V2, V3], [(A, B)]) == [(V2, Hop(A, B)), (V3, Hop(A, B, 500)), (V3, Hop(A, B, 3000))]


def test_paths_are_direct_and_through_the_wrapped_coin_unless_it_is_an_end() -> None:
    assert finder.paths(A, B, W) == [(A, B), (A, W, B)]
    assert finder.paths(A, W, W) == [(A, W)]
    assert finder.paths(W, B, W) == [(W, B)]


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
    assert finder.existing_pools(at, [(ZERO_ADDRESS,), (POOL,)]) == {at[1]: POOL}
    assert finder.existing_pools(at, [None, None]) == {}


def test_the_best_quote_is_chosen_and_the_first_of_equal_ones() -> None:
    routes = list(finder.routes([V2, V3], (A, B), all_pools((A, B))))
    best = finder.best_quote(routes, [((1, 70),), (90, [], [], 0), (90, [], [], 0)])
    assert best is not None
    assert (best.route, best.expected_output) == (routes[1], 90)


@pytest.mark.parametrize("results", [[None, None, None], [((1, 0),), None, (0, [], [], 0)]])
def test_routes_that_fail_or_give_nothing_have_no_quote(results: list[object]) -> None:
    routes = list(finder.routes([V2, V3], (A, B), all_pools((A, B))))
    assert finder.best_quote(routes, results) is None


def test_a_prefunded_swap_differs_from_an_approved_one_only_in_its_amount() -> None:
    for route in finder.routes([V2, V3], (A, W, B), all_pools((A, W), (W, B))):
        calls = [finder.swap_call(route, amount_in=n, min_output=5, recipient=POOL) for n in (0, 7)]
        assert calls[0] == calls[1].replace((7).to_bytes(32, "big"), bytes(32), 1)
