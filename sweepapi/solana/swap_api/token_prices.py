"""Prices of tokens in dollars, from the swap API's price interface: they rank what a wallet holds, and decide nothing.

All processes remember them for a while, also that a token has none.

Source: Jupiter's Price API V3, ``GET /price/v3``, which takes 50 mints and leaves out those without a reliable price.
"""

import json
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import structlog
from redis import Redis
from solders.pubkey import Pubkey

from sweepapi.limits.shared_redis import SharedRedis
from sweepapi.solana.swap_api import fields
from sweepapi.solana.swap_api.connection import SwapApiConnection
from sweepapi.solana.swap_api.decoding import parsed
from sweepapi.solana.swap_api.pace import Pace
from sweepapi.solana.swap_api.quotes import SwapApiError

log = structlog.get_logger(__name__)

PATH = "/price/v3"
MAX_MINTS = 50  # of a request
MAX_REQUESTS = 10  # for a page
MAX_REMEMBERED = 10_000  # looked up at once
REMEMBERED_SECONDS = 900
PAUSE_SECONDS = 30.0  # after requests without any answer
WORKERS = MAX_REQUESTS  # so that requests without an answer take no longer than one
MAX_SECONDS = 3.0
MAX_BYTES = 2**18
MAX_DECIMALS = 255
MAX_DOLLARS = 1e15


@dataclass(frozen=True)
class TokenPrice:
    """A price that is believed for an order only."""

    dollars: float  # of a whole token
    decimals: int
    liquidity: float  # what can be sold at most, in dollars

    def worth(self, amount: int) -> float:
        """Return about how many dollars an amount in the smallest unit could bring."""
        return min(self.dollars * amount / 10.0**self.decimals, self.liquidity)


Known = Mapping[Pubkey, TokenPrice | None]  # None: the token has none


class TokenPrices:
    """Asks for prices at the pace of discoveries; thread-safe, one per process."""

    def __init__(self, connection: SwapApiConnection, pace: Pace, redis: SharedRedis, prefix: str) -> None:
        self._connection, self._pace, self._redis = connection, pace, redis
        self._prefix = f"{prefix}:price:"
        self._paused_until = 0.0  # monotonic seconds

    def remembered(self, mints: Sequence[Pubkey]) -> Known:
        """Return what is known of the first of these mints without asking."""
        looked_up = mints[:MAX_REMEMBERED]
        if not looked_up:
            return {}
        stored: Any = self._redis.ask(lambda redis: redis.mget([self._key(mint) for mint in looked_up]))
        pairs = zip(looked_up, stored or [], strict=False)
        return {mint: _decoded(text) for mint, text in pairs if text is not None}

    def ask(self, mints: Sequence[Pubkey]) -> Known:
        """Return what the price interface says of the first of these mints, as far as it answers and may be asked."""
        wanted = mints[: MAX_MINTS * MAX_REQUESTS]
        parts = [wanted[at : at + MAX_MINTS] for at in range(0, len(wanted), MAX_MINTS)]
        if not parts or time.monotonic() < self._paused_until:
            return {}
        granted = parts[: self._pace.take(len(parts), for_build=False).count]
        with ThreadPoolExecutor(WORKERS, thread_name_prefix="prices") as executor:
            answers = list(executor.map(self._asked, granted))
        found = {mint: price for answer in answers for mint, price in answer.items()}
        if granted and not found:
            self._paused_until = time.monotonic() + PAUSE_SECONDS
        self._redis.ask(lambda redis: self._remember(redis, found))
        return found

    def _asked(self, mints: Sequence[Pubkey]) -> Known:
        try:
            query = {"ids": ",".join(map(str, mints))}
            reply = self._connection.get(PATH, query, seconds=MAX_SECONDS, max_bytes=MAX_BYTES)
            return prices_in(reply.required(), mints)
        except SwapApiError as error:
            log.warning("prices_failed", error=str(error))
            return {}

    def _remember(self, redis: Redis, found: Known) -> object:
        writing = redis.pipeline(transaction=False)
        for mint, price in found.items():
            writing.set(self._key(mint), _encoded(price), ex=REMEMBERED_SECONDS)
        return writing.execute()

    def _key(self, mint: Pubkey) -> str:
        return f"{self._prefix}{mint}"


def prices_in(body: bytes, mints: Sequence[Pubkey]) -> dict[Pubkey, TokenPrice | None]:
    """Return what an answer says of each of the mints that were asked for; raises ``SwapApiError``."""
    answer = parsed(body)
    return {mint: _price(answer.get(str(mint))) for mint in mints}


def _price(value: object) -> TokenPrice | None:
    """Return a usable price; without a usable liquidity, which bounds it, there is none."""
    if not isinstance(value, dict):
        return None
    dollars = fields.quantity(value.get("usdPrice"), MAX_DOLLARS)
    liquidity = fields.quantity(value.get("liquidity"), MAX_DOLLARS)
    decimals = fields.quantity(value.get("decimals"), MAX_DECIMALS)
    if not dollars or not liquidity or decimals is None:
        return None
    return TokenPrice(dollars, int(decimals), liquidity)


def _encoded(price: TokenPrice | None) -> bytes:
    return b"" if price is None else json.dumps([price.dollars, price.decimals, price.liquidity]).encode()


def _decoded(stored: bytes) -> TokenPrice | None:
    return TokenPrice(*json.loads(stored)) if stored else None
