"""The tokens that the swap API's token interface calls verified: a long list that one of all processes reads in hours.

It only ranks what a wallet holds. An old list is better than none, so it is kept for days while no newer one comes.

Source: Jupiter's Tokens API V2, ``GET /tag?query=verified``.
"""

import time
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import structlog
from solders.pubkey import Pubkey

from sweepapi.forking import ForkSafeLock
from sweepapi.limits.shared_redis import SharedRedis
from sweepapi.solana.encoding.addresses import public_key
from sweepapi.solana.swap_api import fields
from sweepapi.solana.swap_api.connection import SwapApiConnection
from sweepapi.solana.swap_api.decoding import json_of
from sweepapi.solana.swap_api.pace import Pace
from sweepapi.solana.swap_api.quotes import SwapApiError

log = structlog.get_logger(__name__)

PATH, QUERY = "/tokens/v2/tag", {"query": "verified"}
FRESH_SECONDS = 6 * 3600
KEPT_SECONDS = 7 * 24 * 3600
RETRY_SECONDS = 60  # after an attempt of whichever process
MAX_SECONDS = 5.0
MAX_BYTES = 2**25  # some thousand tokens have about two kilobytes each
MAX_TOKENS = 50_000
_TIME_BYTES = 8


class ListState(StrEnum):
    """Which list a ranking had."""

    COMPLETE = "complete"
    STALE = "stale"  # an old one
    UNAVAILABLE = "unavailable"  # none


@dataclass(frozen=True)
class VerifiedTokens:
    """A list, and when it was read in seconds since 1970."""

    mints: Collection[Pubkey] = frozenset()
    read_at: int = 0

    @property
    def is_fresh(self) -> bool:
        return time.time() - self.read_at < FRESH_SECONDS

    @property
    def state(self) -> ListState:
        if not self.mints:
            return ListState.UNAVAILABLE
        return ListState.COMPLETE if self.is_fresh else ListState.STALE

    def encoded(self) -> bytes:
        return self.read_at.to_bytes(_TIME_BYTES, "big") + b"".join(map(bytes, self.mints))

    @classmethod
    def decoded(cls, stored: bytes) -> "VerifiedTokens":
        """Read what ``encoded`` wrote."""
        keys = range(_TIME_BYTES, len(stored), Pubkey.LENGTH)
        mints = frozenset(Pubkey.from_bytes(stored[at : at + Pubkey.LENGTH]) for at in keys)
        return cls(mints, int.from_bytes(stored[:_TIME_BYTES], "big"))


class VerifiedList:
    """The newest list that any process read; thread-safe, one per process."""

    def __init__(self, connection: SwapApiConnection, pace: Pace, redis: SharedRedis, prefix: str) -> None:
        self._connection, self._pace, self._redis = connection, pace, redis
        self._key = f"{prefix}:verified"
        self._newest = VerifiedTokens()
        self._lock = ForkSafeLock()
        self._asked_at = float("-inf")  # in monotonic seconds; it counts while Redis is away

    def read(self) -> VerifiedTokens:
        """Return the list, which is empty if there is none; asks for a newer one if it is old and our turn."""
        if not self._newest.is_fresh:
            self._keep_newer(self._stored())
        if not self._newest.is_fresh and self._is_our_turn():
            self._ask()
        return self._newest

    def _keep_newer(self, listed: VerifiedTokens) -> None:
        if listed.read_at > self._newest.read_at:
            self._newest = listed

    def _stored(self) -> VerifiedTokens:
        stored: Any = self._redis.ask(lambda redis: redis.get(self._key))
        return VerifiedTokens() if stored is None else VerifiedTokens.decoded(stored)

    def _is_our_turn(self) -> bool:
        """Whether no one asked within the last minute; if so, no one else does within the next."""
        turn = self._redis.ask(lambda redis: bool(redis.set(f"{self._key}:asked", b"", nx=True, ex=RETRY_SECONDS)))
        if turn is not None:
            return turn
        with self._lock:
            is_ours = time.monotonic() - self._asked_at >= RETRY_SECONDS
            if is_ours:
                self._asked_at = time.monotonic()
            return is_ours

    def _ask(self) -> None:
        if not self._pace.take(1, for_build=False).count:
            return
        try:
            reply = self._connection.get(PATH, QUERY, seconds=MAX_SECONDS, max_bytes=MAX_BYTES)
            listed = VerifiedTokens(verified_mints(reply.required()), int(time.time()))
        except SwapApiError as error:
            log.warning("verified_list_failed", error=str(error))
            return
        self._keep_newer(listed)
        self._redis.ask(lambda redis: redis.set(self._key, listed.encoded(), ex=KEPT_SECONDS))


def verified_mints(body: bytes) -> frozenset[Pubkey]:
    """Return the mints of an answer; a token without a usable one is not listed.

    Raises ``SwapApiError`` for what is not a list, and for an empty one: an old list is better than that.
    """
    tokens = fields.items(json_of(body), "the top level", MAX_TOKENS)
    mints = frozenset(mint for token in tokens if (mint := _verified_mint(token)) is not None)
    if not mints:
        raise SwapApiError("the list of verified tokens has none")
    return mints


def _verified_mint(token: object) -> Pubkey | None:
    if not isinstance(token, dict) or not isinstance(token.get("id"), str) or token.get("isVerified") is False:
        return None
    try:
        return public_key(token["id"])
    except ValueError:
        return None
