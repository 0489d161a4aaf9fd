"""Puts a wallet's accounts in an order and cuts a page off: anyone can fill a wallet with thousands of worthless ones.

What the request names comes first, then the tokens of the verified list, then what prices say is worth most, then the
rest in a fixed order. Prices and the list only rank: what is shown of a token is what its quote says.

A page is followed by what was on none before, by the marks of the accounts that were. So nothing is skipped, whatever
the wallet receives or learns a price of meanwhile, and nothing is shown twice.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from solders.pubkey import Pubkey

from sweepapi.networks import Networks
from sweepapi.solana.encoding.accounts import Holding
from sweepapi.solana.swap_api.token_prices import Known, TokenPrice
from sweepapi.solana.swap_api.verified_list import ListState

PAGE_ACCOUNTS = 64  # each is quoted
MARK_BYTES = 8  # of an account's key, of which no one can choose that many
MAX_SHOWN = 20_000  # accounts: a longer cursor does not fit into a body


class PriceState(StrEnum):
    """Which prices a ranking had."""

    NOT_NEEDED = "not_needed"  # the page has room for all
    COMPLETE = "complete"
    PARTIAL = "partial"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True)
class AccountPage:
    """The accounts that are looked at, the best first, and what is known of the order."""

    holdings: Sequence[Holding]
    left: int  # accounts for later pages
    verified_list: ListState
    prices: PriceState
    shown: bytes  # the marks of the accounts of this page and of those before

    @property
    def next_place(self) -> bytes | None:
        """Where the next page begins; None if nothing is left, or too much was shown."""
        return self.shown if self.left and len(self.shown) <= MAX_SHOWN * MARK_BYTES else None


@dataclass(frozen=True)
class Ranking:
    """What an order is made of."""

    named: Collection[Pubkey]  # accounts of the tokens that the request names
    verified: Collection[Pubkey]  # mints
    prices: Mapping[Pubkey, TokenPrice | None] = field(default_factory=dict)  # by mint

    def ordered(self, holdings: Iterable[Holding]) -> list[Holding]:
        """Return the accounts, the best first."""
        return sorted(holdings, key=self._place)

    def _place(self, holding: Holding) -> tuple[int, float, bytes]:
        mint, price = holding.token.mint, self.prices.get(holding.token.mint)
        worth = 0.0 if price is None else price.worth(holding.token.amount)
        if holding.key in self.named:
            return 0, -worth, bytes(holding.key)
        # Swaps take from associated accounts only, and anyone can create a thousand others of a verified token.
        if (worth or mint in self.verified) and not holding.is_associated:
            return 2, 0.0, bytes(holding.key)
        return (1 if mint in self.verified else 2), -worth, bytes(holding.key)


def page_of(
    registry: Networks, holdings: Sequence[Holding], candidates: Collection[Pubkey], place: bytes | None
) -> AccountPage:
    """Return the best of the accounts that were on no page before, which the ``place`` names."""
    before = place or b""
    shown = {before[at : at + MARK_BYTES] for at in range(0, len(before), MARK_BYTES)}
    left = [holding for holding in holdings if _mark(holding) not in shown]
    listed = registry.verified_list.read()
    ranking = Ranking(_accounts_of(candidates, left), listed.mints)
    ordered, prices = ranking.ordered(left), PriceState.NOT_NEEDED
    if len(left) > PAGE_ACCOUNTS:
        mints = [holding.token.mint for holding in ordered if holding.key not in ranking.named]
        known, prices = _prices(registry, list(dict.fromkeys(mints)))
        ordered = Ranking(ranking.named, listed.mints, known).ordered(left)
    page = ordered[:PAGE_ACCOUNTS]
    return AccountPage(page, len(left) - len(page), listed.state, prices, before + b"".join(map(_mark, page)))


def _prices(registry: Networks, mints: Sequence[Pubkey]) -> tuple[Known, PriceState]:
    """Return the prices that are remembered, and those of the first mints among the others."""
    remembered = registry.token_prices.remembered(mints)
    asked = registry.token_prices.ask([mint for mint in mints if mint not in remembered])
    known = {**remembered, **asked}
    if not known:
        return known, PriceState.UNAVAILABLE
    return known, PriceState.COMPLETE if len(known) == len(mints) else PriceState.PARTIAL


def _accounts_of(candidates: Collection[Pubkey], holdings: Iterable[Holding]) -> frozenset[Pubkey]:
    """Return one account of each candidate: that from which swaps take, or else the one with most."""
    best: dict[Pubkey, Holding] = {}
    for holding in holdings:
        mint = holding.token.mint
        if mint in candidates and (mint not in best or _usefulness(holding) > _usefulness(best[mint])):
            best[mint] = holding
    return frozenset(holding.key for holding in best.values())


def _usefulness(holding: Holding) -> tuple[bool, int]:
    return holding.is_associated, holding.token.amount


def _mark(holding: Holding) -> bytes:
    return bytes(holding.key)[:MARK_BYTES]
