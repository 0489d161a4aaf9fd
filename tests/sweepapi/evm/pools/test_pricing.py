"""The price of a pair is that of its deepest pool, before a trade and without fees, and no false price changes that."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweepapi.evm.pools.finder import PoolKey
from sweepapi.evm.pools.pricing import MidPrices, PricedPool, PricedPools, shown
from sweepapi.evm.pools.types import Hop, Spot

LOW, HIGH, OTHER = "0x" + "1" * 40, "0x" + "2" * 40, "0x" + "3" * 40
FACTORY, POOL = "0x" + "a" * 40, "0x" + "b" * 40
ONE = 2**96  # the square root of a price of 1 in Uniswap V3
POSITIVE = st.integers(min_value=1, max_value=2**112 - 1)


def v2(*reserves: int, pair: tuple[str, str] = (LOW, HIGH)) -> tuple[PricedPool, list[Any]]:
    """Return a V2 pool with what it answers: the reserves of the lower address and of the higher one."""
    return PricedPool("uniswap_v2", POOL, pair), [(*reserves, 0)]


def v3(sqrt_price: int, liquidity: int, held: int, pair: tuple[str, str] = (LOW, HIGH)) -> tuple[PricedPool, list[Any]]:
    """Return a V3 pool with what it and the second token answer."""
    return PricedPool("uniswap_v3", POOL, pair), [(sqrt_price, 0), (liquidity,), (held,)]


def mid(*pools: tuple[PricedPool, list[Any]], pair: tuple[str, str] = (LOW, HIGH)) -> Fraction | None:
    results = [result for _, results in pools for result in results]
    listed = [replace(pool, address=f"0x{number:040x}") for number, (pool, _) in enumerate(pools)]
    return MidPrices.of(shown(listed, results)).along(pair)


def spot(answered: tuple[PricedPool, list[Any]]) -> Spot | None:
    pool, results = answered
    return pool.spot(results)


# --- one pool ---------------------------------------------------------------------------------------------------------


def test_a_v2_pool_shows_the_ratio_of_its_reserves() -> None:
    assert spot(v2(400, 1000)) == Spot(Fraction(5, 2), depth=1000, virtual_reserve=1000)
    assert spot(v2(400, 1000, pair=(HIGH, LOW))) == Spot(Fraction(2, 5), depth=400, virtual_reserve=400)


def test_a_v3_pool_shows_its_price_and_its_virtual_reserve() -> None:
    """With L = 1000 and a price of 4: 1000 / sqrt(4) of the first token, 1000 * sqrt(4) of the second."""
    assert spot(v3(2 * ONE, 1000, held=10**6)) == Spot(Fraction(4), depth=2000, virtual_reserve=2000)
    assert spot(v3(2 * ONE, 1000, held=10**6, pair=(HIGH, LOW))) == Spot(Fraction(1, 4), depth=500, virtual_reserve=500)


def test_a_v3_pool_is_no_deeper_than_what_it_holds() -> None:
    assert spot(v3(2 * ONE, 1000, held=1999)) == Spot(Fraction(4), depth=1999, virtual_reserve=2000)


@pytest.mark.parametrize(
    "empty",
    [v2(0, 0), v2(0, 5), v2(5, 0), v3(0, 0, 0), v3(0, 5, 5), v3(ONE, 0, 5), v3(ONE, 5, 0), v3(ONE // 10, 9, 100)],
    ids=repr,
)
def test_a_pool_without_liquidity_shows_nothing(empty: tuple[PricedPool, list[Any]]) -> None:
    assert spot(empty) is None


@pytest.mark.parametrize("failed", range(3))
def test_a_pool_of_which_a_read_failed_shows_nothing(failed: int) -> None:
    pool, results = v3(ONE, 1000, 1000)
    results[failed] = None
    assert mid((pool, results)) is None
    assert mid((pool, results), v2(10, 20)) == 2


@given(first=POSITIVE, second=POSITIVE, is_v3=st.booleans())
def test_the_directions_of_a_pool_are_each_others_inverse(first: int, second: int, *, is_v3: bool) -> None:
    prices = []
    for pair in ((LOW, HIGH), (HIGH, LOW)):
        shown = spot(v3(first, second, 2**200, pair) if is_v3 else v2(first, second, pair=pair))
        prices.append(None if shown is None else shown.price)
    there, back = prices
    if there is not None and back is not None:
        assert there * back == 1


# --- the deepest pool -------------------------------------------------------------------------------------------------


def test_the_deepest_pool_has_the_most_of_the_second_token() -> None:
    assert mid(v2(10, 1000), v3(ONE, 2000, held=2000), v2(10**9, 1500)) == 1
    assert mid(v2(10, 2001), v3(ONE, 2000, held=2000)) == Fraction(2001, 10)


@pytest.mark.parametrize("sqrt_price", [ONE >> 60, ONE * 2**60])
def test_a_narrow_position_at_a_false_price_is_not_the_deepest(sqrt_price: int) -> None:
    """Its virtual reserve is as large as its owner likes; what it holds of the second token is not."""
    decoy = v3(sqrt_price, 2**127, held=999)
    assert mid(decoy, v2(500, 1000)) == mid(v2(500, 1000), decoy) == 2


@given(POSITIVE, POSITIVE, POSITIVE, st.integers(min_value=1, max_value=2**128 - 1), st.integers(2**32, 2**160 - 1))
def test_no_pool_that_holds_less_of_the_second_token_changes_the_price(
    first: int, second: int, less: int, liquidity: int, sqrt_price: int
) -> None:
    held = min(less, second - 1)
    decoys = [v3(sqrt_price, liquidity, held), v2(less, held)]
    assert mid(*decoys, v2(first, second)) == mid(v2(first, second), *decoys) == Fraction(second, first)


# --- pairs and paths --------------------------------------------------------------------------------------------------


def test_pools_are_found_in_both_directions_once_where_venue_and_router_share_them() -> None:
    keys = {
        PoolKey("uniswap_v2", FACTORY, Hop(LOW, HIGH)): POOL,
        PoolKey("uniswap_v2", FACTORY, Hop(HIGH, LOW)): POOL,
        PoolKey("uniswap_v3", FACTORY, Hop(HIGH, LOW, 500)): OTHER,
        PoolKey("uniswap_v3", FACTORY, Hop(LOW, OTHER, 500)): FACTORY,
    }
    pools = PricedPools.of(keys).pricing([(LOW, HIGH)])
    assert pools == [PricedPool("uniswap_v2", POOL, (LOW, HIGH)), PricedPool("uniswap_v3", OTHER, (LOW, HIGH))]


def test_a_path_multiplies_the_prices_of_its_steps_in_either_direction() -> None:
    prices = MidPrices({(LOW, HIGH): Fraction(3, 2), (OTHER, HIGH): Fraction(5)})
    assert prices.along((LOW, HIGH, OTHER)) == Fraction(3, 10)
    assert prices.along((OTHER, HIGH, LOW)) == Fraction(10, 3)
    assert prices.along((LOW,)) == prices.along((LOW, LOW)) == 1
    assert prices.along((LOW, OTHER)) is None
    assert prices.along((LOW, HIGH, POOL)) is None


@pytest.mark.parametrize("decimals", [0, 6, 18, 30])
@pytest.mark.parametrize("other_decimals", [0, 6, 18, 30])
def test_a_price_is_exact_for_all_decimals(decimals: int, other_decimals: int) -> None:
    """At a price of 2: three whole tokens are worth six."""
    price = mid(v2(7 * 10**decimals, 14 * 10**other_decimals))
    assert price is not None
    assert 3 * 10**decimals * price == 6 * 10**other_decimals
