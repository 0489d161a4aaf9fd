"""The tokens of Uniswap's default list: their names are believed, and others should not imitate their symbols.

``dev/pinned/token_list.py`` writes ``listed_tokens.txt`` from a pinned version of the list's package.
"""

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from sweepapi.evm.chain.chains import Chain

LISTED_TOKENS = Path(__file__).parent / "listed_tokens.txt"


def tokens_of(chain_id: int) -> Mapping[str, str]:
    """Return the symbols of the chain's listed tokens by address; none for a chain without."""
    return _by_chain().get(chain_id, {})


def is_listed(chain: Chain, token: str) -> bool:
    """Return whether the chains file or the list has the token."""
    own = (chain.wrapped_native, chain.reference_token, *chain.tokens.values())
    return token in own or token in tokens_of(chain.chain_id)


@cache
def listed_symbols() -> frozenset[str]:
    """Return the symbols of listed tokens on any chain, because those of others are as well known."""
    return frozenset(symbol for tokens in _by_chain().values() for symbol in tokens.values())


@cache
def _by_chain() -> Mapping[int, Mapping[str, str]]:
    tokens: dict[int, dict[str, str]] = defaultdict(dict)
    for line in LISTED_TOKENS.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            chain_id, address, symbol = line.split(" ", 2)
            tokens[int(chain_id)][address] = symbol
    return dict(tokens)
