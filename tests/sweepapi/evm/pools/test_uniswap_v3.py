"""A quote through a pool that runs out of liquidity is refused: the pool would not take the whole input."""

from itertools import pairwise

import pytest

from sweepapi import networks
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.multicall import multicall
from sweepapi.evm.contracts import batch
from sweepapi.evm.pools import finder, uniswap_v3
from sweepapi.evm.pools.types import Hop, PoolHop, Route, Swap
from sweepapi.evm.pools.venues import pool_address
from tests.factories.sweeps import LOCAL
from tests.local_chain import LocalChain
from tests.thin_pools import open_thin_pool

MIN_SQRT_RATIO = 4295128739
MAX_SQRT_RATIO = 1461446703485210103287273052203988822378723970342
AT_A_LIMIT = [MIN_SQRT_RATIO + 1, MAX_SQRT_RATIO - 1]
ELSEWHERE = [MIN_SQRT_RATIO, MIN_SQRT_RATIO + 2, MAX_SQRT_RATIO - 2, 2**96]
FEE = 500


@pytest.fixture
def facts(chain: LocalChain) -> Chain:
    assert chain.world
    return networks.current().chain(LOCAL)


def pool_swap(facts: Chain, token_in: str, token_out: str, fee: int) -> PoolHop:
    venue = facts.venues[0]
    return PoolHop(venue, token_in, token_out, fee, pool_address(venue, token_in, token_out, fee))


def routed(facts: Chain, path: list[str], fees: list[int]) -> Route:
    hops = tuple(Hop(*pair, fee) for pair, fee in zip(pairwise(path), fees, strict=True))
    return Route(facts.routers[0], hops, pools=())


def quoted(facts: Chain, swap: Swap, amount: int) -> int | None:
    """Return the output that the real quoter gives reason to expect."""
    call = multicall(multicall3=facts.multicall3, reads=[finder.quote_read(swap, amount)])
    ((result,),) = networks.current().pool(LOCAL).batch([call])
    quote = finder.quoted(swap, amount, result)
    return None if quote is None else quote.expected_output


@pytest.mark.parametrize("price", AT_A_LIMIT)
@pytest.mark.parametrize("position", [0, 1])
def test_a_hop_whose_price_ends_at_a_limit_was_not_filled(facts: Chain, price: int, position: int) -> None:
    prices = [2**96, 2**96]
    prices[position] = price
    route = routed(facts, [facts.wrapped_native] * 3, [FEE, FEE])
    assert finder.quoted(route, 1, (5, prices, [0, 0], 0)) is None
    pool = pool_swap(facts, facts.wrapped_native, facts.permit2, FEE)
    assert finder.quoted(pool, 1, (5, price, 0, 0)) is None


@pytest.mark.parametrize("price", ELSEWHERE)
def test_a_hop_whose_price_ends_elsewhere_was_filled(facts: Chain, price: int) -> None:
    route = routed(facts, [facts.wrapped_native] * 3, [FEE, FEE])
    assert finder.quoted(route, 1, (5, [2**96, price], [0, 0], 0))
    pool = pool_swap(facts, facts.wrapped_native, facts.permit2, FEE)
    assert finder.quoted(pool, 1, (5, price, 0, 0))


@pytest.mark.parametrize(("sold", "bought"), [("LINK", "WETH"), ("WETH", "LINK")])
def test_a_pool_that_runs_out_of_liquidity_gives_no_quote_in_either_direction(
    chain: LocalChain, facts: Chain, sold: str, bought: str
) -> None:
    token_in, token_out = chain.token(sold), chain.token(bought)
    open_thin_pool(chain, (token_in, 1), (token_out, 1), fee=FEE)
    swaps: list[Swap] = [
        pool_swap(facts, token_in.address, token_out.address, FEE),
        routed(facts, [token_in.address, token_out.address], [FEE]),
    ]
    for swap in swaps:
        assert quoted(facts, swap, token_in.units(0.5)) == pytest.approx(token_out.units(0.5), rel=0.01)
        assert quoted(facts, swap, token_in.units(2)) is None


@pytest.mark.parametrize("thin_hop", [0, 1])
def test_a_route_with_one_pool_that_runs_out_of_liquidity_gives_no_quote(
    chain: LocalChain, facts: Chain, thin_hop: int
) -> None:
    path = [chain.token(symbol) for symbol in ("LINK", "WETH", "UNI")]
    open_thin_pool(chain, (path[thin_hop], 1), (path[thin_hop + 1], 1), fee=FEE)
    fees = [3000, 10_000]
    fees[thin_hop] = FEE
    route = routed(facts, [token.address for token in path], fees)
    much, little = path[0].units(1000), path[0].units(0.1)
    assert quoted(facts, route, much) is None
    assert quoted(facts, route, little) is not None


def test_a_pool_that_was_never_created_gives_no_quote(chain: LocalChain, facts: Chain) -> None:
    token_in, token_out = chain.token("LINK"), chain.token("WETH")
    assert quoted(facts, pool_swap(facts, token_in.address, token_out.address, 100), token_in.units(1)) is None


LOW, HIGH = "0x" + "01" * 20, "0x" + "02" * 20


def limit_of(facts: Chain, token_in: str, token_out: str, price_after: int) -> int:
    return uniswap_v3.price_limit(pool_swap(facts, token_in, token_out, FEE), (1, price_after, 0, 0))


@pytest.mark.parametrize("price_after", [2**96, 3 * 2**90 + 12345, MIN_SQRT_RATIO * 3, MAX_SQRT_RATIO // 3])
def test_a_leg_stops_at_a_quarter_of_the_price_that_its_swap_leaves(facts: Chain, price_after: int) -> None:
    falling, rising = limit_of(facts, LOW, HIGH, price_after), limit_of(facts, HIGH, LOW, price_after)
    assert price_after / 2 * (1 - 2**-21) <= falling <= price_after / 2
    assert price_after * 2 <= rising <= price_after * 2 * (1 + 2**-21)
    for limit in (falling, rising):
        assert batch.BatchHop(price_limit=limit).as_int()


def test_a_leg_near_the_end_of_all_prices_has_no_limit(facts: Chain) -> None:
    assert limit_of(facts, LOW, HIGH, 2 * MIN_SQRT_RATIO) == 0
    assert limit_of(facts, HIGH, LOW, MAX_SQRT_RATIO // 2) == 0
