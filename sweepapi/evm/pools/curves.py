"""Estimates what a pool would give for any amount, from its price and reserves before the trade.

A pool of concentrated liquidity moves like one of constant product until the price leaves its range, so these are
guesses: they choose what to quote, and never what a user is offered.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sweepapi.evm.pools.pricing import PricedPool
from sweepapi.evm.pools.sources import SOURCES
from sweepapi.evm.pools.types import PoolHop, Spot


@dataclass(frozen=True)
class Curve:
    """The two reserves of a pool, and the part of its input that it swaps."""

    reserve_in: float
    reserve_out: float
    kept: float

    def output(self, amount: float) -> float:
        """Return about what the pool gives for an amount."""
        swapped = amount * self.kept
        return self.reserve_out * swapped / (self.reserve_in + swapped)


def curves(hops: Iterable[PoolHop], spots: Mapping[PricedPool, Spot]) -> dict[str, Curve]:
    """Return the curve of each pool with liquidity, by address."""
    by_address = {pool.address: (pool, spot) for pool, spot in spots.items()}
    return {hop.pool: _curve(hop, *by_address[hop.pool]) for hop in hops if hop.pool in by_address}


def _curve(hop: PoolHop, pool: PricedPool, spot: Spot) -> Curve:
    other = float(spot.virtual_reserve)
    reserve = other / float(spot.price)
    kept = float(SOURCES[hop.venue.kind].kept_of_input(hop.venue, hop.fee_tier))
    return Curve(reserve, other, kept) if hop.token_in == pool.pair[0] else Curve(other, reserve, kept)
