"""Uniswap V2: one pool per pair, quotes from Router02, swaps through SwapRouter02.

Sources: Uniswap/v2-core ``IUniswapV2Factory``, Uniswap/v2-periphery ``IUniswapV2Router01``,
Uniswap/swap-router-contracts ``IV2SwapRouter``. As in V3, an ``amountIn`` of zero spends what the router holds.
"""

from collections.abc import Iterator, Sequence

from sweepapi.evm.abi import Function
from sweepapi.evm.chains import Router
from sweepapi.evm.multicall import Read
from sweepapi.evm.routes.types import Hop, Route

ROUTERS_FACTORY = Function("factoryV2()", "(address)")
QUOTERS_FACTORY = Function("factory()", "(address)")
GET_PAIR = Function("getPair(address,address)", "(address)")
GET_AMOUNTS_OUT = Function("getAmountsOut(uint256,address[])", "(uint256[])")
SWAP_EXACT_TOKENS = Function("swapExactTokensForTokens(uint256,uint256,address[],address)")
SWAPS = (SWAP_EXACT_TOKENS,)


def hops(router: Router, token_in: str, token_out: str) -> Iterator[Hop]:  # noqa: ARG001 - the signature of every kind
    """Yield the only hop between the tokens."""
    yield Hop(token_in, token_out)


def pool_read(router: Router, hop: Hop) -> Read:
    """Return the read of the pair's address, which is zero if there is none."""
    return Read(router.factory, GET_PAIR, (hop.token_in, hop.token_out))


def quote_read(route: Route, amount: int) -> Read:
    """Return the read that quotes the route: the amounts along the path."""
    return Read(route.router.quoter, GET_AMOUNTS_OUT, (amount, list(route.path)))


def quoted_output(values: Sequence[Sequence[int]]) -> int:
    """Return the output from the amounts along the path."""
    return values[0][-1]


def swap_call(route: Route, *, amount_in: int, min_output: int, recipient: str) -> bytes:
    """Return the router's calldata; ``amount_in`` is zero for a prefunded swap."""
    return SWAP_EXACT_TOKENS.encode(amount_in, min_output, list(route.path), recipient)
