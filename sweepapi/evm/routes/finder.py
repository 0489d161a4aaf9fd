"""From a token to its best route: which pools may exist, which do, and what each way through them gives.

Two stages, each of which rides in a batch with the other tokens': ``pool_reads`` asks for the pools, ``quote_reads``
prices the routes through those that exist.
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

Place = tuple[Router, Hop]


def paths(token: str, output: str, wrapped: str) -> list[tuple[str, ...]]:
    """Return the ways worth trying: direct, and through the wrapped coin where it is neither end."""
    direct = (token, output)
    return [direct] if wrapped in direct else [direct, (token, wrapped, output)]


def places(routers: Sequence[Router], pairs: Sequence[tuple[str, str]]) -> list[Place]:
    """Return every place where a pool of these pairs may be."""
    return [
        (router, hop)
        for router in routers
        for token_in, token_out in pairs
        for hop in KINDS[router.kind].hops(router, token_in, token_out)
    ]


def pool_reads(at: Sequence[Place]) -> list[Read]:
    """Return the reads that tell which of the places have a pool, in the same order."""
    return [KINDS[router.kind].pool_read(router, hop) for router, hop in at]


def existing_pools(at: Sequence[Place], answers: Sequence[Any]) -> dict[Place, str]:
    """Return the pools that exist, by place."""
    return {
        place: to_checksum_address(answer[0])
        for place, answer in zip(at, answers, strict=True)
        if answer is not None and answer[0] != ZERO_ADDRESS
    }


def routes(routers: Sequence[Router], path: Sequence[str], pools: Mapping[Place, str]) -> Iterator[Route]:
    """Yield every route along this path through pools that exist, all in one router."""
    for router in routers:
        steps = [
            [hop for hop in KINDS[router.kind].hops(router, *pair) if (router, hop) in pools] for pair in pairwise(path)
        ]
        for hops in product(*steps):
            yield Route(router, hops, tuple(pools[router, hop] for hop in hops))


def quote_read(route: Route, amount: int) -> Read:
    """Return the read that prices this route."""
    read: Read = KINDS[route.router.kind].quote_read(route, amount)
    return read


def best_quote(candidates: Sequence[Route], answers: Sequence[Any]) -> Quote | None:
    """Return the route that gives most, the earlier one of equals; None if none swaps the whole amount for anything."""
    quotes = [
        Quote(route, output)
        for route, answer in zip(candidates, answers, strict=True)
        if answer is not None and (output := KINDS[route.router.kind].quoted_output(answer)) is not None
    ]
    best = max(quotes, key=lambda quote: quote.expected_output, default=None)
    return best if best is not None and best.expected_output > 0 else None


def swaps(router: Router) -> tuple[Function, ...]:
    """Return the functions of this router that ``swap_call`` may call, which are those that the contracts must list."""
    functions: tuple[Function, ...] = KINDS[router.kind].SWAPS
    return functions


def factory_reads(router: Router) -> Iterator[tuple[str, Read]]:
    """Yield, with a name for it, each read that must tell the router's configured factory."""
    kind = KINDS[router.kind]
    yield f"factory of {router.name}'s router", Read(router.address, kind.ROUTERS_FACTORY)
    yield f"factory of {router.name}'s quoter", Read(router.quoter, kind.QUOTERS_FACTORY)


def swap_call(route: Route, *, amount_in: int, min_output: int, recipient: str) -> bytes:
    """Return the calldata that runs this route; ``amount_in`` is zero for a prefunded swap."""
    calldata: bytes = KINDS[route.router.kind].swap_call(
        route, amount_in=amount_in, min_output=min_output, recipient=recipient
    )
    return calldata
