"""Uniswap V3: one pool per pair and fee tier, quotes from QuoterV2, swaps through SwapRouter02.

Sources: Uniswap/v3-core ``IUniswapV3Factory`` and ``UniswapV3Pool``, Uniswap/v3-periphery ``IQuoterV2``,
Uniswap/swap-router-contracts ``IV3SwapRouter``; the Uniswap v3 Core whitepaper, 6.2, for virtual reserves.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from sweepapi.evm.chain.chains import Venue
from sweepapi.evm.chain.multicall import Read
from sweepapi.evm.contracts.batch import PRICE_LIMIT_BITS
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.pools.types import Hop, PoolHop, Route, Spot
from sweepapi.evm.tokens.erc20 import BALANCE_OF

ROUTERS_FACTORY = Function("factory()", "(address)")
QUOTERS_FACTORY = Function("factory()", "(address)")
GET_POOL = Function("getPool(address,address,uint24)", "(address)")
SLOT0 = Function("slot0()", "(uint160,int24)")  # what follows is not the same in all forks
LIQUIDITY = Function("liquidity()", "(uint128)")
QUOTE_EXACT_INPUT_SINGLE = Function(
    "quoteExactInputSingle((address,address,uint256,uint24,uint160))", "(uint256,uint160,uint32,uint256)"
)
QUOTE_EXACT_INPUT = Function("quoteExactInput(bytes,uint256)", "(uint256,uint160[],uint32[],uint256)")
EXACT_INPUT_SINGLE = Function("exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))")
EXACT_INPUT = Function("exactInput((bytes,address,uint256,uint256))")
SWAPS: tuple[Function, ...] = (EXACT_INPUT_SINGLE, EXACT_INPUT)
FEE_DENOMINATOR = 1_000_000
# Of ``Tick.cross``: four slots read and three written, one word of the bitmap, and a step of the swap's loop.
CROSSED_TICK_GAS = 22_000
SQRT_PRICE_BITS = 96  # after the binary point
POOL_GAS = 88_000
BEFORE_CALLBACK, AFTER_CALLBACK = 45_000, 13_800
HAS_LOCK = False
CARRIES_SHORT_TRANSFERS = False  # a pool reverts unless it receives what the router sent
# A pool swaps until the input is used up or the price is at the limit, and the quoter quotes what was swapped as if it
# were the whole. So a fill is whole unless the price ends at the limit: one step inside ``TickMath.MIN_SQRT_RATIO`` or
# ``MAX_SQRT_RATIO``, by the direction of the swap, where the caller sets none.
LOWEST_LIMIT, HIGHEST_LIMIT = 4295128739 + 1, 1461446703485210103287273052203988822378723970342 - 1
PRICE_LIMITS = frozenset({LOWEST_LIMIT, HIGHEST_LIMIT})


def hops(fee_tiers: Sequence[int], token_in: str, token_out: str) -> Iterator[Hop]:
    """Yield the hops between the tokens: one per fee tier."""
    for fee_tier in fee_tiers:
        yield Hop(token_in, token_out, fee_tier)


def pool_read(factory: str, hop: Hop) -> Read:
    """Return the read of the pool's address, which is zero if there is none."""
    return Read(factory, GET_POOL, (hop.token_in, hop.token_out, hop.fee_tier))


def pool_quote_read(hop: PoolHop, amount: int) -> Read:
    """Return the read that quotes the pool: the output, and the price after the swap."""
    swap = (hop.token_in, hop.token_out, amount, hop.fee_tier, 0)
    return Read(hop.venue.quoter, QUOTE_EXACT_INPUT_SINGLE, (swap,))


def pool_output(hop: PoolHop, amount: int, values: Sequence[int]) -> int | None:  # noqa: ARG001 - as ``QuoteSource`` has it
    """Return the output, or None if the pool ran out of liquidity."""
    output, price_after = values[0], values[1]
    return None if price_after in PRICE_LIMITS else output


def price_limit(hop: PoolHop, values: Sequence[int]) -> int:
    """Return where a swap is to stop: at a quarter of the price that the quoted one leaves, in the worse direction.

    No leg is worth less. A swap in a pool that was emptied meanwhile walks through all ticks up to there, and each word
    of them costs gas. As sqrtPriceX96 that fits into a leg; zero, for the whole range, if a quarter is outside of it.
    """
    if int(hop.token_in, 16) < int(hop.token_out, 16):
        limit = values[1] // 2
        limit &= -1 << max(limit.bit_length() - PRICE_LIMIT_BITS, 0)
    else:
        limit = values[1] * 2
        unit = 1 << max(limit.bit_length() - PRICE_LIMIT_BITS, 0)
        limit = -(-limit // unit) * unit
    return limit if LOWEST_LIMIT < limit < HIGHEST_LIMIT else 0


def tick_gas(values: Sequence[int]) -> int:
    """Return the gas of the initialized ticks that the quoted swap crosses."""
    return values[2] * CROSSED_TICK_GAS


def kept_of_input(venue: Venue, fee_tier: int | None) -> Fraction:  # noqa: ARG001 - as ``QuoteSource`` has it
    """Return the part of its input that a pool swaps, which is what its fee leaves."""
    return Fraction(FEE_DENOMINATOR - (fee_tier or 0), FEE_DENOMINATOR)


def spot_reads(pool: str, other: str) -> list[Read]:
    """Return the reads of the pool's price and liquidity, and of what it holds of the other token."""
    return [Read(pool, SLOT0), Read(pool, LIQUIDITY), Read(other, BALANCE_OF, (pool,))]


def spot(results: Sequence[Any], *, token_is_first: bool) -> Spot | None:
    """Return the current price, and the virtual reserve of the other token; None for a pool without liquidity.

    The virtual reserves are ``L / sqrt(P)`` of the first token and ``L * sqrt(P)`` of the second. A provider of
    liquidity in a narrow range, or of the first token alone at a false price, makes them as large as it likes, so
    what the pool holds bounds them.
    """
    sqrt_price, liquidity, held = results[0][0], results[1][0], results[2][0]
    if sqrt_price == 0:
        return None
    price = Fraction(sqrt_price**2, 1 << 2 * SQRT_PRICE_BITS)
    if token_is_first:
        virtual = liquidity * sqrt_price >> SQRT_PRICE_BITS
    else:
        price, virtual = 1 / price, (liquidity << SQRT_PRICE_BITS) // sqrt_price
    depth = min(virtual, held)
    return Spot(price, depth, virtual) if depth else None


def quote_read(route: Route, amount: int) -> Read:
    """Return the read that quotes the route: the output, and each pool's price after the swap."""
    return Read(route.router.quoter, QUOTE_EXACT_INPUT, (_packed_path(route.hops), amount))


def quoted_output(values: Sequence[Any]) -> int | None:
    """Return the output, or None if a pool ran out of liquidity: the router would keep the input it could not swap."""
    output: int = values[0]
    prices_after: Sequence[int] = values[1]
    return output if PRICE_LIMITS.isdisjoint(prices_after) else None


def swap_call(route: Route, *, amount_in: int, min_output: int, recipient: str) -> bytes:
    """Return the router's calldata."""
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
