"""The protocol of all sources of quotes, and the sources that there are, by the kind of venues and routers.

A source knows which pools a pair may have, what to read to quote a swap, and how a router carries it out. It does no
I/O itself: its reads travel in the batches of the build, so another source adds reads, not round trips. Nothing outside
this package asks which source it has.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

from sweepapi.evm.chain.chains import Venue
from sweepapi.evm.chain.multicall import Read
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.pools import uniswap_v2, uniswap_v3
from sweepapi.evm.pools.types import Hop, PoolHop, Route, Spot


class QuoteSource(Protocol):
    """A module that quotes one kind of pools; ``values`` and ``results`` are what the reads returned."""

    POOL_GAS: int  # of a leg through one pool, as ``leg_gas`` has those of other legs
    BEFORE_CALLBACK: int  # gas of a pool and of what the contract does for it, measured as in ``trial/sweep_gas.py``
    AFTER_CALLBACK: int
    HAS_LOCK: bool  # a slot that a swap sets and restores, which is refunded
    CARRIES_SHORT_TRANSFERS: bool  # whether a router swaps what arrives, where that is less than was sent
    SWAPS: tuple[Function, ...]  # that ``swap_call`` may call on a router
    ROUTERS_FACTORY: Function  # shows which factory a router and a quoter use
    QUOTERS_FACTORY: Function

    def hops(self, fee_tiers: Sequence[int], token_in: str, token_out: str) -> Iterator[Hop]:
        """Yield the hops between two tokens, one for each pool that may exist."""

    def pool_read(self, factory: str, hop: Hop) -> Read:
        """Return the read of the address of a hop's pool, which is zero if there is none."""

    def spot_reads(self, pool: str, other: str) -> list[Read]:
        """Return the reads that show what a pool is worth before a trade."""

    def spot(self, results: Sequence[Any], *, token_is_first: bool) -> Spot | None:
        """Return what they show; None for a pool without liquidity."""

    def kept_of_input(self, venue: Venue, fee_tier: int | None) -> Fraction:
        """Return the part of its input that a pool swaps."""

    def pool_quote_read(self, hop: PoolHop, amount: int) -> Read:
        """Return the read that quotes a swap by the contract in one pool."""

    def pool_output(self, hop: PoolHop, amount: int, values: Sequence[Any]) -> int | None:
        """Return what the swap gives; None if the pool can't take the amount."""

    def price_limit(self, hop: PoolHop, values: Sequence[Any]) -> int:
        """Return the price at which the pool is to stop; zero for none."""

    def tick_gas(self, values: Sequence[Any]) -> int:
        """Return the gas of the swap that depends on how far it moves the price."""

    def quote_read(self, route: Route, amount: int) -> Read:
        """Return the read that quotes a swap by a router."""

    def quoted_output(self, values: Sequence[Any]) -> int | None:
        """Return what that swap gives; None if a pool on the way can't take the amount."""

    def swap_call(self, route: Route, *, amount_in: int, min_output: int, recipient: str) -> bytes:
        """Return the router's calldata."""


SOURCES: Mapping[str, QuoteSource] = {"uniswap_v2": uniswap_v2, "uniswap_v3": uniswap_v3}
