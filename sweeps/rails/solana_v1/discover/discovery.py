"""Reads what a wallet holds: which tokens are worth sweeping, and which accounts hold nothing but their rent.

Two HTTP requests to the cluster, however much the wallet holds: its token accounts, then their mints and names.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import structlog
from django.conf import settings
from solders.pubkey import Pubkey

from sweepapi.errors import ChainUnavailable
from sweepapi.fees import FeeRates
from sweepapi.networks import Networks
from sweepapi.rpc import ProviderPool
from sweepapi.rpc.errors import ChainUnavailableError
from sweepapi.solana.cluster import reads
from sweepapi.solana.cluster.clusters import Cluster, OutputToken
from sweepapi.solana.encoding.accounts import Holding
from sweepapi.solana.encoding.addresses import TOKEN_PROGRAMS, public_key
from sweepapi.solana.packing import compute_budget
from sweepapi.solana.packing.compute_budget import LAMPORTS_PER_SIGNATURE
from sweepapi.solana.swap_api import (
    NoQuote,
    QuoteAnswer,
    QuoteRequest,
    RateLimitedError,
    SwapApi,
    SwapApiError,
    SwapApiQuote,
)
from sweepapi.solana.tokens.facts import token_keys, tokens_in
from sweepapi.solana.tokens.metadata import Metadata
from sweepapi.solana.tokens.mints import Mint
from sweepapi.solana.worth.economics import CoinRates, LegEconomics, QuotedLeg, leg_economics
from sweepapi.worth.left_out import costs_more
from sweeps.protocol.refusing import most_impact_bps
from sweeps.rails.solana_v1.build import obstacles
from sweeps.rails.solana_v1.build.closings import emptied
from sweeps.rails.solana_v1.build.obstacles import Obstacle
from sweeps.rails.solana_v1.build.quoting import refuse_if_ours
from sweeps.rails.solana_v1.build.terms import SwapTerms, fee_account, output_of
from sweeps.rails.solana_v1.discover.found import EmptyAccount, FoundTokenAccount, SolanaDiscovery

log = structlog.get_logger(__name__)

MAX_ACCOUNTS = 1_000  # anyone can fill a wallet with accounts
MAX_QUOTES = 64
QUOTES_AT_ONCE = 8
QUOTES_SECONDS = 8.0  # no quote is begun later
LEG_UNITS = 150_000  # compute units of a usual sale
SLIPPAGE_BPS = 100  # of a request that names none; it does not change the expected output, which alone is shown


@dataclass(frozen=True)
class Known:
    """What the cluster says about the wallet's tokens."""

    network: str
    epoch: int
    output_mint: str
    holdings: Sequence[Holding]  # with something in them
    mints: Mapping[Pubkey, Mint | None]
    names: Mapping[Pubkey, Metadata]


def discover(
    registry: Networks,
    *,
    network: str,
    wallet: str,
    output_mint: str | None = None,
    slippage_bps: int = SLIPPAGE_BPS,
) -> SolanaDiscovery:
    """Read a wallet, and what it could become in an output: without one, in the first of the cluster.

    A build with the same slippage that follows at once asks for no quote again.

    Raises ``InvalidRequest`` for another output than the cluster's, and ``ChainUnavailable``.
    """
    cluster = registry.cluster(network)
    output = output_of(cluster, output_mint or cluster.output_tokens[0].mint)
    try:
        return _discover(registry, cluster, public_key(wallet), output, slippage_bps)
    except ChainUnavailableError as error:
        raise ChainUnavailable(retry_after_seconds=5) from error


def _discover(
    registry: Networks, cluster: Cluster, wallet: Pubkey, output: OutputToken, slippage_bps: int
) -> SolanaDiscovery:
    pool = registry.pool(cluster.network)
    own = [reads.EPOCH_INFO, compute_budget.recent_fees_call([])]
    epoch, recent_prices, *by_program = pool.batch(
        [*own, *(reads.token_accounts_of(wallet, program) for program in TOKEN_PROGRAMS)]
    )
    all_holdings: list[Holding] = sorted((one for found in by_program for one in found), key=lambda one: bytes(one.key))
    holdings = all_holdings[:MAX_ACCOUNTS]
    known = _known(pool, cluster, epoch.epoch, output, [holding for holding in holdings if holding.token.amount > 0])
    quotes = _quotes(registry, known, wallet, output, slippage_bps)
    rates = CoinRates.of(registry.coin_prices, output.mint, cluster.reference_token)
    fee_lamports = LAMPORTS_PER_SIGNATURE + _priority_fee(recent_prices, cluster)
    return SolanaDiscovery(
        cluster=cluster,
        wallet=str(wallet),
        output=output,
        reference=rates.reference,
        tokens=[_token(holding, known, quotes.get(holding.key), rates, fee_lamports) for holding in known.holdings],
        empty_accounts=[
            EmptyAccount(str(holding.key), str(holding.token.mint), holding.rent_lamports)
            for holding in holdings
            if holding.token.amount == 0 and holding.token.is_closable and str(holding.token.mint) != output.mint
        ],
        omitted_accounts=len(all_holdings) - len(holdings),
        retry_after_seconds=_retry_after_seconds(quotes.values()),
    )


