"""Composes the transactions of a sweep from the swap API's instructions.

Every instruction is inspected first, and lookup tables are read from the cluster, together with the blockhash, the
slot time and the prices of recent blocks, in one HTTP request. What the swap API wants beyond the sweep is an
``UnsafeSwapError``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from solders.address_lookup_table_account import AddressLookupTableAccount
from solders.instruction import Instruction
from solders.pubkey import Pubkey

from sweepapi.fees import FeeRates
from sweepapi.rpc import ProviderPool
from sweepapi.rpc.errors import ChainUnavailableError
from sweepapi.solana.cluster import reads
from sweepapi.solana.cluster.clusters import Cluster
from sweepapi.solana.encoding.accounts import Holding
from sweepapi.solana.encoding.addresses import public_key
from sweepapi.solana.encoding.errors import UnsafeSwapError
from sweepapi.solana.encoding.responses import LatestBlockhash
from sweepapi.solana.packing import compute_budget
from sweepapi.solana.packing.lookup_tables import lookup_table
from sweepapi.solana.packing.packing import SwapLeg
from sweepapi.solana.swap_api import SwapApiQuote
from sweepapi.solana.swap_api.inspection import check_cleanup, inspect
from sweepapi.solana.swap_api.jupiter import check_routes
from sweeps.protocol.request import BuildRequest
from sweeps.rails.solana_v1.build.closings import closing, emptied, empty_before, wrapped_sol
from sweeps.rails.solana_v1.build.facts import ClusterFacts
from sweeps.rails.solana_v1.build.stages import SolanaToken

BLOCKHASH_BLOCKS = 150  # for which a new blockhash is valid
MAX_SKEW_BLOCKS = 50  # between the nodes behind one endpoint: ten seconds, at 0.21 s a slot


@dataclass(frozen=True)
class ClusterMarket:
    """What transactions need from the cluster that is out of date within seconds."""

    tables: Mapping[Pubkey, AddressLookupTableAccount]
    unsafe_tables: Mapping[Pubkey, UnsafeSwapError]  # why the others can't be used
    blockhash: LatestBlockhash
    blocks_left: int  # in which transactions with this blockhash can land
    slot_seconds: float  # as measured by the cluster
    recent_prices: Sequence[int]  # micro-lamports per compute unit

    def problem_of(self, token: SolanaToken) -> UnsafeSwapError | None:
        """Return what is wrong with the lookup tables that a quote names; None if nothing is."""
        keys = (public_key(key) for key in token.quote.lookup_tables)
        return next((self.unsafe_tables[key] for key in keys if key in self.unsafe_tables), None)


def problem_of(token: SolanaToken, facts: ClusterFacts, cluster: Cluster, fees: FeeRates) -> UnsafeSwapError | None:
    """Return what is wrong with what the quote would have the wallet sign; None if nothing is."""
    try:
        _check_instructions(token, facts, cluster, fees)
    except UnsafeSwapError as error:
        return error
    return None


def _check_instructions(token: SolanaToken, facts: ClusterFacts, cluster: Cluster, fees: FeeRates) -> None:
    instructions = _instructions(token.quote)
    inspect(
        instructions,
        wallet=facts.wallet,
        swept={token.holding.key: token.amount},
        mints_of={key: holding.token.mint for key, holding in facts.holdings.items()},
        allowed_programs=[public_key(program) for program in cluster.swap_programs],
    )
    if token.quote.cleanup is not None:
        check_cleanup(token.quote.cleanup)
    check_routes(
        instructions,
        source=token.holding.key,
        amount=token.amount,
        minimum=token.quote.threshold,
        fee_bps=fees.total_fee_bps,
    )


def read_market(pool: ProviderPool, tokens: Sequence[SolanaToken]) -> ClusterMarket:
    """Read the lookup tables that the quotes name, a blockhash, how long it lasts, and what recent blocks charged.

    Raises ``ChainUnavailableError``.
    """
    keys = list(dict.fromkeys(public_key(key) for token in tokens for key in token.quote.lookup_tables))
    written = [
        account.pubkey
        for token in tokens
        for one in _instructions(token.quote)
        for account in one.accounts
        if account.is_writable
    ]
    fees = compute_budget.recent_fees_call(list(dict.fromkeys(written)))
    blockhash, epoch, slot_seconds, prices, *found = pool.batch(
        [reads.LATEST_BLOCKHASH, reads.EPOCH_INFO, reads.SLOT_SECONDS, fees, *reads.multiple_accounts(keys)]
    )
    blocks_left = blockhash.last_valid_block_height - epoch.block_height
    _check_validity(blocks_left)
    tables: dict[Pubkey, AddressLookupTableAccount] = {}
    unsafe: dict[Pubkey, UnsafeSwapError] = {}
    for key, account in reads.by_key(keys, found).items():
        try:
            tables[key] = lookup_table(key, account)
        except UnsafeSwapError as error:
            unsafe[key] = error
    return ClusterMarket(tables, unsafe, blockhash, blocks_left, slot_seconds, prices)


def _check_validity(blocks_left: int) -> None:
    """Refuse a blockhash that expires too soon to be signed, or so late that the sweep would never be over."""
    if abs(blocks_left - BLOCKHASH_BLOCKS) > MAX_SKEW_BLOCKS:
        raise ChainUnavailableError(f"a new blockhash can't be valid for {blocks_left} blocks")


def legs_of(tokens: Sequence[SolanaToken], market: ClusterMarket, *, closes_accounts: bool) -> list[SwapLeg]:
    """Return the instructions that sell each token."""
    return [_leg(token, market, closes_accounts=closes_accounts) for token in tokens]


def used_accounts(tokens: Sequence[SolanaToken]) -> set[Pubkey]:
    """Return the accounts that the sale of these tokens names."""
    return {account.pubkey for token in tokens for one in _instructions(token.quote) for account in one.accounts}


def extra_closings(tokens: Sequence[SolanaToken], facts: ClusterFacts, request: BuildRequest) -> list[Holding]:
    """Return the accounts to unwrap, and the empty ones to close, that selling these tokens does not use."""
    used = used_accounts(tokens)
    wrapped = wrapped_sol(facts, used) if request.unwraps_coin else []
    return [*wrapped, *(empty_before(facts, used) if request.close_empty_accounts else [])]


def _leg(token: SolanaToken, market: ClusterMarket, *, closes_accounts: bool) -> SwapLeg:
    is_closed = closes_accounts and emptied(token.holding, token.amount)
    return SwapLeg(
        instructions=_sale(token.quote),
        minimum=token.quote.threshold,
        cleanup=token.quote.cleanup,
        closing=closing(token.holding) if is_closed else [],
        lookup_tables=tuple(market.tables[public_key(key)] for key in token.quote.lookup_tables),
    )


def _instructions(quote: SwapApiQuote) -> tuple[Instruction, ...]:
    cleanup = () if quote.cleanup is None else (quote.cleanup,)
    return (*_sale(quote), *cleanup)


def _sale(quote: SwapApiQuote) -> tuple[Instruction, ...]:
    return (*quote.setup, quote.swap, *quote.other)
