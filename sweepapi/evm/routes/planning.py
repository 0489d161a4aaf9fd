"""Chooses how each token of a sweep is swapped, so that all of them together give the most.

A token goes through one pool into the output, or through one into the wrapped coin. The latter are *joined*: a single
last hop swaps the sum of what they give into the output. Routers are for what no pool of a venue can carry.

No two legs share a pool: those of two tokens are of different pairs, and the wrapped coin, whose pool would be that of
the last hop, joins it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate

from sweepapi.evm.routes.types import PoolHop, Quote, Swap


@dataclass(frozen=True)
class Way:
    """One way to swap the whole amount of a token."""

    quote: Quote[Swap] | None  # None for the wrapped coin where it needs no swap of its own
    output: int  # of a joined one in the wrapped coin
    is_joined: bool = False


@dataclass(frozen=True)
class Ways:
    """The best ways of a token; None where there is none."""

    direct: Way | None = None
    joined: Way | None = None
    routed: Way | None = None

    @property
    def all(self) -> list[Way]:
        """The ways that there are."""
        return [way for way in (self.direct, self.joined, self.routed) if way is not None]


@dataclass(frozen=True)
class Plan:
    """How the tokens of a sweep are swapped."""

    ways: Mapping[str, Way]  # by token; one that can't be swapped is missing
    last: Quote[PoolHop] | None  # of the last hop, for the sum of what is joined; None if nothing is

    @property
    def joined(self) -> dict[str, int]:
        """What each joined token gives in the wrapped coin."""
        return {token: way.output for token, way in self.ways.items() if way.is_joined}

    @property
    def is_quoted(self) -> bool:
        """Whether the last hop was quoted for just what is joined."""
        return self.last is None or self.last.amount_in == sum(self.joined.values())

    def expected_output(self, token: str) -> int:
        """Return what the token gives, if it is joined its share of what the last hop gives."""
        way = self.ways[token]
        if not way.is_joined or self.last is None:
            return way.output
        return self.last.expected_output * way.output // self.last.amount_in

    def without(self, tokens: Collection[str]) -> "Plan":
        """Return the plan for the other tokens; if one of these was joined, the last hop has to be quoted again."""
        return replace(self, ways={token: way for token, way in self.ways.items() if token not in tokens})

    def with_ways(self, ways: Mapping[str, Way]) -> "Plan":
        """Return the plan with these ways of some tokens in place of any that it has."""
        return replace(self, ways={**self.ways, **ways})

    def with_last_hop(self, last: Quote[PoolHop] | None) -> "Plan":
        """Return the plan with a quote of the last hop for the sum of what is joined; without one, nothing can be."""
        joined = self.joined
        if last is None:
            return replace(self.without(joined), last=None)
        if [self.ways[token].quote for token in joined] == [None]:  # the wrapped coin alone: the last hop is its swap
            return replace(self.with_ways(dict.fromkeys(joined, Way(last, last.expected_output))), last=None)
        return replace(self, last=last)


@dataclass(frozen=True)
class Joining:
    """Who joins the last hop: the tokens that have no other pool, and those of the others for which it pays.

    The others are in the order of what they gain by it, so it is only open how many of them join. Quoting the last hop
    for each of ``sums`` shows which number gives the most.
    """

    ways: Mapping[str, Ways]
    needy: Mapping[str, Way]
    others: Sequence[tuple[str, Way, Way]]  # a token with its direct way and its joined one

    @classmethod
    def of(cls, ways: Mapping[str, Ways]) -> "Joining":
        others = [(token, its.direct, its.joined) for token, its in ways.items() if its.direct and its.joined]
        return cls(
            ways=ways,
            needy={token: its.joined for token, its in ways.items() if its.joined and not its.direct},
            others=sorted(others, key=lambda other: Fraction(other[1].output, other[2].output)),
        )

    @property
    def sums(self) -> list[int]:
        """What the last hop would swap if none, one, two and so on of the others joined."""
        needed = sum(way.output for way in self.needy.values())
        return list(accumulate((joined.output for _, _, joined in self.others), initial=needed))

    def plan(self, last: Sequence[Quote[PoolHop] | None]) -> Plan:
        """Return the plan that gives the most, from the best quotes of the last hop for each of ``sums``."""
        possible = [count for count, amount in enumerate(self.sums) if amount == 0 or last[count] is not None]
        count = max(possible, key=lambda count: self._total(count, last[count]), default=0)
        if last[count] is None:
            return self._alone()
        joining = {**self.needy, **{token: joined for token, _, joined in self.others[:count]}}
        return self._alone().with_ways(joining).with_last_hop(last[count])

    def _total(self, count: int, last: Quote[PoolHop] | None) -> int:
        joined = last.expected_output if last is not None else 0
        return joined + sum(direct.output for _, direct, _ in self.others[count:])

    def _alone(self) -> Plan:
        """Return the plan in which nothing is joined."""
        ways = {token: its.direct or its.routed for token, its in self.ways.items()}
        return Plan({token: way for token, way in ways.items() if way is not None}, last=None)
