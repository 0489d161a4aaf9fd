"""Routes for tokens that deliver less than was sent, through routers that swap what arrives."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from sweepapi.evm.pools import finder
from sweepapi.evm.pools.types import Quote, Route
from sweepapi.evm.routes.planning import Way
from sweepapi.evm.tokens.transfers import Arrival, Transfers


@dataclass(frozen=True)
class Detour:
    """A route, and what arrives at its first pool."""

    route: Route
    arrival: Arrival

    def way(self, quote: Quote[Route]) -> Way:
        """Return the way, from the quote of what arrives at the pool."""
        return Way(replace(quote, amount_in=self.arrival.at_contract), quote.expected_output)


def detours(token: str, amount: int, routes: Iterable[Route], transfers: Transfers) -> Iterator[Detour]:
    """Yield the detours of a token along these routes, where it is known that something arrives."""
    for route in routes:
        if finder.carries_short_transfers(route):
            arrival = transfers.arrival(token, amount, route.pools[0])
            if arrival is not None:
                yield Detour(route, arrival)
