"""What the ledger's CSV files share: they are written in pieces, and can't harm the spreadsheet that opens them."""

import unicodedata

_FORMULA_STARTS = ("=", "+", "-", "@")  # of a cell that a spreadsheet runs


class Echo:
    """A file for ``csv`` whose writes return what is written."""

    def write(self, text: str) -> str:
        return text


def inert(symbol: str) -> str:
    """Return a symbol so that no spreadsheet runs it, also if white space or full-width characters disguise it."""
    runs = unicodedata.normalize("NFKC", symbol).lstrip().startswith(_FORMULA_STARTS)
    return f"'{symbol}" if runs else symbol
