"""Finds the best routes of a basket by trying all of them, on exact pools.

Every token goes through one pool into the output, or through two: into a middle token and from there. What the
contract can do is less than all of that: pools of different venues only follow each other over the wrapped coin, in one
last hop for all tokens that are joined; everything else is a leg of one router. ``Search`` has both rules.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from lab.route_quality.markets import CHAIN, CONNECTOR, WRAPPED, Market, Place
from lab.route_quality.pools import Fill
from sweepapi.evm.pools.leg_gas import LAST_HOP, ROUTER_HOP, ROUTER_LEG
from sweepapi.evm.pools.sources import SOURCES
from sweepapi.evm.pools.uniswap_v3 import CROSSED_TICK_GAS

Places = tuple[Place, ...]


@dataclass(frozen=True)
class Leg:
    """One way of a token: its pools, and whether it goes through the last one with all others that do."""

    places: Places
    joins: bool
    gas: int  # without that of the ticks in a last pool
    brings: int  # to the last pool of two, or to the user
    bound: float  # what it gives at most, net of its own gas


@dataclass(frozen=True)
class Outcome:
    """What legs give together, before gas and after."""

    output: int
    net_output: float


@dataclass
class Search:
    """The search in one market, by the rules of the contract or by any that two pools allow."""

    market: Market
    is_free: bool
    _fills: dict[tuple[Place, int, int], Fill | None] = field(default_factory=dict)

    @cached_property
    def best(self) -> float:
        """The most that the basket can give, net of gas, in the output."""
        legs = [sorted(self.legs(token), key=lambda leg: -leg.bound) for token in self.market.amounts]
        legs.sort(key=len)
        rest = [0.0]
        for ways in reversed(legs):
            rest.insert(0, rest[0] + ways[0].bound)
        return self._descend(legs, rest, (), 0.0, float("-inf"))

    def outcome(self, legs: Sequence[Leg], last: Place | None) -> Outcome | None:
        """Return what these legs give together; the joined ones swap in ``last``. None if a pool can't swap it all."""
        total, gas = 0, sum(leg.gas for leg in legs)
        arrived: dict[Place, int] = {}
        for leg in legs:
            if len(leg.places) == 1 and not leg.joins:
                total += leg.brings
            else:
                place = last if leg.joins and last is not None else leg.places[-1]
                arrived[place] = arrived.get(place, 0) + leg.brings
        for place, amount in arrived.items():
            fill = self._fill(place, place.other(self.market.output), amount)
            if fill is None:
                return None
            total += fill.output
            gas += fill.ticks * CROSSED_TICK_GAS
        gas += self._shared_gas(legs)
        return Outcome(total, total - gas * self.market.gas_cost)

    def leg_of(self, token: str, places: Places, *, gas: int, joins: bool) -> Leg:
        """Return the leg of a token through these pools; if it joins, the last pool is not among them."""
        fill = self._fill(places[0], token, self.market.amounts[token])
        if fill is None:
            raise ValueError(f"{places[0]} can't swap the amount")
        return self._leg(places, fill, gas, fill.output, joins=joins)

    def _shared_gas(self, legs: Sequence[Leg]) -> int:
        shared = {leg.places[1] if self.is_free else None for leg in legs if leg.joins}
        return LAST_HOP * len(shared)

    def _descend(
        self, legs: Sequence[Sequence[Leg]], rest: Sequence[float], chosen: tuple[Leg, ...], sure: float, best: float
    ) -> float:
        if len(chosen) == len(legs):
            return max(best, self._best_last(chosen))
        gas = self._shared_gas(chosen) * self.market.gas_cost
        for leg in legs[len(chosen)]:
            if sure + leg.bound + rest[len(chosen) + 1] - gas <= best:
                break
            best = self._descend(legs, rest, (*chosen, leg), sure + leg.bound, best)
        return best

    def _best_last(self, legs: Sequence[Leg]) -> float:
        """Return the best net output over all last hops that the joined legs can share."""
        lasts = self._behind[WRAPPED] if not self.is_free and any(leg.joins for leg in legs) else [None]
        outcomes = [self.outcome(legs, last) for last in lasts]
        return max((one.net_output for one in outcomes if one is not None), default=float("-inf"))

    def legs(self, token: str) -> Iterator[Leg]:
        """Yield the ways of a token, without first pools that others beat."""
        amount = self.market.amounts[token]
        for place in self._between(token, self.market.output):
            fill = self._fill(place, token, amount)
            if fill is not None:
                yield self._leg((place,), fill, SOURCES[place.venue.kind].POOL_GAS, fill.output)
        for middle in self._behind:
            first = {place: self._fill(place, token, amount) for place in self._between(token, middle)}
            filled = {place: fill for place, fill in first.items() if fill is not None}
            if self.is_free:
                yield from self._separate(middle, filled)
            else:
                yield from self._joined(filled) if middle == WRAPPED else ()
                yield from self._routed(middle, filled)

    def _separate(self, middle: str, first: Mapping[Place, Fill]) -> Iterator[Leg]:
        """Yield the legs over a middle token through any two pools."""
        for place, fill in _unbeaten(first).items():
            for last, output in self._onward(middle, fill.output):
                yield self._leg((place, last), fill, SOURCES[place.venue.kind].POOL_GAS, output, joins=True)

    def _joined(self, first: Mapping[Place, Fill]) -> Iterator[Leg]:
        """Yield the legs into the last hop, which is the same for all of them."""
        for place, fill in _unbeaten(first).items():
            outputs = [output for _, output in self._onward(WRAPPED, fill.output)]
            if outputs:
                yield self._leg((place,), fill, SOURCES[place.venue.kind].POOL_GAS, max(outputs), joins=True)

    def _routed(self, middle: str, first: Mapping[Place, Fill]) -> Iterator[Leg]:
        """Yield the legs of routers, whose pools are of one kind."""
        for router in CHAIN.routers:
            own = {place: fill for place, fill in first.items() if place.venue.kind == router.kind}
            for place, fill in _unbeaten(own).items():
                for last, output in self._onward(middle, fill.output):
                    if last.venue.kind == router.kind:
                        yield self._leg((place, last), fill, ROUTER_LEG + 2 * ROUTER_HOP, output)

    def _onward(self, middle: str, amount: int) -> Iterator[tuple[Place, int]]:
        for last in self._behind[middle]:
            fill = self._fill(last, middle, amount)
            if fill is not None:
                yield last, fill.output

    def _leg(self, places: Places, first: Fill, gas: int, alone: int, *, joins: bool = False) -> Leg:
        gas += first.ticks * CROSSED_TICK_GAS
        return Leg(places, joins, gas, first.output, alone - gas * self.market.gas_cost)

    def _fill(self, place: Place, token_in: str, amount: int) -> Fill | None:
        key = (place, amount, int(token_in, 16))
        if key not in self._fills:
            self._fills[key] = place.swap(self.market.pools[place], token_in, amount)
        return self._fills[key]

    def _between(self, token: str, other: str) -> list[Place]:
        return [place for place in self.market.pools if {token, other} == set(place.pair)]

    @cached_property
    def _behind(self) -> dict[str, list[Place]]:
        """The pools from each middle token into the output."""
        output = self.market.output
        return {middle: self._between(middle, output) for middle in (WRAPPED, CONNECTOR) if middle != output}


def _unbeaten(fills: Mapping[Place, Fill]) -> dict[Place, Fill]:
    """Return the fills that no other one beats by giving at least as much for no more gas."""

    def gas(place: Place) -> int:
        return SOURCES[place.venue.kind].POOL_GAS + fills[place].ticks * CROSSED_TICK_GAS

    kept: dict[Place, Fill] = {}
    for place in sorted(fills, key=lambda place: (-fills[place].output, gas(place))):
        if all(gas(place) < gas(other) for other in kept):
            kept[place] = fills[place]
    return kept
