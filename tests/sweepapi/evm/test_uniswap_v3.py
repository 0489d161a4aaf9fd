"""A quote through a pool that runs out of liquidity is refused: the router would keep the input it could not swap."""

import pytest

from sweepapi.evm.chains import Router
from sweepapi.evm.multicall import multicall
from sweepapi.evm.providers import evm_pool
from sweepapi.evm.routes import uniswap_v3
from sweepapi.evm.routes.types import Hop, Route
from tests.local_chain import LocalChain
from tests.thin_pools import open_thin_pool

MIN_SQRT_RATIO = 4295128739
MAX_SQRT_RATIO = 1461446703485210103287273052203988822378723970342
FEE = 500


def quoted(chain: LocalChain, hops: tuple[Hop, ...], amount: int) -> int | None:
    """Return the real quoter's output for a route."""
    at = chain.contracts
    router = Router("v3", "uniswap_v3", at["swapRouter02"], at["uniswapV3Factory"], at["quoterV2"], (FEE,))
    read = uniswap_v3.quote_read(Route(router, hops, pools=()), amount)
    pool = evm_pool(urls=[chain.world["rpcUrl"]], chain_id=chain.world["chainId"], timeout_seconds=10)
    ((values,),) = pool.batch([multicall(multicall3=at["multicall3"], reads=[read])])
    return uniswap_v3.quoted_output(values)


@pytest.mark.parametrize("price", [MIN_SQRT_RATIO + 1, MAX_SQRT_RATIO - 1])
@pytest.mark.parametrize("position", [0, 1])
def test_a_hop_whose_price_ends_at_a_limit_was_not_filled(price: int, position: int) -> None:
    prices = [2**96, 2**96]
    prices[position] = price
    assert uniswap_v3.quoted_output((5, prices, [0, 0], 0)) is None


@pytest.mark.parametrize("price", [MIN_SQRT_RATIO, MIN_SQRT_RATIO + 2, MAX_SQRT_RATIO - 2, 2**96])
def test_a_hop_whose_price_ends_elsewhere_was_filled(price: int) -> None:
    assert uniswap_v3.quoted_output((5, [2**96, price], [0, 0], 0)) == 5


@pytest.mark.parametrize(("sold", "bought"), [("LINK", "WETH"), ("WETH", "LINK")])
def test_a_pool_that_runs_out_of_liquidity_gives_no_quote_in_either_direction(
    chain: LocalChain, sold: str, bought: str
) -> None:
    token_in, token_out = chain.token(sold), chain.token(bought)
    open_thin_pool(chain, (token_in, 1), (token_out, 1), fee=FEE)
    hops = (Hop(token_in.address, token_out.address, FEE),)
    assert quoted(chain, hops, token_in.units(0.5)) == pytest.approx(token_out.units(0.5), rel=0.01)
    assert quoted(chain, hops, token_in.units(2)) is None


@pytest.mark.parametrize("thin_hop", [0, 1])
def test_a_route_with_one_pool_that_runs_out_of_liquidity_gives_no_quote(chain: LocalChain, thin_hop: int) -> None:
    path = [chain.token(symbol) for symbol in ("LINK", "WETH", "UNI")]
    open_thin_pool(chain, (path[thin_hop], 1), (path[thin_hop + 1], 1), fee=FEE)
    fees = [3000, 10_000]
    fees[thin_hop] = FEE
    hops = tuple(Hop(path[i].address, path[i + 1].address, fees[i]) for i in range(2))
    much, little = path[0].units(1000), path[0].units(0.1)
    assert quoted(chain, hops, much) is None
    assert quoted(chain, hops, little) is not None
