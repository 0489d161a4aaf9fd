"""From a token to its best swap: which pools may exist, which do exist, and what each way through them gives.

There are two stages, each batched with those of the other tokens: ``pool_reads`` finds the pools, and ``quote_read``
quotes a swap through those that exist: by the contract in one pool of a venue, or by a router along its route.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from types import ModuleType
from typing import Any

from eth_utils.address import to_checksum_address

from sweepapi.evm.abi import Function
from sweepapi.evm.addresses import ZERO_ADDRESS
from sweepapi.evm.chains import Router, Venue
from sweepapi.evm.multicall import Read
from sweepapi.evm.routes import uniswap_v2, uniswap_v3
from sweepapi.evm.routes.types import MAX_AMOUNT, Hop, PoolHop, Quote, Route, Swap, SwapT
from sweepapi.evm.venues import pool_address

KINDS: Mapping[str, ModuleType] = {"uniswap_v2": uniswap_v2, "uniswap_v3": uniswap_v3}


@dataclass(frozen=True)
class PoolKey:
    """A pool that may exist, as its factory knows it; the direction is that of the swap."""

    kind: str
    factory: str
    hop: Hop


Pools = Mapping[PoolKey, str]  # the addresses of those that exist


def paths(token: str, output: str, wrapped: str) -> list[tuple[str, ...]]:
    """Return the paths worth quoting: direct, and through the wrapped coin if it is neither end."""
    direct = (token, output)
    return [direct] if wrapped in direct else [direct, (token, wrapped, output)]


def pool_keys(places: Sequence[Venue | Router], pairs: Sequence[tuple[str, str]]) -> list[PoolKey]:
    """Return the key of every pool that may exist for these pairs, once where venue and router share a factory."""
    return list(
        dict.fromkeys(
            key for place in places for token_in, token_out in pairs for key in _keys(place, token_in, token_out)
        )
    )


def _keys(place: Venue | Router, token_in: str, token_out: str) -> Iterator[PoolKey]:
    for hop in KINDS[place.kind].hops(place.fee_tiers, token_in, token_out):
        yield PoolKey(place.kind, place.factory, hop)


def pool_reads(keys: Sequence[PoolKey]) -> list[Read]:
    """Return the reads of the pools' addresses, in the same order."""
    return [KINDS[key.kind].pool_read(key.factory, key.hop) for key in keys]


def existing_pools(keys: Sequence[PoolKey], results: Sequence[Any]) -> dict[PoolKey, str]:
    """Return the addresses of the pools that exist, from the results of ``pool_reads``."""
    return {
        key: to_checksum_address(result[0])
        for key, result in zip(keys, results, strict=True)
        if result is not None and result[0] != ZERO_ADDRESS
    }


def pool_hops(venues: Sequence[Venue], token_in: str, token_out: str, pools: Pools) -> Iterator[PoolHop]:
    """Yield every existing pool of the pair that the contract can call.

    The contract computes the address of a pool; one that the factory reports elsewhere is not there for it.
    """
    for venue in venues:
        for key in _keys(venue, token_in, token_out):
            fee_tier = key.hop.fee_tier
            pool = pool_address(venue, token_in, token_out, fee_tier or 0)
            if pools.get(key) == pool:
                yield PoolHop(venue, token_in, token_out, fee_tier, pool)


def routes(routers: Sequence[Router], path: Sequence[str], pools: Pools) -> Iterator[Route]:
    """Yield every route along this path through existing pools of a single router."""
    for router in routers:
        steps = [[key for key in _keys(router, *pair) if key in pools] for pair in pairwise(path)]
        for keys in product(*steps):
            yield Route(router, tuple(key.hop for key in keys), tuple(pools[key] for key in keys))


def carries_short_transfers(route: Route) -> bool:
    """Return whether the router swaps what arrives, where a token delivers less than was sent."""
    carries: bool = KINDS[route.router.kind].CARRIES_SHORT_TRANSFERS
    return carries


def quote_read(swap: Swap, amount: int) -> Read:
    """Return the read that quotes this swap."""
    read: Read
    if isinstance(swap, PoolHop):
        read = KINDS[swap.venue.kind].pool_quote_read(swap, amount)
    else:
        read = KINDS[swap.router.kind].quote_read(swap, amount)
    return read


def best_quote(candidates: Sequence[SwapT], amount: int, results: Sequence[Any]) -> Quote[SwapT] | None:
    """Return the quote with the largest output, the first of equal ones; None if nothing can swap the amount."""
    quotes = [
        Quote(swap, amount, output, _price_limit(swap, result))
        for swap, result in zip(candidates, results, strict=True)
        if result is not None and (output := _output(swap, amount, result)) is not None
    ]
    usable = [quote for quote in quotes if quote.amount_in <= MAX_AMOUNT and 0 < quote.expected_output <= MAX_AMOUNT]
    return max(usable, key=lambda quote: quote.expected_output, default=None)


def _output(swap: Swap, amount: int, result: Any) -> int | None:  # noqa: ANN401 - the values of a read
    output: int | None
    if isinstance(swap, PoolHop):
        output = KINDS[swap.venue.kind].pool_output(swap, amount, result)
    else:
        output = KINDS[swap.router.kind].quoted_output(result)
    return output


def _price_limit(swap: Swap, result: Any) -> int:  # noqa: ANN401 - as above
    limit: int = KINDS[swap.venue.kind].price_limit(swap, result) if isinstance(swap, PoolHop) else 0
    return limit


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
    """Return the calldata that swaps along this route."""
    calldata: bytes = KINDS[route.router.kind].swap_call(
        route, amount_in=amount_in, min_output=min_output, recipient=recipient
    )
    return calldata
