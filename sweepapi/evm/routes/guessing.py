"""Guesses which ways are the best together, before the pools that tokens share are quoted for their sums.

Starting from each token's best way alone, and from all tokens joined, one token at a time takes the way that makes the
estimate of the whole the largest, until none has a better one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from sweepapi.evm.pools import finder
from sweepapi.evm.pools.curves import Curve
from sweepapi.evm.pools.leg_gas import LAST_HOP, ROUTER_HOP, ROUTER_LEG, WRAPPED_LEG, leg_gas
from sweepapi.evm.pools.pricing import GasCosts
from sweepapi.evm.pools.types import PoolHop, Quote, Route, Swap
from sweepapi.evm.routes.planning import Bridge, Bridged, Choice, Way, Ways
from sweepapi.fees import BPS_DENOMINATOR

ROUTER_MARGIN_BPS = 5
MAX_ROUNDS = 4
MAX_BRIDGES = 4  # of a token, by what they give alone


@dataclass(frozen=True)
class Option:
    """A choice, and what the estimate of the whole needs of it."""

    choice: Choice
    alone: float  # about what it gives net of gas if no other token shares its pools
    fixed: float  # what it gives in any case, net of gas
    joined: float = 0.0  # in the wrapped coin
    bridged: float = 0.0  # in the middle token
    last: str | None = None  # the pool that swaps the latter


@dataclass(frozen=True)
class Guesser:
    """The tokens of a sweep, and the estimates of the pools that they may share."""

    ways: Mapping[str, Ways]
    second_hops: Sequence[PoolHop]
    curves: Mapping[str, Curve]
    costs: GasCosts
    gas_cost: Fraction
    taken: Mapping[str, Quote[Swap]]

    @property
    def alone(self) -> dict[str, Choice]:
        """The best way of each token that does not join."""
        best: dict[str, Choice] = {}
        for token, ways in self.ways.items():
            pool = ways.direct
            routed = max(
                (option for option in self._options[token] if not option.joined and option.choice is not pool),
                key=lambda option: option.alone,
                default=None,
            )
            if pool is not None:
                best[token] = pool
            elif routed is not None:
                best[token] = routed.choice
        return best

    def best(self) -> Iterator[dict[str, Choice]]:
        """Yield the best guesses."""
        options = {token: _worthwhile(found) for token, found in self._options.items() if found}
        yield self._improved(options, {token: found[0] for token, found in options.items()})
        joining = {
            token: next((option for option in found if option.joined), found[0]) for token, found in options.items()
        }
        yield self._improved(options, joining)

    def _improved(self, options: Mapping[str, Sequence[Option]], start: Mapping[str, Option]) -> dict[str, Choice]:
        chosen = dict(start)
        for _ in range(MAX_ROUNDS):
            before = dict(chosen)
            for token, choices in options.items():
                if len(choices) > 1:
                    chosen[token] = max(choices, key=lambda option: self._estimate({**chosen, token: option}))
            if chosen == before:
                break
        return {token: option.choice for token, option in chosen.items()}

    def _estimate(self, chosen: Mapping[str, Option]) -> float:
        total = joined = 0.0
        bridged: dict[str, float] = {}
        for option in chosen.values():
            total += option.fixed
            joined += option.joined
            if option.last is not None:
                bridged[option.last] = bridged.get(option.last, 0.0) + option.bridged
        for pool, amount in bridged.items():
            total += self._shared_output(pool, amount)
        return total + self._joined_output(joined, without=bridged)

    def _joined_output(self, amount: float, *, without: Mapping[str, float]) -> float:
        if not amount:
            return 0.0
        outputs = [curve.output(amount) for pool, curve in self._last_hops.items() if pool not in without]
        return max(outputs, default=-amount) - LAST_HOP * float(self.gas_cost)

    def _shared_output(self, pool: str, amount: float) -> float:
        """Return what routers get in a pool, less what they have to be better by."""
        start = self.taken[pool].amount_in if pool in self.taken else 0
        curve = self.curves[pool]
        return (curve.output(start + amount) - curve.output(start)) * (1 - ROUTER_MARGIN_BPS / BPS_DENOMINATOR)

    @cached_property
    def _last_hops(self) -> dict[str, Curve]:
        pools = [hop.pool for hop in self.second_hops if hop.token_in == self.costs.wrapped]
        return {pool: self.curves[pool] for pool in pools if pool in self.curves}

    @cached_property
    def _options(self) -> dict[str, list[Option]]:
        return {token: list(self._options_of(ways)) for token, ways in self.ways.items()}

    def _options_of(self, ways: Ways) -> Iterator[Option]:
        for way in filter(None, (ways.direct, ways.joined, ways.routed)):
            yield self._option(way)
        for bridge in ways.bridges:
            gas = (ROUTER_LEG + 2 * ROUTER_HOP + bridge.first.tick_gas) * float(self.gas_cost)
            amount = float(bridge.first.expected_output)
            for hop in self.second_hops:
                if hop.pool in self.curves and _continues(bridge, hop):
                    alone = self._shared_output(hop.pool, amount) - gas
                    yield Option(Bridged(bridge, hop), alone, -gas, bridged=amount, last=hop.pool)

    def _option(self, way: Way) -> Option:
        gas = (WRAPPED_LEG if way.quote is None else leg_gas(way.quote)) * float(self.gas_cost)
        if way.is_joined:
            alone = self._joined_output(float(way.output), without={}) + LAST_HOP * float(self.gas_cost) - gas
            return Option(way, alone, -gas, joined=float(way.output))
        is_routed = way.quote is not None and isinstance(way.quote.swap, Route)
        output = way.output * (1 - ROUTER_MARGIN_BPS / BPS_DENOMINATOR) if is_routed else float(way.output)
        return Option(way, output - gas, output - gas)


def _continues(bridge: Bridge, hop: PoolHop) -> bool:
    return hop.token_in == bridge.first.swap.token_out and finder.is_of(hop.venue, bridge.router)


def _worthwhile(options: Sequence[Option]) -> list[Option]:
    """Return the options without all but the best bridges, those first that give the most alone."""
    ordered = sorted(options, key=lambda option: -option.alone)
    bridged = [option for option in ordered if option.last is not None]
    return [option for option in ordered if option.last is None or option in bridged[:MAX_BRIDGES]]
