"""The types that every kind of router shares: hops, routes and quotes."""

from dataclasses import dataclass

from sweepapi.evm.chains import Router


@dataclass(frozen=True)
class Hop:
    """A swap of one token for another in one pool, which may not exist."""

    token_in: str
    token_out: str
    fee_tier: int | None = None  # hundredths of a basis point; None for kinds with one pool per pair


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
    def fee_tiers(self) -> tuple[int, ...]:
        """The fee tier of each hop; empty for kinds without fee tiers."""
        return tuple(hop.fee_tier for hop in self.hops if hop.fee_tier is not None)


@dataclass(frozen=True)
class Quote:
    """The output that a route would give now for an exact amount, in the last token's smallest unit."""

    route: Route
    expected_output: int
