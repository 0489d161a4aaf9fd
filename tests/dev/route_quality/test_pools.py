"""The model's pools swap like those of the local chain, to the unit."""

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dev.chain.sender import calldata
from dev.route_quality.pools import MAX_TICK, TICK_SPACINGS, V2Pool, V3Pool, sqrt_price_at, tick_at
from sweepapi import networks
from sweepapi.evm.chain.multicall import Read, multicall
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.pools import uniswap_v2, uniswap_v3
from tests.factories.sweeps import LOCAL
from tests.local_chain import LocalChain

FEE = 3000
MINT = "mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))"
TICKS = Function("ticks(int24)", "(uint128,int128)")
EDGE = MAX_TICK // TICK_SPACINGS[FEE] * TICK_SPACINGS[FEE]
AMOUNTS = [1, 10**9, 10**18, 10**21, 3 * 10**22, 10**24, 10**25]


def values(reads: Sequence[Read]) -> list[tuple[int, ...] | None]:
    """Return what the chain answers to these reads."""
    current = networks.current()
    (answer,) = current.pool(LOCAL).batch([multicall(multicall3=current.chain(LOCAL).multicall3, reads=reads)])
    result: list[tuple[int, ...] | None] = answer
    return result


def value(target: str, function: Function, *arguments: object) -> tuple[int, ...]:
    (result,) = values([Read(target, function, arguments)])
    assert result is not None
    return result


def pair(chain: LocalChain) -> tuple[str, str]:
    link, weth = chain.token("LINK").address, chain.contracts["weth"]
    return (link, weth) if int(link, 16) < int(weth, 16) else (weth, link)


def add_position(chain: LocalChain, lower: int, upper: int) -> None:
    """Have a user add liquidity to the V3 pool of LINK."""
    owner, positions = chain.users[1], chain.contracts["positionManager"]
    for token in pair(chain):
        data = calldata("approve(address,uint256)", positions, 2**255)
        chain.send(owner, {"to": token, "data": f"0x{data.hex()}"})
    side = 5 * 10**21
    data = calldata(MINT, (*pair(chain), FEE, lower, upper, side, side, 0, 0, owner.address, 2**64))
    assert chain.receipt(chain.send(owner, {"to": positions, "data": f"0x{data.hex()}"}))["status"] == 1


def v3_pool(chain: LocalChain, ticks: Sequence[int]) -> V3Pool:
    """Return the model of the chain's V3 pool of LINK, with the liquidity that changes at these ticks."""
    (pool,) = value(chain.contracts["uniswapV3Factory"], uniswap_v3.GET_POOL, *pair(chain), FEE)
    sqrt_price, tick = value(str(pool), uniswap_v3.SLOT0)
    (liquidity,) = value(str(pool), uniswap_v3.LIQUIDITY)
    net = {tick: value(str(pool), TICKS, tick)[1] for tick in ticks}
    return V3Pool(FEE, sqrt_price, tick, liquidity, net)


def chain_quotes(chain: LocalChain, *, sells_zero: bool) -> Iterator[tuple[int, ...] | None]:
    token_in, token_out = pair(chain) if sells_zero else reversed(pair(chain))
    swaps = [(token_in, token_out, amount, FEE, 0) for amount in AMOUNTS]
    quoter = chain.contracts["quoterV2"]
    yield from values([Read(quoter, uniswap_v3.QUOTE_EXACT_INPUT_SINGLE, (swap,)) for swap in swaps])


@pytest.mark.parametrize("sells_zero", [True, False])
def test_a_v3_pool_swaps_as_the_quoter_says_over_all_its_ticks(chain: LocalChain, *, sells_zero: bool) -> None:
    tick = v3_pool(chain, []).tick // 60 * 60
    ticks = [tick - 1200, tick - 120, tick + 180, tick + 3000]
    add_position(chain, ticks[1], ticks[2])
    add_position(chain, ticks[0], ticks[3])
    pool = v3_pool(chain, [-EDGE, *ticks, EDGE])
    crossed = set()
    for amount, quoted in zip(AMOUNTS, chain_quotes(chain, sells_zero=sells_zero), strict=True):
        fill = pool.swap(amount, sells_zero=sells_zero)
        if fill is None:
            assert quoted is None or quoted[0] == 0
            continue
        assert quoted is not None
        assert isinstance(fill.pool, V3Pool)
        assert (fill.output, fill.pool.sqrt_price, fill.ticks) == quoted[:3]
        crossed.add(fill.ticks)
    assert len(crossed) > 1


@pytest.mark.parametrize("sells_zero", [True, False])
def test_a_v2_pool_swaps_as_the_router_says(chain: LocalChain, *, sells_zero: bool) -> None:
    (address,) = value(chain.contracts["uniswapV2Factory"], uniswap_v2.GET_PAIR, *pair(chain))
    pool = V2Pool(*value(str(address), uniswap_v2.GET_RESERVES)[:2])
    path = list(pair(chain) if sells_zero else reversed(pair(chain)))
    router = chain.contracts["uniswapV2Router"]
    for amount in AMOUNTS[1:]:
        fill = pool.swap(amount, sells_zero=sells_zero)
        (amounts,) = value(router, uniswap_v2.GET_AMOUNTS_OUT, amount, path)
        assert fill is not None
        assert fill.output == amounts[-1]  # type: ignore[index]


def test_a_pool_without_enough_liquidity_swaps_nothing() -> None:
    pool = V3Pool.of(FEE, 1 << 96, {(-60, 60): 10**6})
    assert pool.swap(10**3, sells_zero=True) is not None
    assert pool.swap(10**6, sells_zero=True) is None
    assert pool.swap(10**6, sells_zero=False) is None
    assert V2Pool(10**6, 10**6).swap(2**112, sells_zero=True) is None


@given(st.integers(-MAX_TICK, MAX_TICK - 1))
def test_the_tick_of_a_price_is_the_greatest_that_is_not_above_it(tick: int) -> None:
    price, above = (sqrt_price_at(each) for each in (tick, tick + 1))
    assert price < above
    assert tick_at(price) == tick_at(above - 1) == tick


@given(amounts=st.lists(st.integers(1, 10**18), min_size=2, max_size=4), sells_zero=st.booleans())
def test_one_swap_gives_about_what_several_of_the_same_sum_give(amounts: list[int], *, sells_zero: bool) -> None:
    pool = V3Pool.of(FEE, 1 << 96, {(-EDGE, EDGE): 10**21, (-1200, 600): 10**22})
    whole = pool.swap(sum(amounts), sells_zero=sells_zero)
    after, output = pool, 0
    for amount in amounts:
        fill = after.swap(amount, sells_zero=sells_zero)
        if fill is not None and isinstance(fill.pool, V3Pool):
            after, output = fill.pool, output + fill.output
    assert (0 if whole is None else whole.output) == pytest.approx(output, abs=2 * len(amounts))
