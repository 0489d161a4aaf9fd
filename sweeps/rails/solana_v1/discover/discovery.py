"""Reads what a wallet holds: which tokens are worth sweeping, and which accounts hold nothing but their rent.

Two HTTP requests to the cluster, however much the wallet holds: its token accounts, then their mints and names.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import structlog
from django.conf import settings
from solders.pubkey import Pubkey

from sweepapi.errors import ChainUnavailable
from sweepapi.networks import Networks
from sweepapi.rpc import ProviderPool
from sweepapi.rpc.errors import ChainUnavailableError
from sweepapi.solana.cluster import reads
from sweepapi.solana.cluster.clusters import Cluster, OutputToken
from sweepapi.solana.encoding.accounts import Holding
from sweepapi.solana.encoding.addresses import TOKEN_PROGRAMS, WRAPPED_SOL, public_key
from sweepapi.solana.packing.compute_budget import LAMPORTS_PER_SIGNATURE
from sweepapi.solana.swap_api import NoQuote, QuoteRequest, SwapApi, SwapApiError, SwapApiQuote
from sweepapi.solana.tokens.facts import token_keys, tokens_in
from sweepapi.solana.tokens.metadata import Metadata
from sweepapi.solana.tokens.mints import Mint
from sweeps.protocol.refusing import most_impact_bps
from sweeps.rails.solana_v1.build import obstacles
from sweeps.rails.solana_v1.build.obstacles import Obstacle
from sweeps.rails.solana_v1.build.terms import SwapTerms, fee_account, output_of
from sweeps.rails.solana_v1.discover.found import EmptyAccount, FoundTokenAccount, SolanaDiscovery

log = structlog.get_logger(__name__)

MAX_ACCOUNTS = 1_000  # anyone can fill a wallet with accounts
MAX_QUOTES = 64
QUOTES_AT_ONCE = 8
QUOTES_SECONDS = 8.0  # no quote is begun later
SLIPPAGE_BPS = 100  # does not change the expected output, which alone is shown


@dataclass(frozen=True)
class Known:
    """What the cluster says about the wallet's tokens."""

    epoch: int
    holdings: Sequence[Holding]  # with something in them
    mints: Mapping[Pubkey, Mint | None]
    names: Mapping[Pubkey, Metadata]


def discover(registry: Networks, *, network: str, wallet: str, output_mint: str | None = None) -> SolanaDiscovery:
    """Read a wallet, and what it could become in an output: without one, in the first of the cluster.

    Raises ``InvalidRequest`` for another output than the cluster's, and ``ChainUnavailable``.
    """
    cluster = registry.cluster(network)
    output = output_of(cluster, output_mint or cluster.output_tokens[0].mint)
    try:
        return _discover(registry, cluster, public_key(wallet), output)
    except ChainUnavailableError as error:
        raise ChainUnavailable(retry_after_seconds=5) from error


def _discover(registry: Networks, cluster: Cluster, wallet: Pubkey, output: OutputToken) -> SolanaDiscovery:
    pool = registry.pool(cluster.network)
    epoch, *by_program = pool.batch(
        [reads.EPOCH_INFO, *(reads.token_accounts_of(wallet, program) for program in TOKEN_PROGRAMS)]
    )
    all_holdings: list[Holding] = sorted((one for found in by_program for one in found), key=lambda one: bytes(one.key))
    holdings = all_holdings[:MAX_ACCOUNTS]
    known = _known(pool, epoch.epoch, [holding for holding in holdings if holding.token.amount > 0], output)
    return SolanaDiscovery(
        cluster=cluster,
        wallet=str(wallet),
        output=output,
        tokens=_tokens(registry, known, wallet, output),
        empty_accounts=[
            EmptyAccount(str(holding.key), str(holding.token.mint), holding.rent_lamports)
            for holding in holdings
            if holding.token.amount == 0 and holding.token.is_closable and str(holding.token.mint) != output.mint
        ],
        omitted_accounts=len(all_holdings) - len(holdings),
    )


