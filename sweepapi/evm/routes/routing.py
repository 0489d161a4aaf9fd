"""Finds the way of every token of a sweep, from quotes, from trials of transfers, and from what the user signed before.

A token that can't be swapped has no way, and neither has one of a renewed offer that no longer gives what was signed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sweepapi.evm.erc20 import UNLIMITED
from sweepapi.evm.market import Detour, Facts, Market
from sweepapi.evm.probe import Probe
from sweepapi.evm.routes import finder
from sweepapi.evm.routes.candidates import routes
from sweepapi.evm.routes.floors import tokens_below
from sweepapi.evm.routes.planning import Joining, Plan, Way, Ways
from sweepapi.evm.routes.types import Quote, Route
from sweepapi.evm.transfers import Problem, Transfers


@dataclass(frozen=True)
class SignedFloors:
    """What a renewed offer has to keep, by token."""

    floors: Mapping[str, int]
    fee_bps: int

    def kept(self, plan: Plan) -> Plan:
        """Return the plan without the tokens that no longer give what the user signed."""
        return plan.without(tokens_below(plan, self.floors, fee_bps=self.fee_bps))


@dataclass(frozen=True)
class Outcome:
    """The plan that was found, and why it can't be executed, or some tokens are missing in it."""

    plan: Plan
    problems: Mapping[str, Problem]  # of tokens, but for those that were left out for their floors
    output_problem: Problem | None  # of the output at a pool that pays it


@dataclass(frozen=True)
class Routing:
    """The search for the ways of a sweep's tokens."""

    market: Market
    facts: Facts
    amounts: Mapping[str, int]  # by swept token
    signed: SignedFloors | None  # None for a new sweep

    def find(self, ways: Mapping[str, Ways]) -> Outcome:
        """Choose among these ways, in at most two round trips."""
        joining = Joining.of(ways)
        trials = self.market.read_trials(probes=self._probes(ways), sums=joining.sums, facts=self.facts)
        first = joining.plan(trials.last)
        problems = dict(self._problems(first, trials.transfers))
        detours = dict(self._detours(first, trials.transfers, problems))
        plan = self._kept(first.without(problems))
        if detours or plan.joined != first.joined:
            return self._corrected(plan, trials.transfers, problems, detours)
        return Outcome(plan, problems, self._output_problem(plan, trials.transfers))

    def _corrected(
        self, plan: Plan, transfers: Transfers, problems: Mapping[str, Problem], detours: Mapping[str, Detour]
    ) -> Outcome:
        """Return the plan with the detours, and with what the last hop gives for what is still joined."""
        trials = self.market.read_trials(
            probes=self._detour_probes(detours), sums=[sum(plan.joined.values())], facts=self.facts, detours=detours
        )
        known = transfers | trials.transfers
        found = {
            token: Way(replace(quote, amount_in=detours[token].arrival.at_contract), quote.expected_output)
            for token, quote in trials.detours.items()
            if quote is not None and self._arrives(token, quote, known)
        }
        corrected = plan.with_last_hop(trials.last[0]).with_ways(found)
        lasting = {token: problem for token, problem in problems.items() if token not in found}
        unquoted = dict.fromkeys(plan.ways.keys() - corrected.ways.keys(), Problem.NO_ROUTE)
        return Outcome(self._kept(corrected), {**lasting, **unquoted}, self._output_problem(corrected, known))

    def _kept(self, plan: Plan) -> Plan:
        return plan if self.signed is None else self.signed.kept(plan)

    def _problems(self, plan: Plan, transfers: Transfers) -> Iterator[tuple[str, Problem]]:
        """Yield the tokens without a way, and those whose transfers don't allow theirs."""
        for token in self.amounts:
            way = plan.ways.get(token)
            if way is None:
                yield token, Problem.NO_ROUTE
            elif way.quote is not None:
                problem = transfers.problem(token, way.quote.swap.pools[0])
                if problem is not None:
                    yield token, problem

    def _detours(
        self, plan: Plan, transfers: Transfers, problems: Mapping[str, Problem]
    ) -> Iterator[tuple[str, Detour]]:
        """Yield the routes that may carry the tokens that deliver less than is sent."""
        for token, problem in problems.items():
            way = plan.ways.get(token)
            if way is None or way.quote is None or problem is not Problem.SHORT:
                continue
            arrival = transfers.arrival(token, self.amounts[token], way.quote.swap.pools[0])
            known = routes(self.market.chain, token, self.market.output, self.facts.pools)
            carrying = [route for route in known if finder.carries_short_transfers(route)]
            if arrival is not None and carrying:
                yield token, Detour(carrying, arrival)

    def _arrives(self, token: str, quote: Quote[Route], transfers: Transfers) -> bool:
        """Return whether the pool of a detour gets what was quoted."""
        arrival = transfers.arrival(token, self.amounts[token], quote.swap.pools[0])
        return arrival is not None and arrival.at_pool >= quote.amount_in

    def _probes(self, ways: Mapping[str, Ways]) -> Iterator[Probe]:
        """Yield the transfers to test: each token by its user and the first pool of each way, the output by the last.

        Every token in between is the wrapped coin, which needs no test.
        """
        for token, its in ways.items():
            routes = [(way.quote.swap.pools, way.is_joined) for way in its.all if way.quote is not None]
            for pools, is_joined in routes:
                yield self._probe(token, pools[0])
                if not is_joined:
                    yield self._probe(self.market.output, pools[-1])
            if routes and self.facts.tokens[token].balance > 0:
                yield Probe(token, self.market.wallet, self.amounts[token], is_pool=False)
        if any(its.joined for its in ways.values()):
            for hop in self.market.last_hops(self.facts):
                yield self._probe(self.market.output, hop.pool)

    def _detour_probes(self, detours: Mapping[str, Detour]) -> Iterator[Probe]:
        for token, detour in detours.items():
            for route in detour.routes:
                yield self._probe(token, route.pools[0])
                yield self._probe(self.market.output, route.pools[-1])

    def _probe(self, token: str, pool: str) -> Probe:
        whole_unit: int = 10 ** self.facts.tokens[token].decimals
        return Probe(token, pool, self.amounts.get(token, min(whole_unit, UNLIMITED)), is_pool=True)

    def _output_problem(self, plan: Plan, transfers: Transfers) -> Problem | None:
        """Return the first problem of the output at the pools that pay it."""
        quotes = [way.quote for way in plan.ways.values() if way.quote is not None and not way.is_joined]
        for quote in [*quotes, *filter(None, [plan.last])]:
            problem = transfers.problem(self.market.output, quote.swap.pools[-1])
            if problem is not None:
                return problem
        return None
