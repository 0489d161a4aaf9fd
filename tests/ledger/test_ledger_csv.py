"""GET /v2/ledger/entries as CSV: every entry that matches, whatever happens while the client reads."""

import csv
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.http import StreamingHttpResponse
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from lab.bench.sweeps.numbers import number_by_time
from ledger import exports
from ledger.exports import Export
from ledger.listing import Entries, EntryFilter
from ledger.models import Asset
from partners.models import Partner
from sweepapi.modes import Mode
from tests.factories.ledger import BASE, WETH, book_fee, book_payable
from tests.factories.partners import PartnerFactory
from tests.openapi import assert_documented
from tests.partner_app import details_of, error_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("two_chains")]

URL = "/v2/ledger/entries"
CSV = {"Accept": "text/csv"}


def export(api: Client, **query: Any) -> StreamingHttpResponse:
    """Begin an export of what was booked until now."""
    number_by_time()
    response = api.get(URL, query, headers=CSV)
    assert isinstance(response, StreamingHttpResponse), response.content
    return response


def text_of(response: StreamingHttpResponse) -> str:
    return b"".join(response).decode()


def records(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text, newline=""), strict=True))


def test_the_file_has_the_fields_of_the_items(api: Client, partner: Partner) -> None:
    book_fee(partner)
    book_payable(partner, 1_000_000)
    response = export(api)
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8; header=present"
    assert response.headers["Content-Disposition"] == 'attachment; filename="ledger-entries.csv"'
    items = api.get(URL).json()["data"]["items"]
    shown = [{name: "" if value is None else str(value) for name, value in item.items()} for item in items]
    text = text_of(response)
    assert records(text) == shown
    assert text.count("\r\n") == len(items) + 1


def test_json_is_preferred_unless_csv_is_asked_for(api: Client) -> None:
    for accept in ("*/*", "application/json", "text/csv;q=0.5, application/json", "text/*;q=0.1, */*"):
        assert api.get(URL, headers={"Accept": accept}).json() == {
            "ok": True,
            "data": {"items": [], "nextCursor": None},
        }
    preferred = api.get(URL, headers={"Accept": "text/*"})
    assert preferred.headers["Content-Type"].startswith("text/csv")
    preferred.getvalue()
    assert api.get(URL, headers={"Accept": "text/html"}).status_code == 406
    assert "Accept" in api.get(URL).headers["Vary"]


def test_a_file_without_entries_has_its_header(api: Client) -> None:
    assert text_of(export(api)) == ",".join(exports.COLUMNS) + "\r\n"


def test_filters_count_and_pages_can_not_be_asked_for(api: Client, partner: Partner) -> None:
    book_fee(partner)
    paid = book_payable(partner, 400)
    assert {record["entryId"] for record in records(text_of(export(api, txHash=paid.tx_hash)))} == {str(paid.pk)}
    response = api.get(URL, {"limit": "5", "cursor": "x"}, headers=CSV)
    assert error_of(response) == (400, "invalid_request")
    assert details_of(response) == {("cursor", "not_applicable"), ("limit", "not_applicable")}


def test_the_file_has_what_was_listed_at_its_start_and_nothing_twice(
    api: Client, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "ENTRIES_PER_PAGE", 2)
    before = [book_fee(partner) for _ in range(5)]
    response = export(api)
    text = ""
    for piece in response:
        text += piece.decode()
        book_fee(partner)
        number_by_time()
    assert [record["entryId"] for record in records(text)] == [
        str(entry.pk) for entry in before[::-1] for _ in range(3)
    ]


def test_a_page_takes_three_queries_and_no_transaction_is_open_between_two(
    api: Client, partner: Partner, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    monkeypatch.setattr(exports, "ENTRIES_PER_PAGE", 4)
    for _ in range(12):
        book_fee(partner)
    response = export(api)
    with django_assert_num_queries(6):  # the first page was read at once
        pieces = list(response)
    assert len(pieces) == 3
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_cursors")
        assert cursor.fetchone() == (0,)


@pytest.mark.parametrize("symbol", ['=HYPERLINK("http://x","y")', "+1", "\t=1", "\N{FULLWIDTH EQUALS SIGN}1"])
def test_a_symbol_that_a_spreadsheet_would_run_is_made_text(api: Client, partner: Partner, symbol: str) -> None:
    Asset.objects.create(network=BASE, asset=WETH, symbol=symbol, decimals=18)
    book_fee(partner)
    assert {record["symbol"] for record in records(text_of(export(api)))} == {f"'{symbol}"}


def test_a_third_export_at_a_time_is_refused_until_one_of_two_is_closed(api: Client, partner: Partner) -> None:
    entries = Entries(partner.pk, Mode.TEST, EntryFilter())
    running = [Export(entries), Export(entries)]
    refused = api.get(URL, headers=CSV)
    assert (error_of(refused), refused.headers["Retry-After"]) == ((503, "too_many_exports"), "5")
    assert_documented(refused, path=URL)
    assert api.get(URL).status_code == 200
    running[0].close()  # before its first piece was sent
    running[0].close()
    text_of(export(api))
    text_of(export(api))
    running[1].close()


def test_an_export_whose_first_page_fails_is_answered_as_a_failure_and_has_no_place(api: Client) -> None:
    def fail(execute: Any, sql: str, *arguments: Any) -> Any:
        if "ledger_entrynumber" in sql:
            raise OperationalError
        return execute(sql, *arguments)

    for _ in range(3):
        with connection.execute_wrapper(fail):
            assert error_of(api.get(URL, headers=CSV)) == (503, "service_unavailable")


def test_a_failure_while_the_client_reads_is_raised_and_frees_the_place(
    api: Client, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "ENTRIES_PER_PAGE", 1)
    for _ in range(3):
        book_fee(partner)

    def fail(*_: Any) -> Any:
        raise OperationalError("The database went away.")

    for _ in range(3):
        pieces: Iterator[bytes] = iter(export(api))
        assert len(records(next(pieces).decode())) == 3
        with connection.execute_wrapper(fail), pytest.raises(OperationalError):
            next(pieces)


def test_another_partners_entries_are_not_in_the_file(api: Client) -> None:
    book_fee(PartnerFactory.create())
    assert records(text_of(export(api))) == []