def _known(pool: ProviderPool, epoch: int, holdings: Sequence[Holding], output: OutputToken) -> Known:
    mints = list(dict.fromkeys([public_key(output.mint), *(holding.token.mint for holding in holdings)]))
    keys = token_keys(mints)
    accounts = reads.by_key(keys, pool.batch(reads.multiple_accounts(keys)))
    tokens = tokens_in(accounts, mints)
    return Known(epoch=epoch, holdings=holdings, mints=tokens.mints, names=tokens.names)


def _tokens(registry: Networks, known: Known, wallet: Pubkey, output: OutputToken) -> list[FoundTokenAccount]:
    refused = {holding.key: _obstacle(holding, known, output) for holding in known.holdings}
    sellable = [holding for holding in known.holdings if refused[holding.key] is None]
    quotes = _quotes(registry, sellable, known, wallet, output)
    answers = dict(zip((holding.key for holding in sellable), quotes, strict=True))
    return [
        _token(holding, known, answers.get(holding.key), refused[holding.key], output) for holding in known.holdings
    ]


def _obstacle(holding: Holding, known: Known, output: OutputToken) -> Obstacle | None:
    if str(holding.token.mint) == output.mint:
        return obstacles.IS_OUTPUT
    of = known.mints[holding.token.mint]
    if of is None:
        return obstacles.UNKNOWN_MINT
    found = obstacles.of_mint(of, epoch=known.epoch) or obstacles.of_holding(holding)
    return found or (obstacles.COLLECTIBLE if of.is_unique else None)


def _quotes(
    registry: Networks, sellable: Sequence[Holding], known: Known, wallet: Pubkey, output: OutputToken
) -> list[SwapApiQuote | NoQuote | None]:
    """Return the answer for each of these tokens; None for those that were not quoted in time."""
    output_mint = public_key(output.mint)
    paid_in = known.mints[output_mint]
    if paid_in is None:
        return [None] * len(sellable)
    terms = SwapTerms(
        wallet=str(wallet),
        output_mint=output.mint,
        fee_account=fee_account(registry.fee_wallet, output_mint, paid_in.program),
        slippage_bps=SLIPPAGE_BPS,
        fee_bps=settings.TOTAL_FEE_BPS,
    )
    wanted = [terms.quote_request(str(holding.token.mint), holding.token.amount) for holding in sellable[:MAX_QUOTES]]
    answers = _answers(registry.swap_api, wanted)
    return [*answers, *[None] * (len(sellable) - len(answers))]


def _answers(swap_api: SwapApi, wanted: Sequence[QuoteRequest]) -> list[SwapApiQuote | NoQuote | None]:
    """Ask for a few quotes at a time, so that a failure costs only those asked for with it."""
    last_start = time.monotonic() + QUOTES_SECONDS
    answers: list[SwapApiQuote | NoQuote | None] = []
    for start in range(0, len(wanted), QUOTES_AT_ONCE):
        part = wanted[start : start + QUOTES_AT_ONCE]
        if time.monotonic() > last_start:
            break
        try:
            answers += swap_api.quotes(part)
        except SwapApiError as error:
            log.warning("tokens_not_quoted", error=str(error), tokens=len(part))
            answers += [None] * len(part)
    return answers


def _token(
    holding: Holding, known: Known, answer: SwapApiQuote | NoQuote | None, refused: Obstacle | None, output: OutputToken
) -> FoundTokenAccount:
    of, name = known.mints[holding.token.mint], known.names[holding.token.mint]
    return FoundTokenAccount(
        mint=str(holding.token.mint),
        account=str(holding.key),
        amount=holding.token.amount,
        decimals=None if of is None else of.decimals,
        symbol=name.symbol,
        name=name.name,
        estimated_output=answer.out_amount if isinstance(answer, SwapApiQuote) else None,
        obstacle=refused or _price_obstacle(answer, output),
    )


def _price_obstacle(answer: SwapApiQuote | NoQuote | None, output: OutputToken) -> Obstacle | None:
    if answer is None:
        return obstacles.NOT_QUOTED
    if isinstance(answer, NoQuote):
        return obstacles.NO_ROUTE
    cost = LAMPORTS_PER_SIGNATURE if output.mint == str(WRAPPED_SOL) else 0
    if answer.out_amount <= cost:
        return obstacles.DUST
    return obstacles.PRICE_IMPACT if (answer.price_impact_bps or 0) > most_impact_bps(None) else None
