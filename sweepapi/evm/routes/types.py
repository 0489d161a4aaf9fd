"""The words in which every kind of router speaks: pools, routes, quotes."""

from dataclasses import dataclass

from sweepapi.evm.chains import Router


@dataclass(frozen=True)
class Hop:
    """A place where a pool may be: two tokens and, where the kind has several, a fee tier."""

    token_in: str
    token_out: str
    fee_tier: int | None = None  # None for kinds with one pool a pair


@dataclass(frozen=True)
class Route:
    """A way through the pools of one router; the pools stand in the order of the hops."""

    router: Router
    hops: tuple[Hop, ...]
    pools: tuple[str, ...]

    @property
    def path(self) -> tuple[str, ...]:
        """The tokens that the swap passes, the first and the last included."""
        return (self.hops[0].token_in, *(hop.token_out for hop in self.hops))

    @property
    def fee_tiers(self) -> tuple[int, ...]:
        """The fee tier of each hop; empty for kinds without."""
        return tuple(hop.fee_tier for hop in self.hops if hop.fee_tier is not None)


@dataclass(frozen=True)
class Quote:
    """What a route would give now for an exact amount, in the last token's smallest unit."""

    route: Route
    expected_output: int
