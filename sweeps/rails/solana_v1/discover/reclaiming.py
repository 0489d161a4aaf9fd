"""Which accounts of a wallet hold nothing but their rent."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sweepapi.solana.encoding.accounts import Holding
from sweeps.rails.solana_v1.build.closings import is_reclaimable

MAX_LISTED = 500


@dataclass(frozen=True)
class EmptyAccount:
    """A token account that holds nothing but its rent, which its owner gets back by closing it."""

    account: str
    mint: str
    lamports: int


@dataclass(frozen=True)
class EmptyAccounts:
    """Those that are listed, the ones with most rent first, and how many more there are."""

    listed: Sequence[EmptyAccount] = ()
    left: int = 0

    @property
    def lamports(self) -> int:
        """What closing the listed ones gives back."""
        return sum(account.lamports for account in self.listed)


def empty_accounts(holdings: Iterable[Holding], output_mint: str) -> EmptyAccounts:
    """Return the accounts that can be closed, without that of the output."""
    found = [
        EmptyAccount(str(holding.key), str(holding.token.mint), holding.rent_lamports)
        for holding in holdings
        if is_reclaimable(holding, output_mint)
    ]
    found.sort(key=lambda one: (-one.lamports, one.account))
    return EmptyAccounts(found[:MAX_LISTED], max(0, len(found) - MAX_LISTED))
