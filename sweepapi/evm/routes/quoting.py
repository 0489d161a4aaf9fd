"""Quotes each token in every pool there is, and reads the pools' prices and how much of the token arrives in them.

All of it is read at once, so that a way is chosen only among the pools that receive the token in full.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.fee_models.costs import DataReads
from sweepapi.evm.chain.fee_models.estimates import DataFee, estimated_fee, typical_sweeps
from sweepapi.evm.pools import finder
from sweepapi.evm.pools.curves import curves
from sweepapi.evm.pools.finder import Pools
from sweepapi.evm.pools.inquiry import Inquiry
from sweepapi.evm.pools.pricing import GasCosts, MidPrices, Pair, PricedPool, PricedPools
from sweepapi.evm.pools.types import MAX_AMOUNT, PoolHop, Route, Spot
from sweepapi.evm.routes.basket import Basket
from sweepapi.evm.routes.candidates import CandidateQuotes, SwapCandidates, candidates, routes
from sweepapi.evm.routes.detours import Detour, detours
from sweepapi.evm.routes.planning import Way, Ways
from sweepapi.evm.tokens.erc20 import UNLIMITED, TokenFacts
from sweepapi.evm.tokens.probe import Probe, grouped, transfer_probes
from sweepapi.evm.tokens.transfers import TransferProblem, Transfers
from sweepapi.evm.wallet.approvals import NOT_READ, ApprovalFacts
from sweepapi.rpc import Call


@dataclass(frozen=True)
class Quotes:
    """The results of the reads."""

    basket: Basket
    problems: Mapping[str, TransferProblem]  # of tokens without a way
    detours: Mapping[str, Sequence[Detour]]  # of some of these
    transfers: Transfers
    prices: MidPrices
    data_fee: DataFee | None  # an estimate, in addition to the gas of calldata and code; None if it could not be read
    approvals: ApprovalFacts = NOT_READ


@dataclass(frozen=True)
class QuoteReads:
    """The calls that quote each amount in every pool there is, for the second round trip of a build.

    It also tests the transfers of each token by its user and by the first pools of its swaps, and those of the output
    by the last pools. Every token in between is the wrapped coin or a connector, which need no test.
    """

    chain: Chain
    wallet: str
    output: str
    amounts: Mapping[str, int]  # by swept token
    tokens: Mapping[str, TokenFacts]
    pools: Pools
    gas_price: int  # wei; zero if it is not known

    @property
    def calls(self) -> list[Call]:
        """The calls whose answers ``quotes`` takes."""
        return [
            *(inquiry.call(multicall3=self.chain.multicall3) for inquiry in (self._shared, *self._own.values())),
            *(transfer_probes(group, multicall3=self.chain.multicall3) for group in self._probes),
            *self._data.calls,
        ]

    def quotes(self, answers: Sequence[Any]) -> Quotes:
        """Return the quotes from the answers, in their order."""
        rest = iter(answers)
        shared = self._shared.response(next(rest))
        own = {token: inquiry.response(next(rest)) for token, inquiry in self._own.items()}
        transfers = Transfers(dict(self._tests(rest)))
        data_costs = self._data.costs([next(rest) for _ in self._data.calls])
        spots = {pool: spot for response in (shared, *own.values()) for pool, spot in response.spots.items()}
        prices = MidPrices.of(spots)
        quoted = {
            token: found.quotes(self.amounts[token], own[token].others if token in own else ())
            for token, found in self._swaps.items()
        }
        basket = self._basket(quoted, transfers, spots, GasCosts(self.gas_price, prices, self.chain.wrapped_native))
        problems = {
            token: _problem(token, quoted.get(token), transfers)
            for token, ways in basket.ways.items()
            if not ways.is_open
        }
        return Quotes(
            basket=basket,
            problems=problems,
            detours={
                token: found
                for token, problem in problems.items()
                if problem is TransferProblem.SHORT
                and (found := list(detours(token, self.amounts[token], self._routes(token), transfers)))
            },
            transfers=transfers,
            prices=prices,
            data_fee=estimated_fee(data_costs, token_count=len(self.amounts), gas_price=self.gas_price),
        )

    def _routes(self, token: str) -> list[Route]:
        return routes(self.chain, token, self.output, self.pools)

    def _basket(
        self,
        quoted: Mapping[str, CandidateQuotes],
        transfers: Transfers,
        spots: Mapping[PricedPool, Spot],
        costs: GasCosts,
    ) -> Basket:
        ways = {token: self._ways(token, quoted.get(token), transfers, costs) for token in self.amounts}
        return Basket(ways, self.second_hops, curves(self.second_hops, spots), costs, self.output)

    def _ways(self, token: str, quoted: CandidateQuotes | None, transfers: Transfers, costs: GasCosts) -> Ways:
        if quoted is None:
            return Ways()
        if token == self.output:
            return Ways(direct=Way(None, self.amounts[token]))
        ways = quoted.taken(lambda pool: transfers.problem(token, pool) is None).ways(self.chain, costs)
        if token == self.chain.wrapped_native:  # which needs no swap of its own
            return replace(ways, joined=Way(None, self.amounts[token], is_joined=True))
        return ways

    @cached_property
    def second_hops(self) -> list[PoolHop]:
        """Every pool that could swap a middle token into the output."""
        return [
            hop
            for middle in self.chain.middle_tokens
            for hop in finder.pool_hops(self.chain.venues, middle, self.output, self.pools)
        ]

    @cached_property
    def _swaps(self) -> dict[str, SwapCandidates]:
        """The swaps to quote by token; one with an amount above the maximum has none."""
        return {
            token: candidates(self.chain, token, self.output, self.pools)
            for token, amount in self.amounts.items()
            if amount <= MAX_AMOUNT
        }

    @cached_property
    def _shared(self) -> Inquiry:
        """What gas and the output are worth, and what connectors would give."""
        return Inquiry(self._listed.pricing(self._shared_pairs), [])

    @cached_property
    def _data(self) -> DataReads:
        return self.chain.data_reads(typical_sweeps())

    @cached_property
    def _own(self) -> dict[str, Inquiry]:
        return {
            token: Inquiry(
                self._listed.pricing(self._own_pairs(token)),
                [finder.quote_read(swap, self.amounts[token]) for swap in found.all],
            )
            for token, found in self._swaps.items()
            if found.all
        }

    @cached_property
    def _listed(self) -> PricedPools:
        return PricedPools.of(self.pools)

    @cached_property
    def _shared_pairs(self) -> list[Pair]:
        wrapped = self.chain.wrapped_native
        valued = [(token, wrapped) for token in (self.output, self.chain.reference_token)]
        return list(dict.fromkeys([*valued, *((token, self.output) for token in self.chain.connectors)]))

    def _own_pairs(self, token: str) -> list[Pair]:
        """Return the pairs on a token's ways that are not shared."""
        wrapped = self.chain.wrapped_native
        if token == wrapped:
            return []
        others = (wrapped, self.output, *self.chain.connectors)
        return [pair for pair in dict.fromkeys((token, other) for other in others) if pair not in self._shared_pairs]

    @cached_property
    def _probes(self) -> list[list[Probe]]:
        """The probes, in groups that fit into a call."""
        probes = dict.fromkeys([*self._probes_of_tokens(), *self._probes_of_output()])
        return list(grouped([probe for probe in probes if probe.token != self.chain.wrapped_native]))

    def _probes_of_tokens(self) -> Iterator[Probe]:
        for token, found in self._swaps.items():
            if found.all and self.tokens[token].balance > 0:
                yield Probe(token, self.wallet, self.amounts[token], is_pool=False)
            for swap in found.all:
                yield Probe(token, swap.pools[0], self.amounts[token], is_pool=True)

    def _probes_of_output(self) -> Iterator[Probe]:
        whole_unit: int = 10 ** self.tokens[self.output].decimals
        last = [swap for found in self._swaps.values() for swap in found.all if swap.token_out == self.output]
        for swap in [*last, *self.second_hops]:
            yield Probe(self.output, swap.pools[-1], min(whole_unit, UNLIMITED), is_pool=True)

    def _tests(self, answers: Iterator[Any]) -> Iterator[tuple[Probe, Any]]:
        for group in self._probes:
            answer = next(answers)
            yield from zip(group, answer if isinstance(answer, list) else [None] * len(group), strict=True)


def _problem(token: str, quoted: CandidateQuotes | None, transfers: Transfers) -> TransferProblem:
    """Return the least severe problem of a token without a way: a router may sell one that arrives short."""
    found = [] if quoted is None else [transfers.problem(token, quote.swap.pools[0]) for quote in quoted.all]
    problems = [problem for problem in found if problem is not None]
    return (
        TransferProblem.SHORT if TransferProblem.SHORT in problems else next(iter(problems), TransferProblem.NO_ROUTE)
    )
