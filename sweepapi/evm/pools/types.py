"""The types that every kind of pool and router shares: hops, routes and quotes."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, NamedTuple, TypeVar

from sweepapi.evm.chain.chains import Router, Venue

MAX_AMOUNT = 2**128 - 1  # that a leg of the contract can take or give


class Hop(NamedTuple):
    """A swap of one token for another in one pool, which may not exist."""

    token_in: str
    token_out: str
    fee_tier: int | None = None  # hundredths of a basis point; None for kinds with one pool per pair


@dataclass(frozen=True)
class PoolHop:
    """A swap of one token for another in a pool of a venue, which the contract calls itself."""

    venue: Venue
    token_in: str
    token_out: str
    fee_tier: int | None  # hundredths of a basis point, as in the pool's address; None if that contains no fee
    pool: str

    @property
    def pools(self) -> tuple[str, ...]:
        """The pool, as a route has its pools."""
        return (self.pool,)


@dataclass(frozen=True)
class Route:
    """A way through the pools of one router, with one pool per hop, in order."""

    router: Router
    hops: tuple[Hop, ...]
    pools: tuple[str, ...]

    @property
    def path(self) -> tuple[str, ...]:
        """The tokens along the route, including the first and the last."""
        return (self.hops[0].token_in, *(hop.token_out for hop in self.hops))

    @property
    def token_out(self) -> str:
        """The last token."""
        return self.hops[-1].token_out

    @property
    def fee_tiers(self) -> tuple[int, ...]:
        """The fee tier of each hop; empty for kinds without fee tiers."""
        return tuple(hop.fee_tier for hop in self.hops if hop.fee_tier is not None)


Swap = PoolHop | Route
SwapT = TypeVar("SwapT", bound=Swap)
SwapT_co = TypeVar("SwapT_co", bound=Swap, covariant=True)


@dataclass(frozen=True)
class Quote(Generic[SwapT_co]):
    """The output that a pool or a route would give now for an exact amount, in the last token's smallest unit."""

    swap: SwapT_co
    amount_in: int
    expected_output: int
    price_limit: int = 0  # at which the pool is to stop, as ``batch.Hop`` has it; zero for none
    tick_gas: int = 0  # of the ticks that the swap crosses


@dataclass(frozen=True)
class Spot:
    """What a pool shows of a token before a trade, without its fee; in smallest units."""

    price: Fraction  # of one unit of the token in the other token of the pool
    depth: int  # how much of the other token there is near this price
    virtual_reserve: int  # of the other token: what a pool of constant product would hold that moves like this one
