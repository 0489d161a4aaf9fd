"""Mid prices: what tokens are worth before a trade, and without fees, in the deepest listed pool of each pair.

The price of a pair and the depth of its pools are measured in one of its two tokens: the wrapped coin if the pair has
it, else the output. An attacker may mint the other token, and set any price in a new pool. Such a pool only becomes the
deepest one if it holds more of the wrapped coin, or of the output, than all others.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from sweepapi.evm.chain.multicall import Read
from sweepapi.evm.pools.finder import Pools
from sweepapi.evm.pools.sources import SOURCES
from sweepapi.evm.pools.types import Spot

Pair = tuple[str, str]  # a token, and the one in which its price and the depth of its pools are measured


@dataclass(frozen=True)
class PricedPool:
    """A pool that shows the price of a pair."""

    kind: str
    address: str
    pair: Pair

    @property
    def reads(self) -> list[Read]:
        """The reads whose results ``spot`` takes."""
        return SOURCES[self.kind].spot_reads(self.address, self.pair[1])

    def spot(self, results: Sequence[Any]) -> Spot | None:
        """Return what the pool shows; None if it is empty, or if one of the reads failed."""
        if None in results:
            return None
        token, other = self.pair
        return SOURCES[self.kind].spot(results, token_is_first=int(token, 16) < int(other, 16))


@dataclass(frozen=True)
class PricedPools:
    """Every pool that exists, by the two tokens that it trades."""

    by_tokens: Mapping[frozenset[str], Mapping[str, str]]  # the kinds by address

    @classmethod
    def of(cls, pools: Pools) -> "PricedPools":
        by_tokens: dict[frozenset[str], dict[str, str]] = defaultdict(dict)
        for key, address in pools.items():
            by_tokens[frozenset((key.hop.token_in, key.hop.token_out))][address] = key.kind
        return cls(by_tokens)

    def pricing(self, pairs: Sequence[Pair]) -> list[PricedPool]:
        """Return the pools of these pairs."""
        return [
            PricedPool(kind, address, pair)
            for pair in pairs
            for address, kind in self.by_tokens.get(frozenset(pair), {}).items()
        ]


def shown(pools: Sequence[PricedPool], results: Sequence[Any]) -> dict[PricedPool, Spot]:
    """Return what each pool with liquidity shows; the results begin with those of the pools' reads."""
    rest = iter(results)
    spots = {pool: pool.spot([next(rest) for _ in pool.reads]) for pool in pools}
    return {pool: spot for pool, spot in spots.items() if spot is not None}


@dataclass(frozen=True)
class MidPrices:
    """The mid price of each pair that has a pool with liquidity, in smallest units."""

    by_pair: Mapping[Pair, Fraction]

    @classmethod
    def of(cls, spots: Mapping[PricedPool, Spot]) -> "MidPrices":
        """Return the price in the deepest pool of each pair."""
        deepest: dict[Pair, Spot] = {}
        for pool, spot in spots.items():
            if pool.pair not in deepest or spot.depth > deepest[pool.pair].depth:
                deepest[pool.pair] = spot
        return cls({pair: spot.price for pair, spot in deepest.items()})

    def along(self, path: Sequence[str]) -> Fraction | None:
        """Return the price of a path's first token in its last; None if a step has no price."""
        price = Fraction(1)
        for token_in, token_out in pairwise(path):
            step = self._step(token_in, token_out)
            if step is None:
                return None
            price *= step
        return price

    def _step(self, token_in: str, token_out: str) -> Fraction | None:
        if token_in == token_out:
            return Fraction(1)
        if (token_in, token_out) in self.by_pair:
            return self.by_pair[token_in, token_out]
        inverse = self.by_pair.get((token_out, token_in))
        return None if inverse is None else 1 / inverse


@dataclass(frozen=True)
class GasCosts:
    """What a unit of gas costs, in any token with a mid price."""

    wei: int  # zero if the gas price is not known
    prices: MidPrices
    wrapped: str

    def per_unit(self, token: str) -> Fraction:
        """Return the cost in a token; without a price zero, which compares ways by their gross output."""
        return self.wei * (self.prices.along((self.wrapped, token)) or Fraction(0))
