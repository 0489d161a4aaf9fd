"""Quotes the tokens of a page, as far as the swap API takes requests and time allows, and simulates the best sales."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

import structlog
from solders.pubkey import Pubkey

from partners.models import Partner
from sweepapi.errors import BuildDisabled
from sweepapi.networks import Networks
from sweepapi.solana.cluster.clusters import Cluster, OutputToken
from sweepapi.solana.encoding.accounts import Holding
from sweepapi.solana.packing import compute_budget
from sweepapi.solana.packing.compute_budget import USUAL_PERCENTILE
from sweepapi.solana.swap_api import NoQuote, QuoteAnswer, QuoteRequest, RateLimitedError, SwapApi, SwapApiError
from sweepapi.solana.worth.economics import CoinRates, QuotedLeg, leg_economics
from sweepapi.worth.left_out import costs_more
from sweeps.protocol.rail import FeeTerms, OutputAsset
from sweeps.protocol.refusing import most_impact_bps
from sweeps.protocol.request import BuildRequest, TokenInput
from sweeps.rails.solana_v1 import obstacles
from sweeps.rails.solana_v1.build.assembling import Assembly
from sweeps.rails.solana_v1.build.closings import emptied
from sweeps.rails.solana_v1.build.composing import ClusterMarket, problem_of
from sweeps.rails.solana_v1.build.facts import ClusterFacts
from sweeps.rails.solana_v1.build.quoting import quoted_tokens, refuse_if_ours
from sweeps.rails.solana_v1.build.refusals import Sellable, usable_output
from sweeps.rails.solana_v1.build.stages import SolanaToken
from sweeps.rails.solana_v1.build.terms import SwapTerms
from sweeps.rails.solana_v1.discover.basket import ProvenSale, SolanaBasket, best_basket
from sweeps.rails.solana_v1.discover.trying import try_sales
from sweeps.rails.solana_v1.obstacles import Obstacle

log = structlog.get_logger(__name__)

MAX_TRIED = 10
QUOTES_AT_ONCE = 8
QUOTES_SECONDS = 8.0  # no quote is begun later
LEG_UNITS = 150_000  # compute units of a usual sale


@dataclass(frozen=True)
class Appraisal:
    """What is known of selling what one account holds."""

    obstacle: Obstacle | None = None
    token: SolanaToken | None = None  # with its quote and what it brings; None if it was not quoted
    sale: ProvenSale | None = None


@dataclass(frozen=True)
class WalletSales:
    """What selling the accounts of a page would bring, by the accounts' keys."""

    appraisals: Mapping[Pubkey, Appraisal]
    rates: CoinRates
    retry_after_seconds: int | None  # until the swap API quotes more; None if it quoted what it was asked for
    basket: SolanaBasket


