"""The CSV of a statement has every line, adds up, and can't harm the spreadsheet that opens it."""

import csv
from collections.abc import Iterator
from io import StringIO

import pytest
from pytest_django import DjangoAssertNumQueries

from ledger.entries.posting import finalize
from ledger.models import Asset
from ledger.statements import reading, spreadsheet
from ledger.statements.month import Month
from ledger.statements.spreadsheet import csv_chunks
from partners.models import Partner
from tests.factories.ledger import BASE, WETH
from tests.factories.past import fee_at, open_accounts, payout_at, reversal_at

pytestmark = pytest.mark.django_db

MONTH = Month(2026, 11)
HEADER = (
    "record,network,asset,symbol,decimals,number,posted_at,kind,sweep_id,tx_hash,entry_id,state,"
    "accrued,reversed,paid,settled_on_chain,balance,final"
)


def records(partner: Partner, month: Month = MONTH) -> Iterator[dict[str, str]]:
    return csv.DictReader(StringIO("".join(csv_chunks(partner, month)), newline=""), strict=True)


def test_an_asset_has_an_opening_lines_and_a_closing(partner: Partner) -> None:
    Asset.objects.create(network=BASE, asset=WETH, symbol="WETH", decimals=18)
    finalize([fee_at(Month(2026, 10).start, partner, 500).pk])
    fee = fee_at(MONTH.start, partner, 70)
    reversal = reversal_at(MONTH.start, fee)
    paid = payout_at(MONTH.start, partner, 99)
    reversed_payout = reversal_at(MONTH.start, paid)
    shown = f"{BASE},{WETH},WETH,18"
    time = "2026-11-01T00:00:00.000000Z"
    assert "".join(csv_chunks(partner, MONTH)).split("\r\n") == [
        HEADER,
        f"opening,{shown},,,,,,,,,,,,500,",
        f"line,{shown},1,{time},sweep_fee,{fee.sweep_ref},{fee.tx_hash},{fee.pk},reversed,70,,,,570,",
        f"line,{shown},2,{time},reversal,{fee.sweep_ref},{fee.tx_hash},{reversal.pk},,,70,,,500,",
        f"line,{shown},3,{time},payout,,{paid.tx_hash},{paid.pk},reversed,,,99,,401,",
        f"line,{shown},4,{time},payout_reversal,,{paid.tx_hash},{reversed_payout.pk},,,,-99,,500,",
        f"closing,{shown},,,,,,,,,,,,500,500",
        "",
    ]


def test_an_empty_statement_has_a_header(partner: Partner) -> None:
    assert "".join(csv_chunks(partner, MONTH)) == f"{HEADER}\r\n"


def test_the_columns_of_older_books_are_blank_where_nothing_is_known(partner: Partner) -> None:
    open_accounts(partner)
    fee_at(MONTH.start, partner, 1)
    assert {(record["symbol"], record["decimals"]) for record in records(partner)} == {("", "")}


@pytest.mark.parametrize(
    "symbol",
    ['=HYPERLINK("http://x","y")', "+1", "-1", "@SUM(1)", "\t=1", "\r\n=1", " -1", "\N{FULLWIDTH EQUALS SIGN}1"],
)
def test_a_symbol_that_a_spreadsheet_would_run_is_made_text(partner: Partner, symbol: str) -> None:
    Asset.objects.create(network=BASE, asset=WETH, symbol=symbol, decimals=18)
    fee_at(MONTH.start, partner, 1)
    assert {record["symbol"] for record in records(partner)} == {f"'{symbol}"}


@pytest.mark.parametrize("symbol", ['A,"B"', "A\r\nopening,B", "USD₮0", "'A", "A=1"])
def test_any_other_symbol_survives_as_it_is(partner: Partner, symbol: str) -> None:
    Asset.objects.create(network=BASE, asset=WETH, symbol=symbol, decimals=18)
    fee_at(MONTH.start, partner, 1)
    assert {record["symbol"] for record in records(partner)} == {symbol}


def test_every_line_is_in_the_file_in_pieces(
    partner: Partner, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    monkeypatch.setattr(reading, "MAX_LINES", 1)
    monkeypatch.setattr(spreadsheet, "_RECORDS_AT_A_TIME", 4)
    entries = [fee_at(MONTH.start, partner, 1) for _ in range(7)]
    with django_assert_num_queries(2):
        chunks = list(csv_chunks(partner, MONTH))
    assert [chunk.count("\r\n") for chunk in chunks] == [4, 4, 2]  # the header, opening, seven lines, closing
    assert [record["entry_id"] for record in records(partner)] == ["", *(str(entry.pk) for entry in entries), ""]
