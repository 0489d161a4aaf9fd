"""Reads statements from the ledger, in the same number of queries however long they are."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import chain, groupby, starmap
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import (
    BigIntegerField,
    Case,
    DateTimeField,
    Exists,
    F,
    Min,
    OuterRef,
    QuerySet,
    Sum,
    TextField,
    UUIDField,
    Value,
    When,
)
from django.utils import timezone

from ledger.balances import is_available
from ledger.models import Account, Asset, EntryNumber, JournalEntry, Posting
from ledger.statements.month import Month
from ledger.statements.values import (
    AssetStatement,
    Column,
    Line,
    ShownAsset,
    Statement,
    StatementSection,
    StatementTotals,
)
from partners.models import Partner
from sweepapi.fields import SignedAmountField
from sweepapi.modes import Mode
from sweepapi.postgres.clock import database_time

MAX_LINES = 1_000  # per asset, of a statement in memory; ``sections`` streams all of them
_ROWS_AT_A_TIME = 2_000
_OPENING = "opening"  # the kind of a row that is a sum

_COLUMNS_OF_PAYABLE: Mapping[str, Column] = {
    JournalEntry.Kind.SWEEP_FEE: Column.ACCRUED,
    JournalEntry.Kind.REVERSAL: Column.REVERSED,
    JournalEntry.Kind.PAYOUT: Column.PAID,
    JournalEntry.Kind.PAYOUT_REVERSAL: Column.PAID,
}
_CREDITED = (Column.ACCRUED, Column.SETTLED_ON_CHAIN)  # the others are debits of the partner's account


def statement(partner: Partner, month: Month) -> Statement:
    """Return a partner's statement with the first lines of each asset."""
    generated_at = database_time()
    return Statement(partner, month, generated_at, tuple(_summed_up(section) for section in sections(partner, month)))


def _summed_up(section: StatementSection) -> AssetStatement:
    totals, line_count = section.opening, 0
    kept: list[tuple[Line, int]] = []
    for line in section.lines:
        totals = totals.after(line)
        line_count += 1
        if line_count <= MAX_LINES:
            kept.append((line, totals.closing))
    return AssetStatement(section.shown, tuple(kept), line_count, totals)


def sections(partner: Partner, month: Month) -> Iterator[StatementSection]:
    """Yield each asset that has an opening balance or lines in the month, ordered by network and asset.

    One query returns both, and totals are their sums, so a statement is consistent while entries are posted, become
    final and are paid out.
    """
    shown = _shown_assets(partner)
    for key, rows in groupby(_rows(partner, month), key=lambda row: (row.network, row.asset)):
        yield _section(shown.get(key, ShownAsset(*key)), rows)


def _section(shown: ShownAsset, rows: Iterator["_Row"]) -> StatementSection:
    first = next(rows)
    if first.kind == _OPENING:
        return StatementSection(shown, StatementTotals(-first.debit, -first.unavailable), map(_line, rows))
    return StatementSection(shown, StatementTotals(), map(_line, chain([first], rows)))


def months_of(partner: Partner) -> list[Month]:
    """Return the months from the partner's first entry to the current one, newest first."""
    firsts = EntryNumber.objects.filter(partner=partner, mode__in=Mode.values, partner_number=0)
    first = firsts.aggregate(first=Min("numbered_at"))["first"]
    months: list[Month] = []
    if first is not None:
        month = Month.of(timezone.now())
        while month >= Month.of(first):
            months.append(month)
            month = month.shifted(-1)
    return months


def _shown_assets(partner: Partner) -> Mapping[tuple[str, str], ShownAsset]:
    accounts = Account.objects.filter(partner=partner, network=OuterRef("network"), asset=OuterRef("asset"))
    rows = Asset.objects.filter(Exists(accounts)).values_list("network", "asset", "symbol", "decimals")
    return {row[:2]: ShownAsset(*row) for row in rows}


class _Row(NamedTuple):
    """A posting on an account of the partner; an entry has at most one on those that statements show.

    Or an opening: the sum of the earlier postings of one asset, which has no facts of an entry.
    """

    network: str
    asset: str
    posted_at: datetime
    entry_id: UUID
    sweep_ref: UUID | None
    tx_hash: str
    reversed_by: UUID | None
    kind: str
    number: int
    account: str
    debit: int
    unavailable: int  # the part of the debit that does not count towards what can be paid out


def _rows(partner: Partner, month: Month) -> Iterator[_Row]:
    """Return the rows of one asset after the other, its opening first unless that is zero."""
    rows = _lines(partner, month).union(_openings(partner, month), all=True)
    by_number = F("entry__numbered__partner_number").asc(nulls_first=True)
    ordered = rows.order_by("entry__network", "entry__asset", by_number)
    return starmap(_Row, ordered.iterator(chunk_size=_ROWS_AT_A_TIME))


def _lines(partner: Partner, month: Month) -> QuerySet[Posting, tuple[Any, ...]]:
    postings = Posting.objects.filter(
        **_numbered(partner),
        entry__numbered__numbered_at__gte=month.start,
        entry__numbered__numbered_at__lt=month.end,
        account__name__in=[Account.Name.PARTNER_PAYABLE, Account.Name.PARTNER_SETTLED],
    )
    of_entry = ("network", "asset", "posted_at", "id", "sweep_ref", "tx_hash", "reversed_by", "kind")
    number = "entry__numbered__partner_number"
    unavailable = Case(When(is_available("entry"), then=0), default=F("amount"), output_field=SignedAmountField())
    return postings.order_by().values_list(
        *(f"entry__{name}" for name in of_entry), number, "account__name", "amount", unavailable
    )


def _openings(partner: Partner, month: Month) -> QuerySet[Posting, tuple[Any, ...]]:
    earlier = Posting.objects.filter(
        **_numbered(partner),
        account__name=Account.Name.PARTNER_PAYABLE,
        entry__numbered__numbered_at__lt=month.start,
    )
    per_asset = earlier.order_by().values("account__network", "account__asset", "account__name")
    sums = per_asset.annotate(
        owed=Sum("amount"), unavailable=Sum("amount", filter=~is_available("entry"), default=0)
    ).exclude(owed=0, unavailable=0)
    no_facts = (Value(None, field) for field in (DateTimeField(), UUIDField(), UUIDField(), TextField(), UUIDField()))
    facts = (*no_facts, Value(_OPENING), Value(None, BigIntegerField()))
    return sums.values_list("account__network", "account__asset", *facts, "account__name", "owed", "unavailable")


def _numbered(partner: Partner) -> dict[str, Any]:
    """Return the lookups of postings by which an index finds the partner's entries of a time."""
    return {"entry__numbered__partner": partner, "entry__numbered__mode__in": Mode.values}


def _line(row: _Row) -> Line:
    column = _COLUMNS_OF_PAYABLE[row.kind]
    if row.account == Account.Name.PARTNER_SETTLED:
        column = Column.SETTLED_ON_CHAIN
    return Line(
        number=row.number,
        posted_at=row.posted_at,
        entry_id=row.entry_id,
        kind=row.kind,
        sweep_ref=row.sweep_ref,
        tx_hash=row.tx_hash,
        column=column,
        amount=-row.debit if column in _CREDITED else row.debit,
        is_available=row.unavailable == 0,
        is_reversed=row.reversed_by is not None,
    )
