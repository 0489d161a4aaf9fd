"""Reads statements from the ledger, in three queries however long they are."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import groupby, starmap
from typing import NamedTuple
from uuid import UUID

from django.db.models import Exists, Min, OuterRef, Sum
from django.utils import timezone

from ledger.balances import is_available
from ledger.models import Account, Asset, JournalEntry, Posting
from ledger.statements.month import Month
from ledger.statements.values import AssetStatement, Column, Line, Section, ShownAsset, Statement, Totals
from partners.models import Partner

MAX_LINES = 1_000  # per asset, of a statement in memory; ``sections`` streams all of them
_ROWS_AT_A_TIME = 2_000

_COLUMNS_OF_PAYABLE: Mapping[str, Column] = {
    JournalEntry.Kind.SWEEP_FEE: Column.ACCRUED,
    JournalEntry.Kind.REVERSAL: Column.REVERSED,
    JournalEntry.Kind.PAYOUT: Column.PAID,
    JournalEntry.Kind.PAYOUT_REVERSAL: Column.PAID,
}
_CREDITED = (Column.ACCRUED, Column.SETTLED_ON_CHAIN)  # the others are debits of the partner's account


def statement(partner: Partner, month: Month) -> Statement:
    """Return a partner's statement with the first lines of each asset."""
    generated_at = timezone.now()
    return Statement(partner, month, generated_at, tuple(_summed_up(section) for section in sections(partner, month)))


def _summed_up(section: Section) -> AssetStatement:
    totals, line_count = section.opening, 0
    kept: list[tuple[Line, int]] = []
    for line in section.lines:
        totals = totals.after(line)
        line_count += 1
        if line_count <= MAX_LINES:
            kept.append((line, totals.closing))
    return AssetStatement(section.shown, tuple(kept), line_count, totals)


def sections(partner: Partner, month: Month) -> Iterator[Section]:
    """Yield each asset that has lines in the month, then those that have an opening balance only.

    One query returns all lines, and totals are their sums, so a statement is consistent while entries are being posted.
    """
    shown, openings = _shown_assets(partner), _openings(partner, month)
    for key, rows in groupby(_rows(partner, month), key=lambda row: (row.network, row.asset)):
        yield Section(shown.get(key, ShownAsset(*key)), openings.pop(key, Totals()), map(_line, rows))
    for key, opening in openings.items():
        if opening != Totals():
            yield Section(shown.get(key, ShownAsset(*key)), opening, iter(()))


def months_of(partner: Partner) -> list[Month]:
    """Return the months from the partner's first entry to the current one, newest first."""
    first = JournalEntry.objects.filter(partner=partner).aggregate(first=Min("posted_at"))["first"]
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


def _openings(partner: Partner, month: Month) -> dict[tuple[str, str], Totals]:
    earlier = Posting.objects.filter(
        account__partner=partner, account__name=Account.Name.PARTNER_PAYABLE, entry__posted_at__lt=month.start
    )
    per_asset = earlier.order_by("account__network", "account__asset").values("account__network", "account__asset")
    debits = per_asset.annotate(
        owed=Sum("amount"), unavailable=Sum("amount", filter=~is_available("entry"), default=0)
    ).values_list("account__network", "account__asset", "owed", "unavailable")
    return {(network, asset): Totals(-owed, -unavailable) for network, asset, owed, unavailable in debits}


class _Row(NamedTuple):
    """A posting on an account of the partner; an entry has at most one on those that statements show."""

    network: str
    asset: str
    posted_at: datetime
    entry_id: UUID
    kind: str
    sweep_ref: UUID | None
    tx_hash: str
    reversed_by: UUID | None
    account: str
    debit: int
    is_available: bool


def _rows(partner: Partner, month: Month) -> Iterator[_Row]:
    postings = Posting.objects.filter(
        entry__partner=partner,
        entry__posted_at__gte=month.start,
        entry__posted_at__lt=month.end,
        account__name__in=[Account.Name.PARTNER_PAYABLE, Account.Name.PARTNER_SETTLED],
    )
    of_entry = ("network", "asset", "posted_at", "id", "kind", "sweep_ref", "tx_hash", "reversed_by")
    rows = (
        postings.annotate(is_available=is_available("entry"))
        .order_by("entry__network", "entry__asset", "entry__posted_at", "entry__id")
        .values_list(*(f"entry__{name}" for name in of_entry), "account__name", "amount", "is_available")
    )
    return starmap(_Row, rows.iterator(chunk_size=_ROWS_AT_A_TIME))


def _line(row: _Row) -> Line:
    column = _COLUMNS_OF_PAYABLE[row.kind]
    if row.account == Account.Name.PARTNER_SETTLED:
        column = Column.SETTLED_ON_CHAIN
    return Line(
        posted_at=row.posted_at,
        entry_id=row.entry_id,
        kind=row.kind,
        sweep_ref=row.sweep_ref,
        tx_hash=row.tx_hash,
        column=column,
        amount=-row.debit if column in _CREDITED else row.debit,
        is_available=row.is_available,
        is_reversed=row.reversed_by is not None,
    )
