"""The way of each token as partners see it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sweepapi.evm.encoding.addresses import NATIVE_COIN
from sweepapi.evm.pools.types import PoolHop
from sweepapi.evm.trial.legs import PoolSwap, RouterSwap, WrappedSwap
from sweeps.rails.evm.build.stages import EvmPlanned, EvmToken
from sweeps.rails.evm.models import Leg


@dataclass(frozen=True)
class ShownRoute:
    """How a token becomes the output; the path of a joined one includes the last hop."""

    kind: Leg.Hop
    path: Sequence[str]
    fee_tiers: Sequence[int] = ()
    venue: str | None = None
    router: str | None = None
    target: str | None = None  # the pool or router; None if the token itself needs none
    price_impact_bps: int | None = None


@dataclass(frozen=True)
class ShownToken:
    """A token of a planned sweep and its route, which is None if the offer drops it."""

    token: EvmToken
    route: ShownRoute | None


def shown_tokens(planned: EvmPlanned) -> Iterator[ShownToken]:
    """Yield the tokens of a planned sweep with their routes."""
    last = [] if planned.last_hop is None else [planned.last_hop]
    for token in planned.tokens:
        route = _route(token, last)
        if route is not None:
            route = replace(route, price_impact_bps=token.economics.price_impact_bps)
        yield ShownToken(token, route)


def _route(token: EvmToken, last: list[PoolHop]) -> ShownRoute | None:
    match token.swap:
        case None:
            return None
        case WrappedSwap(joined=True):
            return ShownRoute(Leg.Hop.JOINED, *_way(last))
        case WrappedSwap():
            return ShownRoute(Leg.Hop.UNWRAPPED, (token.asset, NATIVE_COIN))
        case PoolSwap(hop=hop, joined=joined):
            kind, hops = (Leg.Hop.JOINED, [hop, *last]) if joined else (Leg.Hop.POOL, [hop])
            return ShownRoute(kind, *_way(hops), venue=hop.venue.name, target=hop.pool)
        case RouterSwap(route=route):
            router = route.router
            return ShownRoute(Leg.Hop.ROUTER, route.path, route.fee_tiers, router=router.name, target=router.address)


def _way(hops: Sequence[PoolHop]) -> tuple[Sequence[str], Sequence[int]]:
    """Return the tokens along these pools, and the fee tiers of those that have one."""
    path = (hops[0].token_in, *(hop.token_out for hop in hops))
    return path, tuple(hop.fee_tier for hop in hops if hop.fee_tier is not None)
