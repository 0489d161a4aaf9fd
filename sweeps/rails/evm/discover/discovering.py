"""Reads a wallet on an EVM chain, and simulates the sale of each token alone, to say which are worth sweeping.

It takes at most seven round trips for any number of tokens: three find what the wallet holds (``holdings``), one reads
the facts of these tokens, two find how to sell each (``sales``), and one tries all the sales, and with them one sweep
of the tokens that seem worth it so far, because what tokens share shows only together. If all sales fail, another trip
asks whether the output is to blame.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice

from django.conf import settings

from partners.models import Partner
from sweepapi.errors import ChainUnavailable, InvalidRequest
from sweepapi.evm.chain.chains import Chain, HoldingsSource
from sweepapi.evm.market import sales
from sweepapi.evm.market.reading import Contract, Market, MarketFacts
from sweepapi.evm.market.sales import Sales
from sweepapi.evm.routes.minimums import Minimums
from sweepapi.evm.routes.planning import RoutePlan
from sweepapi.evm.routes.quoting import Quotes
from sweepapi.evm.tokens.listed_tokens import is_listed, tokens_of
from sweepapi.evm.trial.trial_result import NOT_TRIED, Simulation, SimulationStatus
from sweepapi.evm.wallet.holdings.coverage import Continuation
from sweepapi.evm.wallet.holdings.outside import OutsideSource
from sweepapi.evm.wallet.holdings.reading import Holdings, WalletReading
from sweepapi.evm.wallet.holdings.sources import NamedTokens, TokenSource
from sweepapi.evm.wallet.holdings.transfer_logs import TransferLogs
from sweepapi.evm.worth.valuing import Rates
from sweepapi.networks import Networks
from sweepapi.rpc.errors import ChainUnavailableError
from sweeps.protocol.rail import FeeTerms
from sweeps.protocol.request import BuildRequest, DiscoverRequest, TokenInput
from sweeps.protocol.verdicts import ExplainedVerdict
from sweeps.rails.evm.build.planning import (
    OUTPUT_IS_NOT_A_TOKEN,
    Reading,
    market_for,
    output_of,
    planned_sweep,
    refuse_blocking_output,
    refuse_disabled,
    refuse_output,
    simulate_sales,
)
from sweeps.rails.evm.build.stages import EvmPlanned, EvmSimulated, Trial
from sweeps.rails.evm.discover import verdicts
from sweeps.rails.evm.discover.basket import best_basket
from sweeps.rails.evm.discover.found import EvmDiscovery, FoundToken

MOST_KEPT = 40  # which take 58,000 gas each of a request that simulates by a call
SLIPPAGE_BPS = 100  # of the simulated sales; only their expected output is shown, which does not depend on it


@dataclass(frozen=True)
class SaleTerms:
    """The chain, the contract and the fees under which a partner's sweeps are built today."""

    partner: Partner
    chain: Chain
    contract: Contract
    fees: FeeTerms
    trial: Callable[[EvmPlanned], Trial]  # how it executes planned sweeps like this one


def discover(registry: Networks, request: DiscoverRequest, terms: SaleTerms) -> EvmDiscovery:
    """Read a wallet.

    Raises ``BuildDisabled``, ``ChainUnavailable``, and ``InvalidRequest`` for an output that no sweep can have.
    """
    market = market_for(registry, request, terms.contract)
    try:
        wallet = _read(request, market, registry.holdings_services[request.network])
    except ChainUnavailableError as error:
        raise ChainUnavailable(retry_after_seconds=5) from error
    if wallet.sales.output_problem is not None:
        refuse_output(wallet.sales.output_problem)
    return _Appraisal(request, terms, wallet).discovery()


@dataclass(frozen=True)
class _ReadWallet:
    """What was read about a wallet."""

    market: Market
    holdings: Holdings
    facts: MarketFacts
    suspects: Mapping[str, ExplainedVerdict]
    amounts: Mapping[str, int]  # to sell, by token
    quotes: Quotes
    sales: Sales


def _holdings(request: DiscoverRequest, market: Market, services: Sequence[OutsideSource]) -> Holdings:
    """Return what the sources of the chain find, in its order; a service that has no URL is not asked."""
    chain = market.chain
    every: Sequence[TokenSource] = (
        NamedTokens(HoldingsSource.CANDIDATES, request.candidates),
        NamedTokens(HoldingsSource.TOKEN_LIST, [*chain.tokens.values(), *tokens_of(chain.chain_id)]),
        TransferLogs(settings.DISCOVER_LOG_BLOCKS),
        *services,
    )
    by_name = {source.name: source for source in every}
    sources = [by_name[name] for name in chain.holdings_sources if name in by_name]
    reading = WalletReading(
        chain=chain,
        pool=market.pool,
        wallet=request.wallet,
        sources=sources,
        is_listed=partial(is_listed, chain),
        output=market.output,
    )
    place = Continuation.beginning(sources) if request.place is None else Continuation.decode(request.place)
    return reading.find(place, exclude=request.output_asset)


def _read(request: DiscoverRequest, market: Market, services: Sequence[OutsideSource]) -> _ReadWallet:
    holdings = _holdings(request, market, services)
    facts = market.read_facts(swept=holdings.tokens, permit_words=(), without_pools=holdings.without_pools)
    refuse_disabled(facts)
    if market.output not in facts.tokens:
        raise InvalidRequest(details=[OUTPUT_IS_NOT_A_TOKEN])
    held = {token: facts.tokens[token] for token in holdings.tokens if token in facts.tokens}
    suspects = {
        token: finding
        for token, known in held.items()
        if (finding := verdicts.deceptive(market.chain, token, known)) is not None
    }
    amounts = {token: known.balance for token, known in held.items() if known.balance and token not in suspects}
    quotes = market.read_quotes(amounts=amounts, facts=facts)
    return _ReadWallet(market, holdings, facts, suspects, amounts, quotes, sales.find(market, quotes))


