"""Chooses how each token of a sweep is swapped, so that all of them together give the most, net of their gas.

What a token gives depends on the others: those that are joined share the last hop, and routers may go through the same
pool. So whole plans are compared. First some are *proposed*, from quotes of each token alone and guesses of the rest.
Then the pools that several tokens share are quoted for just the sums of these proposals, and the best one is the plan.

A router leg can't be skipped, runs after the pools, and is held closer to its quote. It has to bring
``ROUTER_MARGIN_BPS`` more than a pool leg to be worth that.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

from sweepapi.evm.pools import finder
from sweepapi.evm.pools.curves import Curve
from sweepapi.evm.pools.leg_gas import LAST_HOP, WRAPPED_LEG, leg_gas
from sweepapi.evm.pools.pricing import GasCosts
from sweepapi.evm.pools.types import Hop, PoolHop, Quote, Route, Swap
from sweepapi.evm.routes.guessing import ROUTER_MARGIN_BPS, Guesser
from sweepapi.evm.routes.planning import Bridge, Bridged, Choice, RoutePlan, Way, Ways
from sweepapi.fees import BPS_DENOMINATOR

Proposal = Mapping[str, Choice]  # by token; one that can't be swapped is missing
Quoted = Mapping[tuple[str, int], Quote[PoolHop]]  # by pool and amount


@dataclass(frozen=True)
class Basket:
    """The tokens of a sweep with their ways, and the pools from the middle tokens into the output."""

    ways: Mapping[str, Ways]
    second_hops: Sequence[PoolHop]
    curves: Mapping[str, Curve]  # of those with liquidity, by pool
    costs: GasCosts
    output: str

    @cached_property
    def proposals(self) -> list[Proposal]:
        """The plans that are worth quoting."""
        guesser = Guesser(
            self.ways, self.second_hops, self.curves, self.costs, self.costs.per_unit(self.output), self._taken
        )
        alone = guesser.alone
        found = [alone, *self._joining(alone), *guesser.best()]
        return [one for i, one in enumerate(found) if one not in found[:i]]

    @property
    def amounts(self) -> dict[PoolHop, list[int]]:
        """What has to be quoted for the proposals."""
        needed: dict[PoolHop, dict[int, None]] = defaultdict(dict)
        for proposal in self.proposals:
            for hop, amount in self._amounts(proposal):
                needed[hop][amount] = None
        return {hop: list(amounts) for hop, amounts in needed.items()}

    def plan(self, quotes: Quoted) -> RoutePlan:
        """Return the best plan: the one that swaps the most tokens, and of these the one that gives the most."""
        plans = [self._plan(proposal, quotes) for proposal in self.proposals]
        return max(plans, key=lambda plan: (len(plan.ways), self._worth(plan)))

    def last_hop(self, amount: int, quotes: Quoted, *, without: frozenset[str] = frozenset()) -> Quote[PoolHop] | None:
        """Return the best quote of the last hop for a sum, in other pools than these."""
        found = (quotes.get((hop.pool, amount)) for hop in self.last_hops if hop.pool not in without)
        return finder.best(filter(None, found), gas_cost=self._gas_cost)

    @property
    def last_hops(self) -> list[PoolHop]:
        """The pools that can be the last hop."""
        return [hop for hop in self.second_hops if hop.token_in == self.costs.wrapped]

    @cached_property
    def _gas_cost(self) -> Fraction:
        return self.costs.per_unit(self.output)

    @cached_property
    def _taken(self) -> dict[str, Quote[Swap]]:
        """The swaps of connectors that are swept themselves, before routers come to the same pools."""
        quotes = [ways.direct.quote for ways in self.ways.values() if ways.direct is not None]
        by_pool = {quote.swap.pools[0]: quote for quote in quotes if quote is not None}
        return {hop.pool: by_pool[hop.pool] for hop in self.second_hops if hop.pool in by_pool}

    def _joining(self, alone: Proposal) -> Iterator[Proposal]:
        """Yield the proposals in which the tokens without a pool for the output join, and some of the others.

        The others are sorted by what they gain from joining, so only the number of them is open.
        """
        joined = {token: ways.joined for token, ways in self.ways.items() if ways.joined is not None}
        needy = {token: way for token, way in joined.items() if self.ways[token].direct is None}
        gains = {
            token: Fraction(ways.direct.output, ways.joined.output)
            for token, ways in self.ways.items()
            if ways.direct is not None and ways.joined is not None
        }
        others = sorted(gains, key=lambda token: gains[token])
        for joining in accumulate(([token] for token in others), initial=list(needy)):
            if joining:
                yield self._in_order({**alone, **{token: joined[token] for token in joining}})

    def _in_order(self, choices: Proposal) -> Proposal:
        return {token: choices[token] for token in self.ways if token in choices}

    def _amounts(self, proposal: Proposal) -> Iterator[tuple[PoolHop, int]]:
        joined = _joined_sum(proposal)
        if joined:
            yield from ((hop, joined) for hop in self.last_hops)
        for hop, bridged in _by_last(proposal).items():
            start = self._start(hop)[0]
            for amount in accumulate((one.first.expected_output for one in bridged.values()), initial=start):
                if amount > start:
                    yield hop, amount

    def _plan(self, proposal: Proposal, quotes: Quoted) -> RoutePlan:
        """Return the plan of a proposal, without the tokens that the shared pools can't take."""
        ways = {token: choice for token, choice in proposal.items() if isinstance(choice, Way)}
        used = frozenset(hop.pool for hop in _by_last(proposal))
        for hop, bridged in _by_last(proposal).items():
            ways |= dict(self._bridged_ways(hop, bridged, quotes))
        plan = RoutePlan({token: ways[token] for token in self.ways if token in ways}, last=None)
        joined = sum(plan.joined.values())
        return plan.with_last_hop(self.last_hop(joined, quotes, without=used)) if plan.joined else plan

    def _bridged_ways(self, hop: PoolHop, bridged: Mapping[str, Bridge], quotes: Quoted) -> Iterator[tuple[str, Way]]:
        """Yield what each token gives in a pool in which the others before it were swapped already."""
        amount, output = self._start(hop)
        for token, bridge in bridged.items():
            amount += bridge.first.expected_output
            quote = quotes.get((hop.pool, amount))
            if quote is None or quote.expected_output <= output:
                return
            yield token, _way(bridge, quote, quote.expected_output - output)
            output = quote.expected_output

    def _start(self, hop: PoolHop) -> tuple[int, int]:
        taken = self._taken.get(hop.pool)
        return (0, 0) if taken is None else (taken.amount_in, taken.expected_output)

    def _worth(self, plan: RoutePlan) -> Fraction:
        """Return what a plan gives, net of gas and of what a router leg has to be better by."""
        worth = Fraction(0)
        for token, way in plan.ways.items():
            gas = WRAPPED_LEG if way.quote is None else leg_gas(way.quote)
            worth += plan.expected_output(token) - gas * self._gas_cost
            if way.quote is not None and isinstance(way.quote.swap, Route):
                worth -= Fraction(way.output * ROUTER_MARGIN_BPS, BPS_DENOMINATOR)
        if plan.last is not None:
            worth -= (LAST_HOP + plan.last.tick_gas) * self._gas_cost
        return worth


def _joined_sum(proposal: Proposal) -> int:
    return sum(choice.output for choice in proposal.values() if isinstance(choice, Way) and choice.is_joined)


def _by_last(proposal: Proposal) -> dict[PoolHop, dict[str, Bridge]]:
    """Return the bridges by the pool to which they lead, in the order in which routers swap."""
    found: dict[PoolHop, dict[str, Bridge]] = defaultdict(dict)
    for token, choice in proposal.items():
        if isinstance(choice, Bridged):
            found[choice.last][token] = choice.bridge
    return found


def _way(bridge: Bridge, last: Quote[PoolHop], output: int) -> Way:
    hops = (bridge.first.swap, last.swap)
    route = Route(
        bridge.router,
        tuple(Hop(hop.token_in, hop.token_out, hop.fee_tier) for hop in hops),
        tuple(hop.pool for hop in hops),
    )
    quote = Quote(route, bridge.first.amount_in, output, tick_gas=bridge.first.tick_gas + last.tick_gas)
    return Way(quote, output)
