"""Opens a market of many equal tokens, each with one pool, so that a test can fill a sweep with legs of one kind."""

from dev.chain.listing import SIDE, list_tokens
from tests.local_chain import LocalChain, Token


def open_market(chain: LocalChain, count: int, *, kind: str, decimals: int = 18, pool_side: int = SIDE) -> list[Token]:
    """List tokens of which the first two users hold a thousand each; see ``list_tokens``."""
    tokens = list_tokens(
        chain.node,
        chain.contracts,
        [user.address for user in chain.users[:2]],
        count=count,
        kind=kind,
        decimals=decimals,
        pool_side=pool_side,
    )
    return [Token(f"T{i}", token, decimals) for i, token in enumerate(tokens)]
