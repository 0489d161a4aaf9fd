"""From a token to its best swap: which pools may exist, which do exist, and what each way through them gives.

There are two stages, each batched with those of the other tokens: ``pool_reads`` finds the pools, and ``quote_read``
quotes a swap through those that exist: by the contract in one pool of a venue, or by a router along its route.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from typing import Any, NamedTuple

from sweepapi.evm.chain.chains import Router, Venue
from sweepapi.evm.chain.multicall import Read
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.encoding.addresses import ZERO_ADDRESS, eip55
from sweepapi.evm.pools.leg_gas import leg_gas
from sweepapi.evm.pools.sources import SOURCES
from sweepapi.evm.pools.types import MAX_AMOUNT, Hop, PoolHop, Quote, Route, Swap, SwapT
from sweepapi.evm.pools.venues import pool_address


class PoolKey(NamedTuple):
    """A pool that may exist, as its factory knows it; the direction is that of the swap."""

    kind: str
    factory: str
    hop: Hop


Pools = Mapping[PoolKey, str]  # the addresses of those that exist


def paths(token: str, output: str, middles: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the paths worth quoting: direct, and through each of the middle tokens that is neither end."""
    direct = (token, output)
    return [direct, *((token, middle, output) for middle in middles if middle not in direct)]


def pool_keys(places: Sequence[Venue | Router], pairs: Sequence[tuple[str, str]]) -> list[PoolKey]:
    """Return the key of every pool that may exist for these pairs, once where venue and router share a factory."""
    return list(
        dict.fromkeys(
            key for place in places for token_in, token_out in pairs for key in _keys(place, token_in, token_out)
        )
    )


def _keys(place: Venue | Router, token_in: str, token_out: str) -> tuple[PoolKey, ...]:
    return _keys_of(place.kind, place.factory, place.fee_tiers, token_in, token_out)


@lru_cache(maxsize=2**12)  # a build asks for those of each pair several times
def _keys_of(kind: str, factory: str, fee_tiers: tuple[int, ...], token_in: str, token_out: str) -> tuple[PoolKey, ...]:
    return tuple(PoolKey(kind, factory, hop) for hop in SOURCES[kind].hops(fee_tiers, token_in, token_out))


def pool_reads(keys: Sequence[PoolKey]) -> list[Read]:
    """Return the reads of the pools' addresses, in the same order."""
    return [SOURCES[key.kind].pool_read(key.factory, key.hop) for key in keys]


def pools_at(keys: Sequence[PoolKey], results: Sequence[Any]) -> dict[PoolKey, str | None]:
    """Return each pool's address, None if it does not exist, from the results of ``pool_reads`` that did not fail."""
    return {
        key: None if result[0] == ZERO_ADDRESS else eip55(result[0])
        for key, result in zip(keys, results, strict=True)
        if result is not None
    }


def pool_hops(venues: Sequence[Venue], token_in: str, token_out: str, pools: Pools) -> Iterator[PoolHop]:
    """Yield every existing pool of the pair that the contract can call.

    The contract computes the address of a pool; one that the factory reports elsewhere is not there for it.
    """
    for venue in venues:
        for key in _keys(venue, token_in, token_out):
            pool, fee_tier = pools.get(key), key.hop.fee_tier
            if pool is not None and pool == pool_address(venue, token_in, token_out, fee_tier or 0):
                yield PoolHop(venue, token_in, token_out, fee_tier, pool)


def is_of(venue: Venue, router: Router) -> bool:
    """Return whether a router swaps in the pools of a venue."""
    return (venue.kind, venue.factory) == (router.kind, router.factory)


def routes(routers: Sequence[Router], path: Sequence[str], pools: Pools) -> Iterator[Route]:
    """Yield every route along this path through existing pools of a single router."""
    for router in routers:
        steps = [[key for key in _keys(router, *pair) if key in pools] for pair in pairwise(path)]
        for keys in product(*steps):
            yield Route(router, tuple(key.hop for key in keys), tuple(pools[key] for key in keys))


def carries_short_transfers(route: Route) -> bool:
    """Return whether the router swaps what arrives, where a token delivers less than was sent."""
    return SOURCES[route.router.kind].CARRIES_SHORT_TRANSFERS


def quote_read(swap: Swap, amount: int) -> Read:
    """Return the read that quotes this swap."""
    if isinstance(swap, PoolHop):
        return SOURCES[swap.venue.kind].pool_quote_read(swap, amount)
    return SOURCES[swap.router.kind].quote_read(swap, amount)


def quoted(swap: SwapT, amount: int, result: Any) -> Quote[SwapT] | None:  # noqa: ANN401 - the values of a read
    """Return the quote that the result of ``quote_read`` shows; None if the swap can't take the amount."""
    output = None if result is None else _output(swap, amount, result)
    if output is None or amount > MAX_AMOUNT or not 0 < output <= MAX_AMOUNT:
        return None
    return Quote(swap, amount, output, *_limit_and_tick_gas(swap, result))


def best(quotes: Iterable[Quote[SwapT]], *, gas_cost: Fraction) -> Quote[SwapT] | None:
    """Return the quote with the largest output net of its gas, the first of equal ones; None if there is none.

    ``gas_cost`` is what a unit of gas costs in the token that the swaps give.
    """
    return max(quotes, key=lambda quote: quote.expected_output - leg_gas(quote) * gas_cost, default=None)


def _output(swap: Swap, amount: int, result: Any) -> int | None:  # noqa: ANN401 - the values of a read
    if isinstance(swap, PoolHop):
        return SOURCES[swap.venue.kind].pool_output(swap, amount, result)
    return SOURCES[swap.router.kind].quoted_output(result)


def _limit_and_tick_gas(swap: Swap, result: Any) -> tuple[int, int]:  # noqa: ANN401 - as above
    if not isinstance(swap, PoolHop):
        return 0, 0
    source = SOURCES[swap.venue.kind]
    return source.price_limit(swap, result), source.tick_gas(result)


def swaps(router: Router) -> tuple[Function, ...]:
    """Return the functions of this router that ``swap_call`` may call; the contracts' allow-list must contain them."""
    return SOURCES[router.kind].SWAPS


def factory_reads(router: Router) -> Iterator[tuple[str, Read]]:
    """Yield each read that must return the router's configured factory, with a name for it."""
    source = SOURCES[router.kind]
    yield f"factory of {router.name}'s router", Read(router.address, source.ROUTERS_FACTORY)
    yield f"factory of {router.name}'s quoter", Read(router.quoter, source.QUOTERS_FACTORY)


def swap_call(route: Route, *, amount_in: int, min_output: int, recipient: str) -> bytes:
    """Return the calldata that swaps along this route."""
    source = SOURCES[route.router.kind]
    return source.swap_call(route, amount_in=amount_in, min_output=min_output, recipient=recipient)
