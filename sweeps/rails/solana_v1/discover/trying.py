"""Simulates the best sales of a wallet, each alone, and says in a build's words why one fails."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import structlog
from solders.pubkey import Pubkey

from sweepapi.rpc import ProviderPool
from sweepapi.rpc.errors import ChainUnavailableError
from sweepapi.solana.encoding.errors import LegsTooLargeError, UnsafeSwapError
from sweepapi.solana.packing.packing import Packed
from sweeps.rails.solana_v1.build.assembling import Assembly
from sweeps.rails.solana_v1.build.composing import ClusterMarket, read_market
from sweeps.rails.solana_v1.build.proving import Unproven
from sweeps.rails.solana_v1.build.refusals import needed_lamports
from sweeps.rails.solana_v1.build.stages import SolanaToken, SolanaTransaction
from sweeps.rails.solana_v1.build.trying import note_unproven
from sweeps.rails.solana_v1.obstacles import (
    NOT_SIMULATED,
    TOO_LARGE,
    UNUSABLE_QUOTE,
    WALLET_CANNOT_PAY,
    Obstacle,
)

log = structlog.get_logger(__name__)

Outcome = SolanaTransaction | Obstacle


@dataclass(frozen=True)
class TriedSales:
    """What became of each sale, by account: the transaction that was proven, or what keeps it from being made."""

    outcomes: Mapping[Pubkey, Outcome]
    market: ClusterMarket | None = None  # in which they were tried; None if none was


def try_sales(assembly: Assembly, pool: ProviderPool, tokens: Sequence[SolanaToken]) -> TriedSales:
    """Simulate the sale of each token."""
    accounts = [token.holding.key for token in tokens]
    if not tokens:
        return TriedSales({})
    if assembly.facts.lamports < needed_lamports(assembly.facts):
        return TriedSales(dict.fromkeys(accounts, WALLET_CANNOT_PAY))
    try:
        market = read_market(pool, tokens)
        composed = {token.holding.key: _composed(assembly, tokens, at, market) for at, token in enumerate(tokens)}
        packed = {key: one for key, one in composed.items() if isinstance(one, Packed)}
        proven = _proven(assembly, pool, packed, tokens, market)
    except ChainUnavailableError as error:
        log.warning("sales_not_simulated", wallet=assembly.request.wallet, reason=str(error))
        return TriedSales(dict.fromkeys(accounts, NOT_SIMULATED))
    return TriedSales({key: proven[key] if isinstance(one, Packed) else one for key, one in composed.items()}, market)


def _composed(
    assembly: Assembly, tokens: Sequence[SolanaToken], position: int, market: ClusterMarket
) -> Packed | Obstacle:
    if market.problem_of(tokens[position]) is not None:
        return UNUSABLE_QUOTE
    try:
        return assembly.alone(tokens, position, market)
    except LegsTooLargeError:
        return TOO_LARGE
    except UnsafeSwapError:
        return UNUSABLE_QUOTE


def _proven(
    assembly: Assembly,
    pool: ProviderPool,
    packed: Mapping[Pubkey, Packed],
    tokens: Sequence[SolanaToken],
    market: ClusterMarket,
) -> dict[Pubkey, Outcome]:
    """Simulate each, and those that fail once more, as the accounts before them may be of another slot."""
    results = dict(zip(packed, assembly.proven(pool, list(packed.values()), tokens, market), strict=True))
    again = {key: packed[key] for key, result in results.items() if isinstance(result, Unproven)}
    results |= zip(again, assembly.proven(pool, list(again.values()), tokens, market), strict=True)
    sold = {token.holding.key: token for token in tokens}
    return {key: _outcome(assembly, sold[key], result) for key, result in results.items()}


def _outcome(assembly: Assembly, token: SolanaToken, result: SolanaTransaction | Unproven) -> Outcome:
    if not isinstance(result, Unproven):
        return result
    note_unproven(assembly.request.wallet, token, result)
    if result.is_unpaid:
        return WALLET_CANNOT_PAY
    return UNUSABLE_QUOTE if result.is_unsafe else Obstacle(result.code, result.message)
