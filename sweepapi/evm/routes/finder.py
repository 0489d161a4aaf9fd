"""From a token to its best route: which pools may exist, which do exist, and what each route through them gives.

There are two stages, each batched with those of the other tokens: ``pool_reads`` finds the pools, and ``quote_read``
quotes a route through those that exist.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product
from types import ModuleType
from typing import Any

from eth_utils.address import to_checksum_address

from sweepapi.evm.abi import Function
from sweepapi.evm.addresses import ZERO_ADDRESS
from sweepapi.evm.chains import Router
from sweepapi.evm.multicall import Read
from sweepapi.evm.routes import uniswap_v2, uniswap_v3
from sweepapi.evm.routes.types import Hop, Quote, Route

KINDS: Mapping[str, ModuleType] = {"uniswap_v2": uniswap_v2, "uniswap_v3": uniswap_v3}

PoolKey = tuple[Router, Hop]


def paths(token: str, output: str, wrapped: str) -> list[tuple[str, ...]]:
    """Return the paths worth quoting: direct, and through the wrapped coin if it is neither end."""
    direct = (token, output)
    return [direct] if wrapped in direct else [direct, (token, wrapped, output)]


def pool_keys(routers: Sequence[Router], pairs: Sequence[tuple[str, str]]) -> list[PoolKey]:
    """Return the key of every pool that may exist for these pairs."""
    return [
        (router, hop)
        for router in routers
        for token_in, token_out in pairs
        for hop in KINDS[router.kind].hops(router, token_in, token_out)
    ]


def pool_reads(keys: Sequence[PoolKey]) -> list[Read]:
    """Return the reads of the pools' addresses, in the same order."""
    return [KINDS[router.kind].pool_read(router, hop) for router, hop in keys]


def existing_pools(keys: Sequence[PoolKey], results: Sequence[Any]) -> dict[PoolKey, str]:
    """Return the addresses of the pools that exist, from the results of ``pool_reads``."""
    return {
        key: to_checksum_address(result[0])
        for key, result in zip(keys, results, strict=True)
        if result is not None and result[0] != ZERO_ADDRESS
    }


def routes(routers: Sequence[Router], path: Sequence[str], pools: Mapping[PoolKey, str]) -> Iterator[Route]:
    """Yield every route along this path through existing pools of a single router."""
    for router in routers:
        steps = [
            [hop for hop in KINDS[router.kind].hops(router, *pair) if (router, hop) in pools] for pair in pairwise(path)
        ]
        for hops in product(*steps):
            yield Route(router, hops, tuple(pools[router, hop] for hop in hops))


def quote_read(route: Route, amount: int) -> Read:
    """Return the read that quotes this route."""
    read: Read = KINDS[route.router.kind].quote_read(route, amount)
    return read


def best_quote(candidates: Sequence[Route], results: Sequence[Any]) -> Quote | None:
    """Return the quote with the largest output, the first of equal ones; None if no route can swap the amount."""
    quotes = [
        Quote(route, output)
        for route, result in zip(candidates, results, strict=True)
        if result is not None and (output := KINDS[route.router.kind].quoted_output(result)) is not None
    ]
    best = max(quotes, key=lambda quote: quote.expected_output, default=None)
    return best if best is not None and best.expected_output > 0 else None


def swaps(router: Router) -> tuple[Function, ...]:
    """Return the functions of this router that ``swap_call`` may call; the contracts' allow-list must contain them."""
    functions: tuple[Function, ...] = KINDS[router.kind].SWAPS
    return functions


def factory_reads(router: Router) -> Iterator[tuple[str, Read]]:
    """Yield each read that must return the router's configured factory, with a name for it."""
    kind = KINDS[router.kind]
    yield f"factory of {router.name}'s router", Read(router.address, kind.ROUTERS_FACTORY)
    yield f"factory of {router.name}'s quoter", Read(router.quoter, kind.QUOTERS_FACTORY)


def swap_call(route: Route, *, amount_in: int, min_output: int, recipient: str) -> bytes:
    """Return the calldata that swaps along this route; ``amount_in`` is zero for a prefunded swap."""
    calldata: bytes = KINDS[route.router.kind].swap_call(
        route, amount_in=amount_in, min_output=min_output, recipient=recipient
    )
    return calldata
