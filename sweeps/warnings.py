"""What a partner should know about a build, and that does not stop the sweep."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sweeps.rails.rail import TokenInput


@dataclass(frozen=True)
class BuildWarning:
    """A warning about one token."""

    code: str
    message: str
    token: str


def symbol_warnings(tokens: Sequence[TokenInput], symbols: Mapping[str, str]) -> Iterator[BuildWarning]:
    """Yield a warning for each symbol that was sent and is not the token's own."""
    for token in tokens:
        symbol = symbols[token.asset]
        if token.symbol is not None and token.symbol != symbol:
            yield BuildWarning("symbol_differs", f"The token's symbol is {symbol!r}.", token.asset)
