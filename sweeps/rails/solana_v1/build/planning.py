"""Plans a sweep on Solana: facts, quotes, and transactions that simulations have proven.

Three HTTP requests to the cluster, however many tokens (``facts``, ``composing``, ``proving``), and one to the swap API
for each token. A fourth one to the cluster only if the last seems to show that a transaction does too much.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import structlog
from solders.pubkey import Pubkey

from partners.models import Partner
from sweepapi.errors import ChainUnavailable, FieldError, NoRoute, SwapUnavailable
from sweepapi.networks import Networks
from sweepapi.rpc import ProviderPool
from sweepapi.rpc.errors import ChainUnavailableError
from sweepapi.solana.encoding.accounts import Holding
from sweepapi.solana.encoding.addresses import WRAPPED_SOL
from sweepapi.solana.encoding.errors import LegTooLargeError, UnsafeSwapError
from sweepapi.solana.packing import compute_budget
from sweepapi.solana.packing.guard import Output
from sweepapi.solana.packing.packing import Packed
from sweepapi.solana.swap_api import SwapApiError
from sweepapi.solana.tokens.mints import Mint
from sweepapi.solana.trial.effects import TransactionTerms
from sweepapi.worth.losses import PRICE_IMPACT
from sweeps.models import Sweep
from sweeps.protocol.rail import BuildWarning, FeeTerms, OutputAsset, symbol_warnings
from sweeps.protocol.refusing import most_impact_bps
from sweeps.protocol.request import BuildRequest
from sweeps.protocol.value_warnings import is_high
from sweeps.rails.solana_v1.build.closings import closed_by
from sweeps.rails.solana_v1.build.composing import ClusterMarket, check_instructions, compose, read_market
from sweeps.rails.solana_v1.build.facts import ClusterFacts, read_facts
from sweeps.rails.solana_v1.build.proving import Proven, prove
from sweeps.rails.solana_v1.build.quoting import quote_tokens
from sweeps.rails.solana_v1.build.refusals import (
    refuse_high_impacts,
    refuse_insufficient_lamports,
    refuse_losses,
    sellable_tokens,
    usable_output,
)
from sweeps.rails.solana_v1.build.stages import SolanaSimulated, SolanaToken, SolanaTransaction
from sweeps.rails.solana_v1.build.terms import SwapTerms, output_of

log = structlog.get_logger(__name__)

RETRY_AFTER_SECONDS = 5


def plan_v1(
    *, registry: Networks, partner: Partner, request: BuildRequest, renewed: Sweep | None = None
) -> SolanaSimulated:
    """Plan a sweep under the terms of the ``renewed`` one, or those of today.

    Raises ``InvalidRequest``, ``NoRoute``, ``InsufficientBalance``, ``InsufficientOutput``, ``TokensRefused``,
    ``BuildDisabled`` if the fee can't be paid, ``ChainUnavailable``, and ``SwapUnavailable`` if the swap API fails or
    wants too much.
    """
    cluster, pool = registry.cluster(request.network), registry.pool(request.network)
    output = output_of(cluster, request.output_asset)
    fees = FeeTerms.of(renewed) if renewed is not None else FeeTerms.of_today(partner, registry.fee_wallet)
    with _failures_named(request):
        facts = read_facts(pool, request, registry.fee_wallet)
        sellable = sellable_tokens(request, facts)
        output_mint, fee_account = usable_output(facts)
        planning = _Planning(request, facts, fees, output_mint, fee_account, cluster.max_priority_fee_lamports)
        tokens = quote_tokens(registry.swap_api, sellable, facts, planning.swap_terms, fees)
        refuse_high_impacts(tokens, most_bps=most_impact_bps(request.accepted_impact_bps))
        check_instructions(tokens, facts, cluster, fees)
        market = read_market(pool, tokens)
        transactions = planning.transactions(pool, tokens, market)
    symbols = {str(key): name.symbol for key, name in facts.names.items()}
    return SolanaSimulated(
        partner=partner,
        request=request,
        output=OutputAsset(output.mint, output.symbol, output.decimals),
        fees=fees,
        tokens=tokens,
        height=facts.slot,
        cluster=cluster,
        fee_account=planning.fee_account,
        transactions=transactions,
        blocks_left=market.blocks_left,
        left_out=(),
        warnings=[*symbol_warnings(request.tokens, symbols), *_impact_warnings(tokens)],
    )


def _impact_warnings(tokens: Sequence[SolanaToken]) -> Iterator[BuildWarning]:
    for token in tokens:
        impact_bps = token.quote.price_impact_bps
        if is_high(impact_bps):
            yield BuildWarning("price_impact_high", PRICE_IMPACT.format(impact_bps), token.asset)


@contextmanager
def _failures_named(request: BuildRequest) -> Iterator[None]:
    """Turn the failures of the cluster and of the swap API into the errors of a build."""
    try:
        yield
    except ChainUnavailableError as error:
        raise ChainUnavailable(retry_after_seconds=RETRY_AFTER_SECONDS) from error
    except SwapApiError as error:
        log.warning("swap_api_failed", network=request.network, error=str(error))
        raise SwapUnavailable(retry_after_seconds=error.retry_after_seconds or RETRY_AFTER_SECONDS) from error
    except UnsafeSwapError as error:
        log.exception("unsafe_swap_refused", network=request.network, wallet=request.wallet, reason=str(error))
        raise SwapUnavailable(retry_after_seconds=RETRY_AFTER_SECONDS) from error
    except LegTooLargeError as error:
        message = "The swap of this amount does not fit into a transaction."
        raise NoRoute(details=[FieldError(f"tokens[{error.index}].mint", "too_large", message)]) from error


@dataclass(frozen=True)
class _Planning:
    """What the transactions of one sweep have in common."""

    request: BuildRequest
    facts: ClusterFacts
    fees: FeeTerms
    output_mint: Mint
    fee_account: Pubkey
    max_priority_fee_lamports: int

    @property
    def swap_terms(self) -> SwapTerms:
        return SwapTerms(
            wallet=self.request.wallet,
            output_mint=self.request.output_asset,
            fee_account=self.fee_account,
            slippage_bps=self.request.slippage_bps,
            fee_bps=self.fees.total_fee_bps,
        )

    @property
    def _output(self) -> Output:
        holding = self.facts.associated(self.facts.output_mint)
        return Output(
            wallet=self.facts.wallet,
            mint=self.facts.output_mint,
            program=self.output_mint.program,
            decimals=self.output_mint.decimals,
            held=0 if holding is None else holding.token.amount,
        )

    def transactions(
        self, pool: ProviderPool, tokens: Sequence[SolanaToken], market: ClusterMarket
    ) -> list[SolanaTransaction]:
        """Compose the transactions and prove them; raises if one does more, or is worth less, than it should."""
        closes_accounts = self.request.close_empty_accounts
        packed = compose(tokens, self.facts, market, self._output, closes_accounts=closes_accounts)
        terms = [self._terms(one, tokens) for one in packed]
        transactions = [
            self._transaction(one, proven, tokens, market)
            for one, proven in zip(packed, prove(pool, packed, terms), strict=True)
        ]
        refuse_insufficient_lamports(self.facts, transactions)
        if self.facts.output_mint == WRAPPED_SOL:
            refuse_losses(transactions)
        return transactions

    def _terms(self, packed: Packed, tokens: Sequence[SolanaToken]) -> TransactionTerms:
        sold = [tokens[position] for position in packed.legs]
        return TransactionTerms(
            wallet=self.facts.wallet,
            swept={token.holding.key: token.amount for token in sold},
            output_mint=self.facts.output_mint,
            minimum=sum(token.quote.threshold for token in sold),
            fee_account=self.fee_account,
            fees=self.fees,
            legs=len(sold),
            closed=frozenset(holding.key for holding in self._closes(packed)),
            fee_lamports=compute_budget.LAMPORTS_PER_SIGNATURE,
            token_account_rent=self.facts.token_account_rent,
        )

    def _transaction(
        self, packed: Packed, proven: Proven, tokens: Sequence[SolanaToken], market: ClusterMarket
    ) -> SolanaTransaction:
        limit = compute_budget.unit_limit(proven.units)
        price = compute_budget.unit_price(
            market.recent_prices, unit_limit=limit, max_lamports=self.max_priority_fee_lamports
        )
        return SolanaTransaction(
            packed=packed,
            mints=[tokens[position].asset for position in packed.legs],
            message=packed.message(market.blockhash.blockhash, unit_limit=limit, unit_price=price),
            last_valid_block_height=market.blockhash.last_valid_block_height,
            unit_limit=limit,
            unit_price=price,
            effects=proven.effects,
            creates=proven.creates,
            closes=self._closes(packed),
        )

    def _closes(self, packed: Packed) -> list[Holding]:
        return closed_by(packed, self.facts.holdings)
