"""What a wallet gets back of its rent: from accounts that hold nothing else, and from those that hold more than it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sweepapi.solana.encoding.accounts import Holding
from sweeps.rails.solana_v1.build.closings import Overfunded, is_reclaimable, most_first, overfunded

MAX_LISTED = 500  # of either kind


@dataclass(frozen=True)
class Reclaimable:
    """The accounts that give lamports back, those with most first."""

    empty: Sequence[Holding] = ()
    overfunded: Sequence[Overfunded] = ()

    @property
    def listed_empty(self) -> Sequence[Holding]:
        return self.empty[:MAX_LISTED]

    @property
    def listed_overfunded(self) -> Sequence[Overfunded]:
        return self.overfunded[:MAX_LISTED]

    @property
    def empty_left(self) -> int:
        """How many are not listed."""
        return len(self.empty) - len(self.listed_empty)

    @property
    def overfunded_left(self) -> int:
        """How many are not listed."""
        return len(self.overfunded) - len(self.listed_overfunded)

    @property
    def lamports(self) -> int:
        """What the listed ones give back."""
        return sum(one.rent_lamports for one in self.listed_empty) + sum(one.lamports for one in self.listed_overfunded)


def reclaimable(holdings: Iterable[Holding], output_mint: str, token_account_rent: int) -> Reclaimable:
    """Return what a build closes, all without that of the output, and what it withdraws from the others."""
    empty: list[Holding] = []
    others: list[Holding] = []
    for holding in holdings:
        (empty if is_reclaimable(holding, output_mint) else others).append(holding)
    return Reclaimable(most_first(empty), overfunded(others, token_account_rent))
