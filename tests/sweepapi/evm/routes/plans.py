"""Ways and plans for tests, with pools that exist on no chain."""

from sweepapi.evm.chain.chains import Router, SaltRule, Venue
from sweepapi.evm.pools.types import Hop, PoolHop, Quote, Route
from sweepapi.evm.routes.planning import RoutePlan, Way, Ways

A, B, C, OUTPUT, WRAPPED = (f"0x{digit * 40}" for digit in "12345")
VENUE = Venue("v2", 2, "uniswap_v2", A, A, SaltRule.PACKED_PAIR, 30, bytes(4), "0x" + "12" * 32, A, ())
ROUTER = Router("v2", "uniswap_v2", A, A, A, ())


def in_pool(token: str, output: int, *, joined: bool = False) -> Way:
    hop = PoolHop(VENUE, token, WRAPPED if joined else OUTPUT, None, f"{token[:-1]}f")
    return Way(Quote(hop, 1, output), output, is_joined=joined)


def by_router(token: str, output: int) -> Way:
    return Way(Quote(Route(ROUTER, (Hop(token, OUTPUT),), (token,)), 1, output), output)


def wrapped(amount: int, *, joined: bool = True) -> Way:
    """Return the way of the wrapped coin: into the last hop, or to be unwrapped."""
    return Way(None, amount, is_joined=joined)


def last_hop(amount: int, output: int) -> Quote[PoolHop]:
    return Quote(PoolHop(VENUE, WRAPPED, OUTPUT, None, WRAPPED), amount, output)


def both(token: str, direct: int, joined: int) -> Ways:
    return Ways(direct=in_pool(token, direct), joined=in_pool(token, joined, joined=True))


def joined_plan(outputs: dict[str, int], last: int) -> RoutePlan:
    """Return a plan in which all tokens are joined, with what each gives and what the last hop makes of the sum."""
    ways = {token: in_pool(token, output, joined=True) for token, output in outputs.items()}
    return RoutePlan(ways, last_hop(sum(outputs.values()), last))
