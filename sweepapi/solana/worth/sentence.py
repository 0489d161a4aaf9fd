"""What one transaction of a sweep does, in a sentence for the user who signs it."""

import re
from collections.abc import Sequence

from sweepapi.token_amounts import whole_tokens

_MAX_NAMES = 4
# Symbols are what mints say: one that could read as a message is replaced by its mint.
_SYMBOL = re.compile(r"[A-Za-z0-9$]{1,10}", re.ASCII)
_SOL_DECIMALS = 9


def name_of(mint: str, symbol: str) -> str:
    """Return the symbol of a token if it looks like one, and else the ends of its mint."""
    return symbol if _SYMBOL.fullmatch(symbol) else f"{mint[:4]}…{mint[-4:]}"


def transaction_sentence(
    sold: Sequence[str], *, burnt: Sequence[str], received: str, closed: int, returned_lamports: int
) -> str:
    """Return what a transaction sells, for how much after the fee, burns and closes, and what that returns."""
    accounts = "a token account" if closed == 1 else f"{closed} token accounts"
    parts = [
        f"sells {_named(sold)} for about {received}" if sold else "",
        f"burns {_named(burnt)}" if burnt else "",
        f"closes {accounts}" if closed else "",
        f"returns {whole_tokens(returned_lamports, _SOL_DECIMALS)} SOL" if closed else "",
    ]
    sentence = _listed([part for part in parts if part])
    return f"{sentence[0].upper()}{sentence[1:]}."


def _named(names: Sequence[str]) -> str:
    return _listed(names) if len(names) <= _MAX_NAMES else f"{len(names)} tokens"


def _listed(parts: Sequence[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
