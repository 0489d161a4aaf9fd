"""Keeps what rarely changes on a chain: what tokens report about themselves, and where pools exist.

Each process keeps its own entries for each chain. Anyone can name tokens, so their number is limited; the least
recently used ones are dropped. A failed read is not kept. Nothing that is kept is trusted with money: amounts are in
smallest units, every pool is quoted in every build, and the whole sweep is simulated. So a pool that a reorganization
removed gives no quote, and what a provider got wrong costs a route, or shows wrong decimals, until it expires.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from time import monotonic
from typing import Any

from sweepapi.evm.chain.multicall import Read
from sweepapi.evm.pools import finder
from sweepapi.evm.pools.finder import PoolKey
from sweepapi.evm.tokens.erc20 import (
    ACCOUNT_READS,
    IDENTITY_READS,
    TokenFacts,
    TokenIdentity,
    identity_reads,
    token_facts,
    token_identity,
)
from sweepapi.expiring import ExpiringMap
from sweepapi.rpc.errors import CallFailedError

TOKEN_SECONDS = POOL_SECONDS = 3_600  # neither changes unless the token's owner replaces its code, or after a reorg
MISSING_POOL_SECONDS = 60  # how long a new pool may stay unnoticed
MAX_TOKENS, MAX_POOLS = 1_000, 30_000  # about 20 MB for each chain


@dataclass(frozen=True)
class TokenAnswer:
    """What is known of a token after it was asked."""

    token: str
    facts: TokenFacts | None  # None if it is not a token
    pools: Mapping[PoolKey, str]  # those that exist
    new_identity: TokenIdentity | None  # None if it was known, or incomplete
    new_pools: Mapping[PoolKey, str | None]


@dataclass(frozen=True)
class TokenLookup:
    """What was known of a token, and the reads of what was not."""

    token: str
    places: Sequence[PoolKey]  # where its pools may be
    identity: TokenIdentity | None  # None if it has to be read
    pools: Mapping[PoolKey, str | None]  # None where there is none

    @cached_property
    def _unknown(self) -> Sequence[PoolKey]:
        return [place for place in self.places if place not in self.pools]

    @property
    def reads(self) -> list[Read]:
        """The reads to make after those of an account."""
        own = identity_reads(self.token) if self.identity is None else []
        return [*own, *finder.pool_reads(self._unknown)]

    def answered(self, answer: Any) -> TokenAnswer:  # noqa: ANN401 - a list of decoded reads, or the failure of all
        """Return what the reads of an account and the reads above show."""
        if isinstance(answer, CallFailedError):
            return TokenAnswer(self.token, None, self._existing(self.pools), None, {})
        results = iter(answer)
        account = list(islice(results, ACCOUNT_READS))
        reported = token_identity(list(islice(results, IDENTITY_READS))) if self.identity is None else None
        new_pools = finder.pools_at(self._unknown, list(results))
        return TokenAnswer(
            token=self.token,
            facts=token_facts(self.identity or reported, account),
            pools=self._existing({**self.pools, **new_pools}),
            new_identity=reported if reported is not None and reported.symbol and reported.name else None,
            new_pools=new_pools,
        )

    def _existing(self, pools: Mapping[PoolKey, str | None]) -> dict[PoolKey, str]:
        """Return those that exist, in the order of the places, whichever were known before."""
        return {place: pool for place in self.places if (pool := pools.get(place)) is not None}


class LastingFacts:
    """What is known of one chain."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._tokens: ExpiringMap[str, TokenIdentity] = ExpiringMap(max_entries=MAX_TOKENS, clock=clock)
        self._pools: ExpiringMap[PoolKey, str | None] = ExpiringMap(max_entries=MAX_POOLS, clock=clock)

    def lookups(self, places: Mapping[str, Sequence[PoolKey]]) -> list[TokenLookup]:
        """Return what has to be read of tokens, given where the pools of each may be."""
        tokens = self._tokens.find(places)
        return [TokenLookup(token, at, tokens.get(token), self._pools.find(at)) for token, at in places.items()]

    def keep(self, answers: Sequence[TokenAnswer]) -> None:
        """Keep what is new in these; what was known before keeps its age."""
        identities = {one.token: one.new_identity for one in answers if one.new_identity is not None}
        pools = {place: pool for one in answers for place, pool in one.new_pools.items()}
        self._tokens.keep(identities, seconds=TOKEN_SECONDS)
        self._pools.keep({at: pool for at, pool in pools.items() if pool is not None}, seconds=POOL_SECONDS)
        self._pools.keep({at: None for at, pool in pools.items() if pool is None}, seconds=MISSING_POOL_SECONDS)
