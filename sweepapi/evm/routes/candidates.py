"""The swaps of a token that are worth quoting, and the best of them by kind."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sweepapi.evm.chain.chains import Chain, Router
from sweepapi.evm.pools import finder
from sweepapi.evm.pools.finder import Pools
from sweepapi.evm.pools.pricing import GasCosts
from sweepapi.evm.pools.types import PoolHop, Quote, Route, Swap, SwapT
from sweepapi.evm.routes.planning import Bridge, Way, Ways


@dataclass(frozen=True)
class SwapCandidates:
    """The swaps of a token through pools that exist."""

    direct: Sequence[PoolHop]
    joined: Sequence[PoolHop]
    bridged: Sequence[PoolHop]  # into a connector, from which only a router goes on
    routed: Sequence[Route]  # through pools that no venue has

    @property
    def all(self) -> list[Swap]:
        """The swaps in the order in which ``quotes`` takes their results."""
        return [*self.direct, *self.joined, *self.bridged, *self.routed]

    def quotes(self, amount: int, results: Sequence[Any]) -> "CandidateQuotes":
        """Return the quotes of those that can swap the amount; fewer results than swaps are those of the first."""
        rest = iter(results)
        return CandidateQuotes(
            direct=_quotes(self.direct, amount, rest),
            joined=_quotes(self.joined, amount, rest),
            bridged=_quotes(self.bridged, amount, rest),
            routed=_quotes(self.routed, amount, rest),
        )


@dataclass(frozen=True)
class CandidateQuotes:
    """The quotes of a token's candidates."""

    direct: Sequence[Quote[PoolHop]]
    joined: Sequence[Quote[PoolHop]]
    bridged: Sequence[Quote[PoolHop]]
    routed: Sequence[Quote[Route]]

    @property
    def all(self) -> list[Quote[Swap]]:
        """The quotes of every kind."""
        return [*self.direct, *self.joined, *self.bridged, *self.routed]

    def taken(self, takes: Callable[[str], bool]) -> "CandidateQuotes":
        """Return the quotes whose first pool takes the token."""
        return CandidateQuotes(
            direct=_taken(self.direct, takes),
            joined=_taken(self.joined, takes),
            bridged=_taken(self.bridged, takes),
            routed=_taken(self.routed, takes),
        )

    def ways(self, chain: Chain, costs: GasCosts) -> Ways:
        """Return the best way of each kind."""
        return Ways(
            _best_way(self.direct, costs),
            _best_way(self.joined, costs, is_joined=True),
            _best_way(self.routed, costs),
            tuple(_bridges(chain.routers, [*self.joined, *self.bridged], costs)),
        )


def candidates(chain: Chain, token: str, output: str, pools: Pools) -> SwapCandidates:
    """Return the candidates of a token; what is behind the wrapped coin or a connector is quoted for sums."""
    wrapped = chain.wrapped_native
    middles = [middle for middle in chain.middle_tokens if middle not in (token, output)]
    into = {middle: list(finder.pool_hops(chain.venues, token, middle, pools)) for middle in middles}
    direct = [] if token == wrapped else list(finder.pool_hops(chain.venues, token, output, pools))
    joined = into.pop(wrapped, [])
    bridged = [hop for hops in into.values() for hop in hops]
    behind = [hop for middle in middles for hop in finder.pool_hops(chain.venues, middle, output, pools)]
    of_venues = {hop.pool for hop in [*direct, *joined, *bridged, *behind]}
    routed = [route for route in routes(chain, token, output, pools) if not of_venues.issuperset(route.pools)]
    return SwapCandidates(direct, joined, bridged, routed)


def routes(chain: Chain, token: str, output: str, pools: Pools) -> list[Route]:
    """Return every route of every router from the token to the output."""
    return [
        route
        for path in finder.paths(token, output, chain.middle_tokens)
        for route in finder.routes(chain.routers, path, pools)
    ]


def _quotes(swaps: Sequence[SwapT], amount: int, results: Iterator[Any]) -> list[Quote[SwapT]]:
    quotes = [finder.quoted(swap, amount, result) for swap, result in zip(swaps, results, strict=False)]
    return [quote for quote in quotes if quote is not None]


def _taken(quotes: Sequence[Quote[SwapT]], takes: Callable[[str], bool]) -> list[Quote[SwapT]]:
    return [quote for quote in quotes if takes(quote.swap.pools[0])]


def _bridges(routers: Sequence[Router], quotes: Sequence[Quote[PoolHop]], costs: GasCosts) -> Iterator[Bridge]:
    """Yield the best first hop of each router into each middle token."""
    for router in routers:
        own = [quote for quote in quotes if finder.is_of(quote.swap.venue, router)]
        for middle in dict.fromkeys(quote.swap.token_out for quote in own):
            first = [quote for quote in own if quote.swap.token_out == middle]
            best = finder.best(first, gas_cost=costs.per_unit(middle))
            if best is not None:
                yield Bridge(router, best)


def _best_way(quotes: Sequence[Quote[Swap]], costs: GasCosts, *, is_joined: bool = False) -> Way | None:
    if not quotes:
        return None
    best = finder.best(quotes, gas_cost=costs.per_unit(quotes[0].swap.token_out))
    return None if best is None else Way(best, best.expected_output, is_joined)
