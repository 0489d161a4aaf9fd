"""Uniswap V3: one pool per pair and fee tier, quotes from QuoterV2, swaps through SwapRouter02.

Sources: Uniswap/v3-core ``IUniswapV3Factory``, Uniswap/v3-periphery ``IQuoterV2``, Uniswap/swap-router-contracts
``IV3SwapRouter``. SwapRouter02 takes an ``amountIn`` of zero as "what I already hold", which is how a leg is prefunded.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from sweepapi.evm.abi import Function
from sweepapi.evm.chains import Router
from sweepapi.evm.multicall import Read
from sweepapi.evm.routes.types import Hop, Route

ROUTERS_FACTORY = Function("factory()", "(address)")
QUOTERS_FACTORY = Function("factory()", "(address)")
GET_POOL = Function("getPool(address,address,uint24)", "(address)")
QUOTE_EXACT_INPUT = Function("quoteExactInput(bytes,uint256)", "(uint256,uint160[],uint32[],uint256)")
EXACT_INPUT_SINGLE = Function("exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))")
EXACT_INPUT = Function("exactInput((bytes,address,uint256,uint256))")
SWAPS = (EXACT_INPUT_SINGLE, EXACT_INPUT)
# Where a swap without a limit of its own ends when the pool has no liquidity left, whatever remains of the input: one
# step inside ``TickMath.MIN_SQRT_RATIO`` and ``MAX_SQRT_RATIO``, by the direction of the swap.
PRICE_LIMITS = frozenset({4295128739 + 1, 1461446703485210103287273052203988822378723970342 - 1})


def hops(router: Router, token_in: str, token_out: str) -> Iterator[Hop]:
    """Yield the hops between the tokens: one per fee tier of the router."""
    for fee_tier in router.fee_tiers:
        yield Hop(token_in, token_out, fee_tier)


def pool_read(router: Router, hop: Hop) -> Read:
    """Return the read of the pool's address, which is zero if there is none."""
    return Read(router.factory, GET_POOL, (hop.token_in, hop.token_out, hop.fee_tier))


def quote_read(route: Route, amount: int) -> Read:
    """Return the read that quotes the route: the output, and each pool's price after the swap."""
    return Read(route.router.quoter, QUOTE_EXACT_INPUT, (_packed_path(route.hops), amount))


def quoted_output(values: Sequence[Any]) -> int | None:
    """Return the output, or None if a pool ran out of liquidity: the router would keep the input it could not swap."""
    output: int = values[0]
    prices_after: Sequence[int] = values[1]
    return output if PRICE_LIMITS.isdisjoint(prices_after) else None


def swap_call(route: Route, *, amount_in: int, min_output: int, recipient: str) -> bytes:
    """Return the router's calldata; ``amount_in`` is zero for a prefunded swap."""
    if len(route.hops) == 1:
        hop = route.hops[0]
        swap = (hop.token_in, hop.token_out, hop.fee_tier, recipient, amount_in, min_output, 0)
        return EXACT_INPUT_SINGLE.encode(swap)
    return EXACT_INPUT.encode((_packed_path(route.hops), recipient, amount_in, min_output))


def _packed_path(path: Sequence[Hop]) -> bytes:
    packed = bytes.fromhex(path[0].token_in[2:])
    for hop in path:
        packed += (hop.fee_tier or 0).to_bytes(3, "big") + bytes.fromhex(hop.token_out[2:])
    return packed
