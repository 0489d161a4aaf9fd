"""The values of a statement and their arithmetic."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Self
from uuid import UUID

from ledger.statements.month import Month
from partners.models import Partner

# After this time no entry is added to a month: numbering takes seconds, or the database ends its transaction.
ENTRIES_ARRIVE_WITHIN = timedelta(minutes=5)


class Column(StrEnum):
    """Where a line's amount is shown, and which of the totals it is part of."""

    ACCRUED = "accrued"
    REVERSED = "reversed"
    PAID = "paid"  # less the payouts that were reversed
    SETTLED_ON_CHAIN = "settled_on_chain"  # less what was reversed


_EFFECTS = {Column.ACCRUED: 1, Column.REVERSED: -1, Column.PAID: -1, Column.SETTLED_ON_CHAIN: 0}


@dataclass(frozen=True, slots=True)
class Line:
    """One entry, as far as it concerns the partner."""

    number: int  # of the partner's entry, whose time decides on the month; lines are in this order
    posted_at: datetime  # in UTC
    entry_id: UUID
    kind: str
    sweep_ref: UUID | None  # None for payouts, which their transaction names
    tx_hash: str
    column: Column
    amount: int  # of the column; below zero if it reverses a payout or a settlement on chain
    is_available: bool  # False while its execution is not final: what is owed for it can't be paid out yet
    is_reversed: bool  # by a later entry, of this month or another

    @property
    def effect(self) -> int:
        """What the line adds to what is owed."""
        return _EFFECTS[self.column] * self.amount

    @property
    def state(self) -> str:
        """What became of the line since, if that matters: ``reversed``, or whether an accrual is ``final``."""
        if self.is_reversed:
            return "reversed"
        if self.column is not Column.ACCRUED:
            return ""
        return "final" if self.is_available else "pending"


@dataclass(frozen=True, slots=True)
class StatementTotals:
    """The sums of one asset from the month's start until after some line."""

    opening: int = 0
    unavailable: int = 0  # the part of the closing balance whose executions are not final
    accrued: int = 0
    reversed: int = 0
    paid: int = 0
    settled_on_chain: int = 0

    @property
    def closing(self) -> int:
        """What is owed."""
        return self.opening + self.accrued - self.reversed - self.paid

    @property
    def final(self) -> int:
        """The part of the closing balance whose executions are final; below zero if a reorganisation left a debt."""
        return self.closing - self.unavailable

    def after(self, line: Line) -> Self:
        """Return the sums after one more line."""
        unavailable = self.unavailable + (0 if line.is_available else line.effect)
        total: int = getattr(self, line.column)
        return replace(self, unavailable=unavailable, **{line.column: total + line.amount})


@dataclass(frozen=True)
class ShownAsset:
    """An asset, and how it is shown if the ledger knows that."""

    network: str
    asset: str
    symbol: str | None = None
    decimals: int | None = None  # None with the symbol


@dataclass(frozen=True)
class StatementSection:
    """The part of a statement about one asset, as it is read."""

    shown: ShownAsset
    opening: StatementTotals
    lines: Iterator[Line]  # in the order of the ledger; used up before the next section is read


@dataclass(frozen=True)
class AssetStatement:
    """A section in memory."""

    shown: ShownAsset
    lines: tuple[tuple[Line, int], ...]  # the first ones, each with what was owed after it
    line_count: int  # of all lines
    totals: StatementTotals


@dataclass(frozen=True)
class Statement:
    """What one partner earned and was paid in one month."""

    partner: Partner
    month: Month
    generated_at: datetime  # by the database's clock, before anything was read
    assets: tuple[AssetStatement, ...]

    @property
    def is_over(self) -> bool:
        """Whether every entry of the month is on it."""
        return self.generated_at >= self.month.end + ENTRIES_ARRIVE_WITHIN
