"""How the tokens of a sweep can be swapped, and how they are.

A token goes through one pool into the output, or through one into the wrapped coin. The latter are *joined*: a single
last hop swaps the sum of what they give into the output. Routers swap along a path of their own.

No two legs share a pool: those of two tokens are of different pairs, and the wrapped coin, whose pool would be that of
the last hop, joins it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise

from sweepapi.evm.chain.chains import Router
from sweepapi.evm.pools.types import PoolHop, Quote, Swap


@dataclass(frozen=True)
class Way:
    """One way to swap the whole amount of a token."""

    quote: Quote[Swap] | None  # None for the wrapped coin where it needs no swap of its own
    output: int  # of a joined one in the wrapped coin
    is_joined: bool = False


@dataclass(frozen=True)
class Bridge:
    """The first half of a router's way for the whole amount of a token, up to a token in the middle."""

    router: Router
    first: Quote[PoolHop]


@dataclass(frozen=True)
class Bridged:
    """A router's way over a bridge and through a pool into the output, which other tokens may share."""

    bridge: Bridge
    last: PoolHop


Choice = Way | Bridged


@dataclass(frozen=True)
class Ways:
    """The best ways of a token; None where there is none."""

    direct: Way | None = None
    joined: Way | None = None
    routed: Way | None = None
    bridges: Sequence[Bridge] = ()  # the best one for each router and middle token

    @property
    def is_open(self) -> bool:
        """Whether there is any way."""
        return any((self.direct, self.joined, self.routed, self.bridges))

    @property
    def quotes(self) -> list[Quote[Swap]]:
        """The quotes of all ways."""
        ways = [way.quote for way in (self.direct, self.joined, self.routed) if way is not None]
        return [*filter(None, ways), *(bridge.first for bridge in self.bridges)]


def shares(total: int, weights: Mapping[str, int]) -> dict[str, int]:
    """Divide a total in proportion to weights, not all of them zero, so that the shares add up to it."""
    sums = list(accumulate(weights.values(), initial=0))
    ends = [total * part // sums[-1] for part in sums]
    return {key: end - start for key, (start, end) in zip(weights, pairwise(ends), strict=True)}


@dataclass(frozen=True)
class RoutePlan:
    """How the tokens of a sweep are swapped."""

    ways: Mapping[str, Way]  # by token; one that can't be swapped is missing
    last: Quote[PoolHop] | None  # of the last hop, for the sum of what is joined; None if nothing is

    @property
    def joined(self) -> dict[str, int]:
        """What each joined token gives in the wrapped coin."""
        return {token: way.output for token, way in self.ways.items() if way.is_joined}

    @cached_property
    def _last_shares(self) -> dict[str, int]:
        """What the last hop gives for each joined token."""
        return {} if self.last is None else shares(self.last.expected_output, self.joined)

    def expected_output(self, token: str) -> int:
        """Return what the token gives, if it is joined its share of what the last hop gives."""
        way = self.ways[token]
        if not way.is_joined or self.last is None:
            return way.output
        return self._last_shares[token]

    def without(self, tokens: Collection[str]) -> "RoutePlan":
        """Return the plan for the other tokens.

        If one of them was joined, the last hop gives the others at least their proportional part, because a pool gives
        more per unit for a smaller amount.
        """
        others = replace(self, ways={token: way for token, way in self.ways.items() if token not in tokens})
        joined = sum(others.joined.values())
        if self.last is None or joined == self.last.amount_in:
            return others
        output = self.last.expected_output * joined // self.last.amount_in
        return others.with_last_hop(replace(self.last, amount_in=joined, expected_output=output) if output else None)

    def with_ways(self, ways: Mapping[str, Way]) -> "RoutePlan":
        """Return the plan with these ways of some tokens in place of any that it has."""
        return replace(self, ways={**self.ways, **ways})

    def with_last_hop(self, last: Quote[PoolHop] | None) -> "RoutePlan":
        """Return the plan with a quote of the last hop for the sum of what is joined; without one, nothing can be."""
        joined = self.joined
        if last is None:
            return RoutePlan({token: way for token, way in self.ways.items() if token not in joined}, last=None)
        if [self.ways[token].quote for token in joined] == [None]:  # the wrapped coin alone: the last hop is its swap
            return replace(self.with_ways(dict.fromkeys(joined, Way(last, last.expected_output))), last=None)
        return replace(self, last=last)
