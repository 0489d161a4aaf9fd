"""The tokens of a page that are worth sweeping together, of those whose sales were proven."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from partners.models import Partner
from sweepapi.solana.worth.economics import CoinRates, SweepEconomics
from sweeps.protocol.rail import OutputAsset
from sweeps.rails.solana_v1.build.assembling import Assembly
from sweeps.rails.solana_v1.build.composing import ClusterMarket
from sweeps.rails.solana_v1.build.refusals import needed_lamports
from sweeps.rails.solana_v1.build.stages import SolanaSimulated, SolanaToken, SolanaTransaction


@dataclass(frozen=True)
class ProvenSale:
    """A token, and the transaction that was proven to sell it alone."""

    token: SolanaToken
    transaction: SolanaTransaction

    @property
    def net_output(self) -> int:
        """What it leaves after fee and cost; zero if that is not known."""
        return self.token.economics.net_output or 0


@dataclass(frozen=True)
class SolanaBasket:
    """The tokens, the best first, as a sweep that sells each in a transaction of its own: a build takes fewer."""

    sweep: SolanaSimulated | None = None  # None if nothing is worth it

    @property
    def tokens(self) -> Sequence[SolanaToken]:
        return () if self.sweep is None else self.sweep.tokens

    @property
    def expected_output(self) -> int:
        """What it brings before the fee."""
        return 0 if self.sweep is None else self.sweep.expected.gross_output

    @property
    def economics(self) -> SweepEconomics | None:
        return None if self.sweep is None else self.sweep.economics


def best_basket(  # noqa: PLR0913 what a planned sweep is made of
    sales: Iterable[ProvenSale],
    *,
    partner: Partner,
    assembly: Assembly,
    market: ClusterMarket,
    output: OutputAsset,
    rates: CoinRates,
) -> SolanaBasket:
    """Return the sweep of these sales, none of which costs more than it brings, if it leaves something as a whole."""
    facts = assembly.facts
    chosen = sorted(sales, key=lambda sale: sale.net_output, reverse=True)
    transactions = [
        replace(sale.transaction, packed=replace(sale.transaction.packed, legs=(position,)))
        for position, sale in enumerate(chosen)
    ]
    if not chosen:
        return SolanaBasket()
    sweep = SolanaSimulated(
        partner=partner,
        request=assembly.request,
        output=output,
        fees=assembly.fees,
        tokens=[sale.token for sale in chosen],
        height=facts.slot,
        warnings=(),
        left_out=(),
        cluster=assembly.cluster,
        rates=rates,
        held_lamports=facts.lamports,
        needed_lamports=needed_lamports(facts, transactions),
        fee_account=assembly.fee_account,
        transactions=transactions,
        burns=(),
        accounts_left=0,  # of those that it empties
        blocks_left=market.blocks_left,
        slot_seconds=market.slot_seconds,
    )
    return SolanaBasket(sweep if (sweep.economics.net_output or 0) > 0 else None)
