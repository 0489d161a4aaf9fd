"""Uniswap V2: one pool per pair, quotes from the pool's reserves or Router02, swaps through SwapRouter02.

Sources: Uniswap/v2-core ``IUniswapV2Factory`` and ``UniswapV2Pair``, Uniswap/v2-periphery ``IUniswapV2Router01``,
Uniswap/swap-router-contracts ``V2SwapRouter``, which swaps what its first pool received, whatever was sent.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from sweepapi.evm.chain.chains import Venue
from sweepapi.evm.chain.multicall import Read
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.pools.types import Hop, PoolHop, Route, Spot
from sweepapi.fees import BPS_DENOMINATOR

ROUTERS_FACTORY = Function("factoryV2()", "(address)")
QUOTERS_FACTORY = Function("factory()", "(address)")
GET_PAIR = Function("getPair(address,address)", "(address)")
GET_RESERVES = Function("getReserves()", "(uint112,uint112,uint32)")
GET_AMOUNTS_OUT = Function("getAmountsOut(uint256,address[])", "(uint256[])")
SWAP_EXACT_TOKENS = Function("swapExactTokensForTokens(uint256,uint256,address[],address)")
SWAPS: tuple[Function, ...] = (SWAP_EXACT_TOKENS,)
POOL_GAS = 96_000
BEFORE_CALLBACK, AFTER_CALLBACK = 10_000, 61_600
HAS_LOCK = True
CARRIES_SHORT_TRANSFERS = True
MAX_RESERVE = 2**112 - 1


def hops(fee_tiers: Sequence[int], token_in: str, token_out: str) -> Iterator[Hop]:  # noqa: ARG001 - as ``QuoteSource`` has it
    """Yield the only hop between the tokens."""
    yield Hop(token_in, token_out)


def pool_read(factory: str, hop: Hop) -> Read:
    """Return the read of the pair's address, which is zero if there is none."""
    return Read(factory, GET_PAIR, (hop.token_in, hop.token_out))


def pool_quote_read(hop: PoolHop, amount: int) -> Read:  # noqa: ARG001 - as above
    """Return the read of the pool's reserves."""
    return Read(hop.pool, GET_RESERVES)


def pool_output(hop: PoolHop, amount: int, values: Sequence[int]) -> int | None:
    """Return what the contract computes from the reserves, or None if the pool can't hold the amount."""
    first, second = values[0], values[1]
    reserve_in, reserve_out = (first, second) if int(hop.token_in, 16) < int(hop.token_out, 16) else (second, first)
    if reserve_in == 0 or reserve_in + amount > MAX_RESERVE:
        return None
    after_fee = amount * (BPS_DENOMINATOR - hop.venue.fee_bps)
    return after_fee * reserve_out // (reserve_in * BPS_DENOMINATOR + after_fee)


def price_limit(hop: PoolHop, values: Sequence[int]) -> int:  # noqa: ARG001 - as above
    """Return zero: a pair swaps any amount for the same gas."""
    return 0


def tick_gas(values: Sequence[int]) -> int:  # noqa: ARG001 - as above
    """Return zero: a pair has no ticks."""
    return 0


def kept_of_input(venue: Venue, fee_tier: int | None) -> Fraction:  # noqa: ARG001 - as above
    """Return the part of its input that a pool swaps, which is what its fee leaves."""
    return Fraction(BPS_DENOMINATOR - venue.fee_bps, BPS_DENOMINATOR)


def spot_reads(pool: str, other: str) -> list[Read]:  # noqa: ARG001 - as above
    """Return the read of the pool's reserves."""
    return [Read(pool, GET_RESERVES)]


def spot(results: Sequence[Any], *, token_is_first: bool) -> Spot | None:
    """Return the ratio of the reserves, and the one of the other token; None for a pool without liquidity."""
    first, second = results[0][0], results[0][1]
    reserve, other_reserve = (first, second) if token_is_first else (second, first)
    return Spot(Fraction(other_reserve, reserve), other_reserve, other_reserve) if reserve and other_reserve else None


def quote_read(route: Route, amount: int) -> Read:
    """Return the read that quotes the route: the amounts along the path."""
    return Read(route.router.quoter, GET_AMOUNTS_OUT, (amount, list(route.path)))


def quoted_output(values: Sequence[Sequence[int]]) -> int | None:
    """Return the output from the amounts along the path; None if there are none, which only a provider makes up."""
    return values[0][-1] if values[0] else None


def swap_call(route: Route, *, amount_in: int, min_output: int, recipient: str) -> bytes:
    """Return the router's calldata."""
    return SWAP_EXACT_TOKENS.encode(amount_in, min_output, list(route.path), recipient)