def _known(pool: ProviderPool, cluster: Cluster, epoch: int, output: OutputToken, holdings: Sequence[Holding]) -> Known:
    mints = list(dict.fromkeys([public_key(output.mint), *(holding.token.mint for holding in holdings)]))
    keys = token_keys(mints)
    accounts = reads.by_key(keys, pool.batch(reads.multiple_accounts(keys)))
    tokens = tokens_in(accounts, mints)
    return Known(cluster.network, epoch, output.mint, holdings, tokens.mints, tokens.names)


def _priority_fee(recent_prices: Sequence[int], cluster: Cluster) -> int:
    """Return what the priority of a sale would cost now, in lamports."""
    price = compute_budget.unit_price(
        recent_prices, unit_limit=LEG_UNITS, max_lamports=cluster.max_priority_fee_lamports
    )
    return compute_budget.fee_lamports(unit_limit=LEG_UNITS, unit_price=price) - LAMPORTS_PER_SIGNATURE


def _obstacle(holding: Holding, known: Known) -> Obstacle | None:
    if str(holding.token.mint) == known.output_mint:
        return obstacles.IS_OUTPUT
    of = known.mints[holding.token.mint]
    if of is None:
        return obstacles.UNKNOWN_MINT
    found = obstacles.of_mint(of) or obstacles.of_holding(holding)
    return found or (obstacles.COLLECTIBLE if of.is_unique else None)


def _quotes(
    registry: Networks, known: Known, wallet: Pubkey, output: OutputToken, slippage_bps: int
) -> dict[Pubkey, QuoteAnswer]:
    """Return the answers by token account that came in time, and have the registry know what SOL is worth."""
    sellable = [holding for holding in known.holdings if _obstacle(holding, known) is None][:MAX_QUOTES]
    output_mint = public_key(output.mint)
    paid_in = known.mints[output_mint]
    if paid_in is None or not sellable:
        return {}
    terms = SwapTerms(
        wallet=str(wallet),
        output_mint=output.mint,
        fee_account=fee_account(registry.fee_wallet, output_mint, paid_in.program),
        slippage_bps=slippage_bps,
        fee_bps=settings.TOTAL_FEE_BPS,
    )
    reference = registry.cluster(known.network).reference_token
    of_coin = registry.coin_prices.requests((output.mint, reference.mint), taker=terms.wallet)
    wanted = [terms.quote_request(str(holding.token.mint), holding.token.amount) for holding in sellable]
    answers = _answers(registry.swap_api, [*of_coin, *wanted])
    registry.coin_prices.learn(answers[: len(of_coin)])
    if all(isinstance(answer, NoQuote) for answer in answers[len(of_coin) :]):
        try:
            refuse_if_ours(registry, terms, reference, for_build=False)
        except SwapApiError:
            return {}
    return dict(zip((holding.key for holding in sellable), answers[len(of_coin) :], strict=False))


def _answers(swap_api: SwapApi, wanted: Sequence[QuoteRequest]) -> list[QuoteAnswer]:
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


def _token(
    holding: Holding, known: Known, answer: QuoteAnswer | None, rates: CoinRates, fee_lamports: int
) -> FoundTokenAccount:
    of, name = known.mints[holding.token.mint], known.names[holding.token.mint]
    quote = answer if isinstance(answer, SwapApiQuote) else None
    economics = None if quote is None else _economics(holding, quote, rates, fee_lamports)
    return FoundTokenAccount(
        mint=str(holding.token.mint),
        account=str(holding.key),
        amount=holding.token.amount,
        decimals=None if of is None else of.decimals,
        symbol=name.symbol,
        name=name.name,
        estimated_output=None if quote is None else quote.out_amount,
        obstacle=_obstacle(holding, known) or _price_obstacle(answer, economics),
        economics=economics,
        tax_bps=0 if of is None else of.transfer_tax_bps(known.epoch),
    )


def _economics(holding: Holding, quote: SwapApiQuote, rates: CoinRates, fee_lamports: int) -> LegEconomics:
    """Return what selling a whole balance brings, in a transaction of its own, with the rent that its account frees."""
    fees = FeeRates(settings.TOTAL_FEE_BPS, 0)
    leg = QuotedLeg(fees.gross_for(quote.out_amount), fees.gross_for(quote.threshold), quote.price_impact_bps)
    returned = holding.rent_lamports if emptied(holding, quote.in_amount) else 0
    return leg_economics(leg, rates, fees, lamports=fee_lamports - returned)


def _price_obstacle(answer: QuoteAnswer | None, economics: LegEconomics | None) -> Obstacle | None:
    if isinstance(answer, NoQuote):
        return obstacles.NO_ROUTE
    if isinstance(answer, SwapApiError) and not answer.is_temporary:
        return obstacles.UNUSABLE_QUOTE
    if economics is None:
        return obstacles.NOT_QUOTED
    if costs_more(economics):
        return obstacles.UNECONOMIC
    return obstacles.PRICE_IMPACT if (economics.price_impact_bps or 0) > most_impact_bps(None) else None
