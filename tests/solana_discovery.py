"""Discoveries of wallets on the local Solana cluster, and wallets that strangers filled with spam."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from solders.pubkey import Pubkey

from dev.solana import spam
from sweepapi import networks
from sweepapi.api.input.pagination import Scope
from sweepapi.modes import Mode
from sweeps.protocol.request import HoldingsRequest
from sweeps.rails.solana_v1.discover.discovery import discover
from sweeps.rails.solana_v1.serializers.discovery import DiscoverySerializer
from tests.solana_user import DOLLAR, SolanaUser

SCOPE = Scope("wallet accounts", UUID(int=1), Mode.TEST, {})


def look(user: SolanaUser, *, cursor: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return what discovery answers about the user's wallet, as JSON."""
    place = None if cursor is None else SCOPE.unseal(cursor)
    request = HoldingsRequest(user.cluster.network, str(user.key), place=place, **fields)
    found = discover(networks.current(), partner=user.partner, request=request)
    answer: dict[str, Any] = json.loads(json.dumps(DiscoverySerializer(found, context={"scope": SCOPE}).data))
    return answer


def pages(user: SolanaUser, *, cursor: str | None = None, **fields: Any) -> Iterator[dict[str, Any]]:
    """Yield the pages of a discovery to the last one, from a cursor or the first one."""
    while True:
        page = look(user, cursor=cursor, **fields)
        yield page
        cursor = page["coverage"]["nextCursor"]
        if cursor is None:
            return


def reasons(answer: Mapping[str, Any]) -> dict[str, tuple[bool | None, str | None]]:
    return {token["mint"]: (token["routable"], token["reason"]) for token in answer["tokens"]}


def mints_of(answer: Mapping[str, Any]) -> list[str]:
    return [token["mint"] for token in answer["tokens"]]


def put_accounts(user: SolanaUser, count: int, *, amount: int = 5) -> list[Pubkey]:
    """Write associated accounts of made-up mints into a wallet; returns the mints."""
    return spam.put_accounts(user.cluster.faucet, user.key, count, like=user.cluster.usdc, amount=amount)


@dataclass(frozen=True)
class SpammedWallet:
    """The real tokens of a user among a crowd of worthless ones, for which no one trades or knows a price."""

    verified: Sequence[str]
    unverified: Sequence[str]  # with a price

    @classmethod
    def of(
        cls, user: SolanaUser, *, verified: int = 15, unverified: int = 5, spam_accounts: int = 5_000
    ) -> "SpammedWallet":
        """Give a user these numbers of tokens."""
        real = [user.hold((number + 1) * DOLLAR) for number in range(verified + unverified)]
        user.market.verified.update(real[:verified])
        put_accounts(user, spam_accounts)
        return cls([str(mint) for mint in real[:verified]], [str(mint) for mint in real[verified:]])
