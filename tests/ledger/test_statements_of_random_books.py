"""Random books of several partners: statements continue each other, add up to the ledger, and mix nothing up."""

import csv
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any, TypeAlias

import pytest
from django.db import connection, transaction
from django.db.models import Sum
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.balances import balances_of
from ledger.entries.posting import finalize
from ledger.errors import PayoutRefusedError
from ledger.models import JournalEntry, Posting, Settlement
from ledger.statements.month import Month
from ledger.statements.reading import statement
from ledger.statements.spreadsheet import csv_chunks
from ledger.statements.values import AssetStatement, Column, StatementTotals
from partners.models import Partner
from sweepapi.fields import UINT256_MAX
from tests.factories.ledger import BASE, WETH
from tests.factories.partners import PartnerFactory, PayoutWalletFactory
from tests.factories.past import fee_at, payout_at, reversal_at

AssetKey: TypeAlias = tuple[str, str]

MONTHS = [Month(2025, 3).shifted(months) for months in range(14)]
ASSETS: list[AssetKey] = [
    (BASE, WETH),
    ("eip155:1", WETH),
    (BASE, "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
    ("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"),
]
PARTNERS = 2

boundaries = st.builds(
    lambda month, microseconds: month.start + timedelta(microseconds=microseconds),
    st.sampled_from(MONTHS[1:]),
    st.sampled_from([-1, 0, 1]),
)
moments = boundaries | st.datetimes(
    MONTHS[0].start.replace(tzinfo=None), MONTHS[-1].end.replace(tzinfo=None) - timedelta(seconds=1)
).map(lambda moment: moment.replace(tzinfo=UTC))


@dataclass(frozen=True)
class Step:
    """Something that happens; what it does depends on the entries before it."""

    at: datetime
    action: str
    partner: int
    asset: AssetKey
    amount: int
    choice: int  # of what is paid, reversed, becomes final or is booked again


steps = st.builds(
    Step,
    at=moments,
    action=st.sampled_from(
        [*2 * ["accrue", "accrue finally"], "settle on chain", "finalize", *2 * ["pay", "reverse", "book again"]]
    ),
    partner=st.integers(0, PARTNERS - 1),
    asset=st.sampled_from(ASSETS),
    amount=st.integers(1, 10_000) | st.just(UINT256_MAX // 2),
    choice=st.integers(0, 100),
)
books = st.lists(steps, min_size=20, max_size=40).map(lambda made: sorted(made, key=lambda step: step.at))


@dataclass(eq=False)
class Move:
    """What one entry moved on the accounts of a partner."""

    entry: JournalEntry
    partner: int
    asset: AssetKey
    at: datetime
    column: Column
    amount: int
    owed: int
    is_final: bool = True
    reverses: "Move | None" = None

    @property
    def counts(self) -> bool:
        """Whether it counts towards what can be paid out."""
        return self.is_final if self.reverses is None else self.reverses.is_final


@dataclass
class Book:
    """What a bookkeeper without a database would know: per partner and asset, what each entry moved and when."""

    partners: list[Partner]
    moves: dict[tuple[int, AssetKey], list[Move]] = field(default_factory=lambda: defaultdict(list))
    reversible: list[Move] = field(default_factory=list)
    reversed: list[Move] = field(default_factory=list)  # and not booked again

    def note(self, move: Move) -> None:
        self.moves[move.partner, move.asset].append(move)
        if move.reverses is None:
            self.reversible.append(move)

    def available(self, partner: int, asset: AssetKey) -> int:
        return sum(move.owed for move in self.moves[partner, asset] if move.counts)

    def totals(self, partner: int, asset: AssetKey, month: Month) -> StatementTotals:
        moves = self.moves[partner, asset]
        earlier = [move for move in moves if move.at < month.start]
        during = [move for move in moves if month.start <= move.at < month.end]
        columns = {column: sum(move.amount for move in during if move.column == column) for column in Column}
        return StatementTotals(
            opening=sum(move.owed for move in earlier),
            unavailable=sum(move.owed for move in earlier + during if not move.counts),
            **columns,
        )

    def entries(self, partner: int, asset: AssetKey, month: Month) -> list[JournalEntry]:
        moves = [move for move in self.moves[partner, asset] if month.start <= move.at < month.end]
        return [move.entry for move in sorted(moves, key=lambda move: (move.at, move.entry.pk))]


def post(step: Step, book: Book) -> None:
    if step.action == "pay":
        payable = [key for key in book.moves if book.available(*key) > 0] or [(step.partner, step.asset)]
        partner, asset = payable[step.choice % len(payable)]
        pay(replace(step, partner=partner, asset=asset), book)
    elif step.action == "reverse":
        if book.reversible:
            undo(step.at, book.reversible.pop(step.choice % len(book.reversible)), book)
    elif step.action == "book again":
        if book.reversed:
            book_again(step, book.reversed.pop(step.choice % len(book.reversed)), book)
    elif step.action == "finalize":
        pending = [move for move in book.reversible if not move.is_final]
        if pending:
            make_final(pending[step.choice % len(pending)])
    else:
        column = Column.SETTLED_ON_CHAIN if step.action == "settle on chain" else Column.ACCRUED
        accrued = accrue(step, book, column)
        if step.action == "accrue finally":
            make_final(accrued)


def accrue(step: Step, book: Book, column: Column, **facts: Any) -> Move:
    is_owed = column is Column.ACCRUED
    facts |= {"settlement": Settlement.PAYABLE if is_owed else Settlement.ON_CHAIN}
    facts |= {"network": step.asset[0], "asset": step.asset[1]}
    entry = fee_at(step.at, book.partners[step.partner], step.amount, **facts)
    owed = step.amount if is_owed else 0
    move = Move(entry, step.partner, step.asset, step.at, column, step.amount, owed, is_final=not is_owed)
    book.note(move)
    return move


def make_final(accrual: Move) -> None:
    finalize([accrual.entry.pk])
    accrual.is_final = True


def pay(step: Step, book: Book, **facts: Any) -> None:
    """Pay an amount; if that is more than what is available it is refused, and the rest is paid."""
    partner, available = book.partners[step.partner], book.available(step.partner, step.asset)
    facts |= {"network": step.asset[0], "asset": step.asset[1]}
    if step.amount > available:
        with pytest.raises(PayoutRefusedError):
            payout_at(step.at, partner, step.amount, **facts)
    paid = min(step.amount, available)
    if paid > 0:
        entry = payout_at(step.at, partner, paid, **facts)
        book.note(Move(entry, step.partner, step.asset, step.at, Column.PAID, paid, -paid))


def undo(at: datetime, move: Move, book: Book) -> None:
    is_accrual = move.column is Column.ACCRUED
    column, amount = (Column.REVERSED, move.amount) if is_accrual else (move.column, -move.amount)
    entry = reversal_at(at, move.entry)
    book.note(Move(entry, move.partner, move.asset, at, column, amount, -move.owed, reverses=move))
    book.reversed.append(move)


def book_again(step: Step, move: Move, book: Book) -> None:
    """Book what was reversed once more: the same execution in its next epoch, or a payout with the same transaction."""
    again = replace(step, partner=move.partner, asset=move.asset, amount=move.amount)
    was = move.entry
    if move.column is Column.PAID:
        pay(again, book, tx_hash=was.tx_hash)
    else:
        refs = {"sweep_ref": was.sweep_ref, "execution_ref": was.execution_ref}
        accrue(again, book, move.column, booking_epoch=was.booking_epoch + 1, **refs)


def by_asset(partner: Partner, month: Month) -> dict[AssetKey, AssetStatement]:
    return {(asset.shown.network, asset.shown.asset): asset for asset in statement(partner, month).assets}


def check_months(book: Book, number: int, partner: Partner, months: list[dict[AssetKey, AssetStatement]]) -> None:
    """Compare every month with the bookkeeper's and with the CSV, and the last closing with the ledger."""
    closings: dict[AssetKey, int] = defaultdict(int)
    for month, assets in zip(MONTHS, months, strict=True):
        for key in ASSETS:
            expected, entries = book.totals(number, key, month), book.entries(number, key, month)
            if key not in assets:
                assert (expected, entries) == (StatementTotals(), [])
                continue
            assert assets[key].totals == expected
            assert [line.entry_id for line, _ in assets[key].lines] == [entry.pk for entry in entries]
            assert assets[key].totals.opening == closings[key]
        closings = defaultdict(int, {key: asset.totals.closing for key, asset in assets.items()})
        if assets:
            assert {key: asset.totals for key, asset in assets.items()} == dict(totals_of_csv(partner, month))
    balances = {(balance.network, balance.asset): balance for balance in balances_of(partner)}
    owed = {key: balance.owed for key, balance in balances.items() if balance.owed}
    assert {key: closing for key, closing in closings.items() if closing} == owed
    for key, balance in balances.items():
        assert balance.available == book.available(number, key)


def check_twelve_months(partner: Partner, months: list[dict[AssetKey, AssetStatement]]) -> None:
    """Opening and movements of twelve months are the ledger's balance at their end."""
    year = months[1:13]
    for key in ASSETS:
        totals = [assets[key].totals for assets in year if key in assets]
        moved = sum(month.accrued - month.reversed - month.paid for month in totals)
        opening = year[0][key].totals.opening if key in year[0] else 0
        assert opening + moved == owed_by_ledger(partner, key, until=MONTHS[12].end)


def owed_by_ledger(partner: Partner, key: AssetKey, *, until: datetime) -> int:
    postings = Posting.objects.filter(
        account__name="partner_payable",
        account__partner=partner,
        account__network=key[0],
        account__asset=key[1],
        entry__posted_at__lt=until,
    )
    return -int(postings.aggregate(debits=Sum("amount", default=0))["debits"])


def totals_of_csv(partner: Partner, month: Month) -> Iterator[tuple[AssetKey, StatementTotals]]:
    """Add up the columns of the file, and check the balance of every record on the way."""
    records = list(csv.DictReader(StringIO("".join(csv_chunks(partner, month)), newline=""), strict=True))
    for key in dict.fromkeys((record["network"], record["asset"]) for record in records):
        own = [record for record in records if (record["network"], record["asset"]) == key]
        assert [record["record"] for record in own] == ["opening", *["line"] * (len(own) - 2), "closing"]
        sums = {column: sum(int(record[column] or 0) for record in own) for column in Column}
        opening, closing = int(own[0]["balance"]), int(own[-1]["balance"])
        totals = StatementTotals(opening=opening, unavailable=closing - int(own[-1]["final"]), **sums)
        assert totals.closing == closing == int(own[-2]["balance"])
        yield key, totals


@pytest.mark.django_db
def test_random_books_add_up() -> None:
    partners = PartnerFactory.create_batch(PARTNERS)
    for partner in partners:
        PayoutWalletFactory.create(partner=partner, network=ASSETS[-1][0], address=ASSETS[-1][1])

    @settings(max_examples=20, deadline=None, derandomize=True, database=None)
    @given(books)
    def check(steps: list[Step]) -> None:
        with transaction.atomic():
            book = Book(partners)
            for step in steps:
                post(step, book)
            connection.check_constraints()
            for number, partner in enumerate(partners):
                months = [by_asset(partner, month) for month in MONTHS]
                check_months(book, number, partner, months)
                check_twelve_months(partner, months)
            transaction.set_rollback(True)

    check()