@dataclass(frozen=True)
class PageSeller:
    """Quotes and tries to sell the accounts of one page."""

    registry: Networks
    partner: Partner
    cluster: Cluster
    output: OutputToken
    request: BuildRequest  # for the terms of the sales
    facts: ClusterFacts
    fees: FeeTerms
    recent_prices: Sequence[int]  # micro-lamports per compute unit

    def sales(self, page: Sequence[Holding]) -> WalletSales:
        """Return what selling each account would bring; raises nothing because of the swap API."""
        found = {holding.key: Appraisal(_obstacle(holding, self.facts)) for holding in page}
        sellable = [
            Sellable(TokenInput(str(holding.token.mint), holding.token.amount), mint, holding)
            for holding in page
            if found[holding.key].obstacle is None and (mint := self.facts.mints[holding.token.mint]) is not None
        ]
        assembly = self._assembly()
        answers = [] if assembly is None else self._answers(assembly, sellable)
        rates = CoinRates.of(self.registry.coin_prices, self.request.output_asset, self.cluster.reference_token)
        found |= {one.holding.key: _unquoted(answer) for one, answer in zip_longest(sellable, answers)}
        basket = SolanaBasket()
        if assembly is not None:
            quoted = quoted_tokens(sellable[: len(answers)], answers, self.facts, rates, self.fees)
            tokens = [self._estimated(token, rates) for token in quoted]
            appraised, basket = self._appraised(assembly, tokens, rates)
            found |= appraised
        return WalletSales(found, rates, _retry_after_seconds(answers), basket)

    def _assembly(self) -> Assembly | None:
        """Return what makes transactions; None, with an alarm, while the account that is paid the fee can't be."""
        try:
            return Assembly(self.request, self.facts, self.fees, self.cluster, *usable_output(self.facts))
        except BuildDisabled:
            return None

    def _answers(self, assembly: Assembly, sellable: Sequence[Sellable]) -> list[QuoteAnswer]:
        """Return the answers that came in time, in order, and have the registry know what SOL is worth."""
        if not sellable:
            return []
        request, reference, prices = self.request, self.cluster.reference_token, self.registry.coin_prices
        terms = SwapTerms(
            wallet=request.wallet,
            output_mint=request.output_asset,
            fee_account=assembly.fee_account,
            slippage_bps=request.slippage_bps,
            fee_bps=self.fees.total_fee_bps,
            price_percentile=request.price_percentile,
        )
        of_coin = prices.requests((request.output_asset, reference.mint), taker=terms.wallet)
        wanted = [terms.quote_request(one.token.asset, one.token.amount) for one in sellable]
        answers = _ask(self.registry.swap_api, [*of_coin, *wanted])
        prices.learn(answers[: len(of_coin)])
        quotes = answers[len(of_coin) :]
        if quotes and all(isinstance(answer, NoQuote) for answer in quotes):
            try:
                refuse_if_ours(self.registry, terms, reference, for_build=False)
            except SwapApiError:
                return []
        return quotes

    def _estimated(self, token: SolanaToken, rates: CoinRates) -> SolanaToken:
        """Return the token with what it brings alone in a usual transaction, with the rent that its account frees."""
        said, recent = token.quote.unit_price, compute_budget.recent_price(self.recent_prices, USUAL_PERCENTILE)
        most_lamports = self.cluster.max_priority_fee_lamports
        wanted = recent if said is None else said
        price = compute_budget.affordable(wanted, unit_limit=LEG_UNITS, max_lamports=most_lamports)
        fee = compute_budget.fee_lamports(unit_limit=LEG_UNITS, unit_price=price)
        returned = token.holding.rent_lamports if emptied(token.holding, token.amount) else 0
        leg = QuotedLeg(token.expected_output, token.min_output, token.quote.price_impact_bps)
        return replace(token, economics=leg_economics(leg, rates, self.fees, lamports=fee - returned))

    def _appraised(
        self, assembly: Assembly, tokens: Sequence[SolanaToken], rates: CoinRates
    ) -> tuple[dict[Pubkey, Appraisal], SolanaBasket]:
        """Return what becomes of quoted tokens: the best of those that are worth it are simulated."""
        found = {token.holding.key: Appraisal(self._obstacle_of_quote(token), token) for token in tokens}
        worthy = [token for token in tokens if found[token.holding.key].obstacle is None]
        best = sorted(worthy, key=_brings, reverse=True)[:MAX_TRIED]
        tried = try_sales(assembly, self.registry.pool(self.cluster.network), best)
        for token in worthy:
            outcome = tried.outcomes.get(token.holding.key, obstacles.NOT_SIMULATED)
            if isinstance(outcome, Obstacle):
                found[token.holding.key] = Appraisal(outcome, token)
            else:
                proven = token.costing(outcome, rates, self.fees)
                found[token.holding.key] = Appraisal(_obstacle_of_worth(proven), proven, ProvenSale(proven, outcome))
        good = [one.sale for one in found.values() if one.sale is not None and one.obstacle is None]
        return found, self._basket(assembly, tried.market, good, rates)

    def _basket(
        self, assembly: Assembly, market: ClusterMarket | None, sales: Sequence[ProvenSale], rates: CoinRates
    ) -> SolanaBasket:
        if market is None:
            return SolanaBasket()
        output = OutputAsset(self.output.mint, self.output.symbol, self.output.decimals)
        return best_basket(sales, partner=self.partner, assembly=assembly, market=market, output=output, rates=rates)

    def _obstacle_of_quote(self, token: SolanaToken) -> Obstacle | None:
        if problem_of(token, self.facts, self.cluster, self.fees) is not None:
            return obstacles.UNUSABLE_QUOTE
        return _obstacle_of_worth(token)


def _obstacle(holding: Holding, facts: ClusterFacts) -> Obstacle | None:
    """Return what keeps a wallet from selling what this account holds, by the facts alone."""
    if holding.token.mint == facts.output_mint:
        return obstacles.IS_OUTPUT
    of = facts.mints[holding.token.mint]
    if of is None:
        return obstacles.UNKNOWN_MINT
    found = obstacles.of_mint(of) or obstacles.of_holding(holding)
    return found or (obstacles.COLLECTIBLE if of.is_unique else None)


def _unquoted(answer: QuoteAnswer | None) -> Appraisal:
    if isinstance(answer, NoQuote):
        return Appraisal(obstacles.NO_ROUTE)
    is_unusable = isinstance(answer, SwapApiError) and not answer.is_temporary
    return Appraisal(obstacles.UNUSABLE_QUOTE if is_unusable else obstacles.NOT_QUOTED)


def _obstacle_of_worth(token: SolanaToken) -> Obstacle | None:
    if costs_more(token.economics):
        return obstacles.UNECONOMIC
    return obstacles.PRICE_IMPACT if (token.economics.price_impact_bps or 0) > most_impact_bps(None) else None


def _brings(token: SolanaToken) -> int:
    """Return what a sale brings in the output; of all tokens after its cost, or of all before it."""
    return token.expected_output if token.economics.net_output is None else token.economics.net_output


def _ask(swap_api: SwapApi, wanted: Sequence[QuoteRequest]) -> list[QuoteAnswer]:
    """Ask for a few quotes at a time, so that none is begun late; returns fewer answers if time runs out."""
    last_start = time.monotonic() + QUOTES_SECONDS
    answers: list[QuoteAnswer] = []
    for start in range(0, len(wanted), QUOTES_AT_ONCE):
        part = wanted[start : start + QUOTES_AT_ONCE]
        if time.monotonic() > last_start:
            break
        try:
            answers += swap_api.quotes(part, for_build=False)
        except SwapApiError as error:
            answers += [error] * len(part)
    errors = [str(answer) for answer in answers if isinstance(answer, SwapApiError)]
    if errors:
        log.warning("tokens_not_quoted", errors=sorted(set(errors)), tokens=len(errors))
    return answers


def _retry_after_seconds(answers: Iterable[QuoteAnswer]) -> int | None:
    """Return when to ask again for what the swap API takes only later; None if it took all."""
    limited = [answer.retry_after_seconds for answer in answers if isinstance(answer, RateLimitedError)]
    return max(filter(None, limited), default=None)
