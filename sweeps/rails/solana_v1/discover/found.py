"""What was found in a wallet."""

from collections.abc import Sequence
from dataclasses import dataclass

from sweepapi.solana.cluster.clusters import Cluster, OutputToken
from sweeps.rails.solana_v1.build.obstacles import NOT_QUOTED, Obstacle


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

    @property
    def is_routable(self) -> bool | None:
        """Whether it can be swept; None if that was not found out."""
        return None if self.obstacle is NOT_QUOTED else self.obstacle is None


@dataclass(frozen=True)
class EmptyAccount:
    """A token account that holds nothing but its rent, which its owner gets back by closing it."""

    account: str
    mint: str
    lamports: int


@dataclass(frozen=True)
class SolanaDiscovery:
    """What one read a wallet found."""

    cluster: Cluster
    wallet: str
    output: OutputToken
    tokens: Sequence[FoundTokenAccount]
    empty_accounts: Sequence[EmptyAccount]
    omitted_accounts: int  # more than one reading takes

    @property
    def estimated_output(self) -> int:
        """What the user would receive for all tokens that can be swept."""
        return sum(token.estimated_output or 0 for token in self.tokens if token.is_routable)

    @property
    def reclaimable_lamports(self) -> int:
        """What closing the empty accounts gives back."""
        return sum(account.lamports for account in self.empty_accounts)
