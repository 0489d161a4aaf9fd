"""How the legs of a sweep are swapped: in a pool, by a router, or not at all."""

from dataclasses import dataclass

from sweepapi.evm.pools.leg_gas import WRAPPED_LEG, swap_gas
from sweepapi.evm.pools.types import PoolHop, Route


@dataclass(frozen=True)
class PoolSwap:
    """A swap in a pool that the contract calls itself, into the output or, if joined, into the wrapped coin."""

    hop: PoolHop
    joined: bool
    least_wrapped: int  # what a joined one must give; zero for the others, which have their floor
    price_limit: int  # at which the pool is to stop, as ``batch.Hop`` has it


@dataclass(frozen=True)
class RouterSwap:
    """A swap by a router, for what pools can't carry."""

    route: Route
    amount_in: int  # what arrives at the contract: less than the amount if the token keeps a part


@dataclass(frozen=True)
class WrappedSwap:
    """The wrapped coin, which needs no pool of its own: it joins the last hop, or else is unwrapped."""

    joined: bool


LegSwap = PoolSwap | RouterSwap | WrappedSwap


def leg_gas(swap: LegSwap | None) -> int:
    """Return about the gas that a leg adds to what a sweep uses; none if the offer drops it."""
    match swap:
        case None:
            return 0
        case PoolSwap(hop=taken) | RouterSwap(route=taken):
            return swap_gas(taken)
        case WrappedSwap():
            return WRAPPED_LEG
