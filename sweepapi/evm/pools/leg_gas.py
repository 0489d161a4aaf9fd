"""What each leg of a sweep adds to the gas of its receipt, so that ways can be compared net of gas.

Measured on the local chain; ``tests/sweeps/rails/evm/test_gas.py`` compares the figures with what sweeps use.
"""

from sweepapi.evm.pools.sources import SOURCES
from sweepapi.evm.pools.types import PoolHop, Quote, Swap

ROUTER_LEG, ROUTER_HOP = 45_000, 85_000
WRAPPED_LEG = 45_000
LAST_HOP = 105_000


def leg_gas(quote: Quote[Swap]) -> int:
    """Return the gas of a quoted swap as a leg of its own."""
    return swap_gas(quote.swap) + quote.tick_gas


def swap_gas(swap: Swap) -> int:
    """Return the gas of a leg that crosses no ticks."""
    if isinstance(swap, PoolHop):
        return SOURCES[swap.venue.kind].POOL_GAS
    return ROUTER_LEG + ROUTER_HOP * len(swap.hops)