@dataclass(frozen=True)
class _Appraisal:
    """Tries the sales, and decides about each token."""

    request: DiscoverRequest
    terms: SaleTerms
    wallet: _ReadWallet

    def discovery(self) -> EvmDiscovery:
        """Raise ``ChainUnavailable`` if no provider answers."""
        wallet, holdings = self.wallet, self.wallet.holdings
        sold, tried = self._sold()
        chosen = best_basket([*sold, *self._not_sold()], tried)
        shown = [token for token in chosen.found if self.request.includes_hidden or not token.is_hidden]
        return EvmDiscovery(
            chain=self.terms.chain,
            wallet=self.request.wallet,
            output=output_of(self.request.output_asset, wallet.market, wallet.facts),
            reference=self._rates.reference,
            tokens=shown,
            hidden_count=len(chosen.found) - len(shown),
            coverage=holdings.coverage,
            best_basket=chosen.basket,
        )

    @cached_property
    def _rates(self) -> Rates:
        """Those of a sweep of one token."""
        wallet = self.wallet
        return Rates.of(wallet.market, wallet.facts, wallet.quotes).with_more(1 - len(wallet.amounts))

    @cached_property
    def _listed(self) -> Sequence[str]:
        """Those of the wallet's tokens whose balances are believed; an unlisted one could accuse each sale."""
        held = (token for token in self.wallet.amounts if is_listed(self.terms.chain, token))
        return list(islice(held, MOST_KEPT))

    @cached_property
    def _worthy(self) -> frozenset[str]:
        """The tokens that no sale of another one may take; another may be a mere record, as of shares in a dividend."""
        return frozenset((*self.wallet.sales.plans, *self._listed, self.wallet.market.output))

    def _sold(self) -> tuple[list[FoundToken], EvmSimulated | None]:
        """Return the tokens that have a way, and the sweep of those that seemed worth it before they were tried.

        A token with a floor of zero is not tried, because no sweep can contain it.
        """
        sales = [self._sale(token, plan) for token, plan in self.wallet.sales.plans.items()]
        to_try = [sale for sale in sales if sale.tokens[0].floor > 0]
        if not to_try:
            return [self._found_sale(sale.simulated(NOT_TRIED)) for sale in sales], None
        likely = best_basket([self._found_sale(sale.simulated(NOT_TRIED)) for sale in to_try]).basket.sweep
        results, together = simulate_sales(to_try, likely, self.terms.trial(to_try[0]), kept=self._listed)
        if all(result.status is SimulationStatus.REVERTED for result in results):
            refuse_blocking_output(to_try)
        simulated = iter(results)
        found = [
            self._found_sale(
                self._with_result(sale, next(simulated)) if sale.tokens[0].floor > 0 else sale.simulated(NOT_TRIED)
            )
            for sale in sales
        ]
        return found, together

    def _found_sale(self, sale: EvmSimulated) -> FoundToken:
        return self._found(sale.tokens[0].asset, verdicts.of_sale(sale), sale)

    def _sale(self, token: str, plan: RoutePlan) -> EvmPlanned:
        wallet, fees = self.wallet, self.terms.fees
        minimums = Minimums(
            plan=plan,
            fees=fees,
            slippage_bps=SLIPPAGE_BPS,
            router_slippage_bps=SLIPPAGE_BPS,
            signed=None,
        )
        request = BuildRequest(
            network=self.request.network,
            wallet=self.request.wallet,
            tokens=[TokenInput(token, wallet.amounts[token])],
            output_asset=self.request.output_asset,
            slippage_bps=SLIPPAGE_BPS,
            unlimited_approvals=self.request.unlimited_approvals,
            wallet_says=self.request.wallet_says,
        )
        reading = Reading(wallet.market, wallet.facts, wallet.quotes)
        is_sponsored = request.wallet_says.gas_is_sponsored
        sale = planned_sweep(request, reading, minimums, partner=self.terms.partner, fees=fees, max_skipped=0)
        return replace(sale, rates=self._rates.sponsored if is_sponsored else self._rates)

    def _with_result(self, sale: EvmPlanned, simulation: Simulation) -> EvmSimulated:
        """Return the sale with what its simulation showed, and what it is then worth."""
        (token,) = sale.tokens
        shown = replace(simulation, taken=self._worthy.intersection(simulation.taken))
        return replace(sale, tokens=[sale.expecting(token, simulation.gross_output)]).simulated(shown)

    def _not_sold(self) -> Iterator[FoundToken]:
        """Yield the tokens that can't be sold, and the suspects, whose sales are not tried."""
        for token, problem in self.wallet.sales.problems.items():
            yield self._found(token, verdicts.without_way(problem))
        for token, finding in self.wallet.suspects.items():
            yield self._found(token, finding)
        holdings, facts = self.wallet.holdings, self.wallet.facts.tokens
        named = set(holdings.named)  # that another source takes for a token what is none is not worth an answer
        without_facts = [token for token in holdings.tokens if token in named and token not in facts]
        for token in [*without_facts, *holdings.without_balance]:
            yield self._found(token, verdicts.BROKEN)

    def _found(self, token: str, finding: ExplainedVerdict, sale: EvmSimulated | None = None) -> FoundToken:
        chain, known = self.terms.chain, self.wallet.facts.tokens.get(token)
        listed = is_listed(chain, token)
        notes = () if known is None or listed else verdicts.notes(chain, known)
        return FoundToken(token, known, listed, finding, sale, notes=notes)
