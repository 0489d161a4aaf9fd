"""Operators who may see a partner's books read its statements, print them and download them."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from ledger.entries.posting import finalize
from ledger.models import Asset, Settlement
from ledger.statements import reading
from ledger.statements.month import Month
from partners.models import Partner
from tests.factories.ledger import BASE, WETH
from tests.factories.partners import PartnerFactory
from tests.factories.past import fee_at, open_accounts, payout_at, reversal_at
from tests.operator_browser import ConsoleClient, reverse

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("two_chains")]

MONTH = Month(2026, 10)
UrlOf: TypeAlias = Callable[..., str]
BAD_MONTHS = ["2026-13", "2026-1", "2026-10-01", "1999-12", "2999-12", "latest"]  # 2999-12 has not begun


def staff(*permissions: str) -> Client:
    user = User.objects.create_user("staff", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = ConsoleClient()
    client.force_login(user)
    return client


@pytest.fixture
def ops() -> Client:
    return staff("view_partnerbooks")


def page_url(partner: Partner, month: object = MONTH) -> str:
    return reverse("admin:ledger_statement", args=[partner.pk, month])


def csv_url(partner: Partner, month: object = MONTH) -> str:
    return reverse("admin:ledger_statement_csv", args=[partner.pk, month])


def read(client: Client, url: str) -> str:
    response = client.get(url)
    assert response.status_code == 200
    return response.content.decode()


def text_of(page: str) -> str:
    return " ".join(page.split())


def test_the_page_shows_all_kinds_of_lines_with_their_sweeps_and_transactions(ops: Client, partner: Partner) -> None:
    at = MONTH.start
    fees = [fee_at(at, partner, 300), fee_at(at, partner, 70), fee_at(at, partner, 5, settlement=Settlement.ON_CHAIN)]
    finalize([fees[0].pk])
    paid = payout_at(at, partner, 100)
    reversals = [reversal_at(at, fees[1]), reversal_at(at, paid)]
    page = read(ops, page_url(partner))
    for kind in ("Sweep fee", "Reversal", "Payout", "Payout reversal"):
        assert f">{kind}</a>" in page
    for fee in fees:
        assert f"sweep {fee.sweep_ref}" in page
    for entry in [*fees, paid, *reversals]:
        assert reverse("admin:ledger_journalentry_change", args=[entry.pk]) in page
        assert f'href="https://basescan.org/tx/{entry.tx_hash}"' in page
    assert page.count("<em>reversed</em>") == 2
    assert "<em>not final</em>" not in page


def test_amounts_are_shown_in_whole_tokens_and_in_the_smallest_unit(ops: Client, partner: Partner) -> None:
    Asset.objects.create(network=BASE, asset=WETH, symbol="WETH", decimals=18)
    fee_at(MONTH.start, partner, 1_500_000_000_000_000_001)
    page = text_of(read(ops, page_url(partner)))
    assert f"WETH on base <small>{WETH}</small>" in page
    assert "1.500000000000000001<small>1500000000000000001</small>" in page
    assert "<em>not final</em>" in page


def test_a_past_month_shows_how_much_of_its_closing_is_final_and_nothing_as_available(
    ops: Client, partner: Partner
) -> None:
    finalize([fee_at(MONTH.start, partner, 300).pk])
    fee_at(MONTH.start, partner, 70)
    payout_at(MONTH.end, partner, 300)
    page = text_of(read(ops, page_url(partner)))
    figures = dict(re.findall(r"<div><dt>([^<]+)</dt><dd>.*?([0-9]+)(?:</small>)? ?</dd></div>", page))
    assert (figures["Closing"], figures["Of it final"]) == ("370", "300")
    assert "vailable" not in page.split("<article")[1]


def test_an_asset_without_known_decimals_is_shown_in_the_smallest_unit_only(ops: Client, partner: Partner) -> None:
    open_accounts(partner)
    fee_at(MONTH.start, partner, 1_500_000)
    page = text_of(read(ops, page_url(partner)))
    assert f"<h2> base <small>{WETH}</small>" in page
    assert "<dd>1500000 </dd>" in page


def test_a_symbol_is_escaped(ops: Client, partner: Partner) -> None:
    Asset.objects.create(network=BASE, asset=WETH, symbol="<script>alert(1)</script>", decimals=18)
    fee_at(MONTH.start, partner, 1)
    assert "&lt;script&gt;alert(1)&lt;/script&gt; on base" in read(ops, page_url(partner))


def test_the_page_names_partner_period_and_when_it_was_made(
    ops: Client, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "database_time", lambda: datetime(2026, 11, 22, 5, 59, 58, tzinfo=UTC))
    page = text_of(read(ops, page_url(partner)))
    assert f"{partner.name} <small>{partner.pk}</small>" in page
    assert "2026-10-01 00:00 to 2026-11-01 00:00 UTC, exclusive" in page
    assert "<dd>2026-11-22 05:59:58 UTC</dd>" in page
    assert "Nothing was booked" in page


def test_times_on_the_page_are_utc_in_any_time_zone(ops: Client, partner: Partner) -> None:
    fee_at(MONTH.end - timedelta(microseconds=1), partner, 1)
    with timezone.override("Pacific/Auckland"):
        page = read(ops, page_url(partner))
    assert "2026-10-01 00:00 to 2026-11-01 00:00 UTC" in page
    assert ">2026-10-31 23:59:59</time>" in page


def test_a_month_to_which_entries_may_still_be_added_is_not_over(
    ops: Client, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "database_time", lambda: MONTH.end + timedelta(minutes=4))
    assert "the month is not over" in read(ops, page_url(partner))
    monkeypatch.setattr(reading, "database_time", lambda: MONTH.end + timedelta(minutes=5))
    page = read(ops, page_url(partner))
    assert "the month is not over" not in page
    assert page_url(partner, MONTH.shifted(1)) in page


def test_a_page_says_how_many_lines_are_in_the_csv_only(
    ops: Client, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_LINES", 2)
    for _ in range(5):
        fee_at(MONTH.start, partner, 1)
    page = read(ops, page_url(partner))
    assert page.count("<time ") == 2
    assert "3 more lines are in the CSV." in page
    assert csv_url(partner) in page


def test_a_page_takes_the_same_number_of_queries_however_long_it_is(ops: Client, partner: Partner) -> None:
    counts = []
    for number in range(1, 4):
        fee_at(MONTH.start, partner, 10, network=f"eip155:{number}")
        with CaptureQueriesContext(connection) as queries:
            read(ops, page_url(partner))
        counts.append(len(queries))
    assert counts == [counts[0]] * 3


def test_the_books_of_a_partner_link_to_its_statements(ops: Client, partner: Partner) -> None:
    fee_at(MONTH.start, partner, 10)
    books = read(ops, reverse("admin:ledger_partnerbooks_change", args=[partner.pk]))
    assert page_url(partner) in books
    assert page_url(partner, MONTH.shifted(-1)) not in books


@pytest.mark.parametrize(
    ("name", "in_file_name"), [('Müller & Söhne; "x"\r\n/..', "muller-sohne-x"), ("株式会社", "{0.pk}")]
)
def test_the_csv_is_a_download_named_after_partner_and_month(ops: Client, name: str, in_file_name: str) -> None:
    partner = PartnerFactory.create(name=name)
    response = ops.get(csv_url(partner))
    file_name = f"statement-{in_file_name.format(partner)}-2026-10.csv"
    assert response.headers["Content-Disposition"] == f'attachment; filename="{file_name}"'
    assert response.headers["Content-Type"].startswith("text/csv; charset=utf-8")
    assert response.streaming


@pytest.mark.parametrize("url_of", [page_url, csv_url])
@pytest.mark.parametrize("permissions", [(), ("view_journalentry", "view_account", "view_partner")])
def test_staff_without_the_permission_for_books_is_refused(
    partner: Partner, url_of: UrlOf, permissions: tuple[str, ...]
) -> None:
    assert staff(*permissions).get(url_of(partner)).status_code == 403


@pytest.mark.parametrize("url_of", [page_url, csv_url])
def test_anyone_else_is_sent_to_the_login(partner: Partner, url_of: UrlOf) -> None:
    response = ConsoleClient().get(url_of(partner))
    assert (response.status_code, response.headers["Location"].split("?")[0]) == (302, reverse("admin:login"))


@pytest.mark.parametrize("url_of", [page_url, csv_url])
@pytest.mark.parametrize("month", BAD_MONTHS)
def test_a_bad_month_is_not_found(ops: Client, partner: Partner, url_of: UrlOf, month: str) -> None:
    assert ops.get(url_of(partner, month)).status_code == 404


@pytest.mark.parametrize("url_of", [page_url, csv_url])
def test_an_unknown_partner_is_not_found(ops: Client, url_of: UrlOf) -> None:
    assert ops.get(url_of(Partner())).status_code == 404
