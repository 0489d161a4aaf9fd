"""The swaps of a token that are worth quoting, and the best of them by kind."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sweepapi.evm.chains import Chain
from sweepapi.evm.routes import finder
from sweepapi.evm.routes.finder import Pools
from sweepapi.evm.routes.planning import Way, Ways
from sweepapi.evm.routes.types import PoolHop, Quote, Route, Swap


@dataclass(frozen=True)
class Candidates:
    """The swaps of a token through pools that exist."""

    direct: Sequence[PoolHop]
    joined: Sequence[PoolHop]
    routed: Sequence[Route]  # through pools that no venue has

    @property
    def all(self) -> list[Swap]:
        """The swaps in the order in which ``ways`` takes their results."""
        return [*self.direct, *self.joined, *self.routed]

    def ways(self, amount: int, results: Sequence[Any]) -> Ways:
        """Return the best way of each kind, from the results of the quotes."""
        first, second = len(self.direct), len(self.direct) + len(self.joined)
        direct = finder.best_quote(self.direct, amount, results[:first])
        joined = finder.best_quote(self.joined, amount, results[first:second])
        routed = finder.best_quote(self.routed, amount, results[second:])
        return Ways(_way(direct), _way(joined, is_joined=True), _way(routed))


def candidates(chain: Chain, token: str, output: str, pools: Pools) -> Candidates:
    """Return the candidates of a token; the pools of the wrapped coin are left to the last hop."""
    wrapped = chain.wrapped_native
    direct = [] if token == wrapped else list(finder.pool_hops(chain.venues, token, output, pools))
    joined = [] if wrapped in (token, output) else list(finder.pool_hops(chain.venues, token, wrapped, pools))
    last = list(finder.pool_hops(chain.venues, wrapped, output, pools))
    of_venues = {hop.pool for hop in [*direct, *joined, *last]}
    routed = [route for route in routes(chain, token, output, pools) if not of_venues.issuperset(route.pools)]
    return Candidates(direct, joined, routed)


def routes(chain: Chain, token: str, output: str, pools: Pools) -> list[Route]:
    """Return every route of every router from the token to the output."""
    return [
        route
        for path in finder.paths(token, output, chain.wrapped_native)
        for route in finder.routes(chain.routers, path, pools)
    ]


def _way(quote: Quote[Swap] | None, *, is_joined: bool = False) -> Way | None:
    return None if quote is None else Way(quote, quote.expected_output, is_joined)
