"""What was found in a wallet."""

from collections.abc import Sequence
from dataclasses import dataclass

from sweepapi.solana.cluster.clusters import Cluster, OutputToken
from sweepapi.solana.worth.economics import LegEconomics
from sweepapi.worth.summary import Reference
from sweeps.protocol.verdicts import SELLABLE, Exclusion, ExplainedVerdict, TokenVerdict, taxed
from sweeps.rails.solana_v1.discover.basket import SolanaBasket
from sweeps.rails.solana_v1.discover.ranking import AccountPage
from sweeps.rails.solana_v1.discover.reclaiming import Reclaimable
from sweeps.rails.solana_v1.obstacles import NOT_FOUND_OUT, PRICE_IMPACT, Obstacle, verdict_on


@dataclass(frozen=True)
class FoundTokenAccount:
    """The balance of one token account."""

    mint: str
    account: str
    amount: int
    decimals: int | None  # None if the mint is unknown
    symbol: str
    name: str
    estimated_output: int | None  # for the user, after the fee; None if it was not quoted
    obstacle: Obstacle | None
    economics: LegEconomics | None  # None if it was not quoted

    tax_bps: int  # what the token keeps of a transfer

    @property
    def verdict(self) -> TokenVerdict | None:
        """Whether it is worth sweeping; None if that was not found out, or if it is the output."""
        return self._if_sold.verdict if self.obstacle is None else verdict_on(self.obstacle)

    @property
    def reason(self) -> str | None:
        """Why it can't be swept or was not quoted, or what to know of it; a stable code."""
        return self._if_sold.reason if self.obstacle is None else self.obstacle.code

    @property
    def message(self) -> str | None:
        """The same in a sentence."""
        return self._if_sold.message if self.obstacle is None else self.obstacle.message

    @property
    def _if_sold(self) -> ExplainedVerdict:
        return taxed(self.tax_bps) if self.tax_bps else SELLABLE

    @property
    def excluded_because(self) -> Exclusion | None:
        """Why it is better not swept, although it can be sold."""
        if self.verdict not in (TokenVerdict.SELLABLE, TokenVerdict.TAXED):
            return None
        if self.obstacle is PRICE_IMPACT:
            return Exclusion.PRICE_IMPACT_TOO_HIGH
        return Exclusion.PRICE_UNKNOWN if self.economics is None or self.economics.net_output is None else None

    @property
    def is_routable(self) -> bool | None:
        """Whether it can be swept; None if that was not found out."""
        return None if self.obstacle in NOT_FOUND_OUT else self.obstacle is None


@dataclass(frozen=True)
class SolanaDiscovery:
    """What one read a wallet found."""

    cluster: Cluster
    wallet: str
    output: OutputToken
    reference: Reference
    tokens: Sequence[FoundTokenAccount]
    reclaimable: Reclaimable
    page: AccountPage
    best_basket: SolanaBasket
    retry_after_seconds: int | None  # until the swap API quotes more; None if it quoted what it was asked for

    @property
    def estimated_output(self) -> int:
        """What the user would receive for all tokens that can be swept."""
        return sum(token.estimated_output or 0 for token in self.tokens if token.is_routable)
