"""What one transaction of a sweep does, in a sentence for the user who signs it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sweepapi.token_amounts import whole_tokens

_MAX_NAMES = 4
# Symbols are what mints say: one that could read as a message is replaced by its mint.
_SYMBOL = re.compile(r"[A-Za-z0-9$]{1,10}", re.ASCII)
_SOL_DECIMALS = 9


def name_of(mint: str, symbol: str) -> str:
    """Return the symbol of a token if it looks like one, and else the ends of its mint."""
    return symbol if _SYMBOL.fullmatch(symbol) else f"{mint[:4]}…{mint[-4:]}"


@dataclass(frozen=True, kw_only=True)
class Deeds:
    """What a transaction does to a wallet."""

    sold: Sequence[str] = ()  # names
    received: str = ""  # for what is sold, after the fee
    burnt: Sequence[str] = ()  # names
    unwrapped_lamports: int = 0
    closed: int = 0  # token accounts
    overfunded: int = 0  # token accounts that stay open, and hold more than their rent
    rent_lamports: int = 0  # which all of them return

    @property
    def sentence(self) -> str:
        """All of it in a sentence."""
        parts = [
            f"sells {_named(self.sold)} for about {self.received}" if self.sold else "",
            f"burns {_named(self.burnt)}" if self.burnt else "",
            f"unwraps {_sol(self.unwrapped_lamports)}" if self.unwrapped_lamports else "",
            f"closes {_accounts(self.closed)}" if self.closed else "",
            f"withdraws what {_accounts(self.overfunded)} held above the rent" if self.overfunded else "",
            f"returns {_sol(self.rent_lamports)}" if self.closed or self.overfunded else "",
        ]
        sentence = _listed([part for part in parts if part])
        return f"{sentence[0].upper()}{sentence[1:]}."


def _accounts(count: int) -> str:
    return "a token account" if count == 1 else f"{count} token accounts"


def _named(names: Sequence[str]) -> str:
    return _listed(names) if len(names) <= _MAX_NAMES else f"{len(names)} tokens"


def _listed(parts: Sequence[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def _sol(lamports: int) -> str:
    return f"{whole_tokens(lamports, _SOL_DECIMALS)} SOL"
