"""The console's figures: by day on the home, by partner, network and asset on a page of their own, and as CSV."""

from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.utils import timezone

from partners.models import Partner
from sweeps.models import HourlySum
from tests.factories.ledger import BASE, WETH, book_fee
from tests.factories.partners import PartnerFactory
from tests.operator_browser import ConsoleClient, reverse

pytestmark = pytest.mark.django_db


def booked(partner: Partner, hour: datetime | None = None, **facts: Any) -> HourlySum:
    """Store a sum of 4 dollars of which a partner earned one cent and we two, unless the facts differ."""
    at = (hour or timezone.now()).replace(minute=0, second=0, microsecond=0)
    defaults: dict[str, Any] = {"network": BASE, "asset": WETH, "executions": 2, "volume": 10**15}
    defaults |= {"partner_fees": 10**13, "protocol_fees": 2 * 10**13, "volume_micros": 4_000_000}
    defaults |= {"partner_micros": 10_000, "protocol_micros": 20_000, "accepted": 2, "seconds": 9.0}
    return HourlySum.objects.create(hour=at, partner=partner, **(defaults | facts))


def rows(browser: ConsoleClient, **query: str) -> dict[str, list[list[str]]]:
    answer = browser.get(reverse("figures"), query)
    assert answer.status_code == HTTPStatus.OK
    return {table.name: [list(row) for row in table.rows] for table in answer.context["tables"]}


def test_the_home_shows_what_partners_earned_this_month_highest_first(ops: ConsoleClient, partner: Partner) -> None:
    rich = PartnerFactory.create(name="Rich")
    booked(partner)
    booked(rich, partner_micros=5_000_000)
    context = ops.get(reverse("admin:index")).context
    assert [row[:4] for row in context["earners"].rows] == [
        ["Rich", "2", "$4.00", "$5.00"],
        [partner.name, "2", "$4.00", "$0.01"],
    ]


def test_the_charts_of_the_home_have_a_bar_for_each_day_and_the_total(ops: ConsoleClient, partner: Partner) -> None:
    booked(partner)
    volume, fees, seconds = ops.get(reverse("admin:index")).context["charts"]
    assert (volume.total, fees.total, seconds.total) == ("$4.00", "$0.03", "4.5 s")
    assert [bar.height for bar in volume.bars] == [0.0] * 29 + [100.0]
    assert volume.bars[-1].shown == "$4.00"


def test_a_month_has_its_own_figures_by_partner_network_and_asset(ops: ConsoleClient, partner: Partner) -> None:
    book_fee(partner)  # which stores the asset
    booked(partner, datetime(2026, 9, 30, 23, tzinfo=UTC))
    booked(partner, datetime(2026, 10, 1, tzinfo=UTC), volume_micros=8_000_000)
    september = rows(ops, month="2026-09")
    assert september["partners"] == [[partner.name, "2", "$4.00", "$0.01", "$0.02", "4.5 s"]]
    assert [row[2] for row in september["networks"]] == ["$4.00"]
    assert september["assets"][0][0] == "WETH"
    assert september["assets"][0][2:4] == ["0.00002 WETH", "0.00001 WETH"]
    assert rows(ops, month="2026-10")["partners"][0][2] == "$8.00"


def test_a_table_is_a_file_without_formulas(ops: ConsoleClient) -> None:
    partner = PartnerFactory.create(name="=HYPERLINK(1)")
    book_fee(partner)  # which stores the asset
    booked(partner)
    answer = ops.get(reverse("figures"), {"csv": "partners"})
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    header, row = answer.content.decode().splitlines()
    assert header == "Partner,Sweeps,Volume,Partners' fees,Our fees,Seconds to completion"
    assert row.startswith("'=HYPERLINK(1),2,$4.00")


@pytest.mark.parametrize("query", [{"month": "2026-13"}, {"month": "x"}, {"csv": "secrets"}])
def test_what_is_not_a_month_or_a_table_is_not_found(ops: ConsoleClient, query: dict[str, str]) -> None:
    assert ops.get(reverse("figures"), query).status_code == HTTPStatus.NOT_FOUND


def test_who_may_not_see_entries_sees_no_figures(partner: Partner) -> None:
    booked(partner)
    person = User.objects.create_user("sweeps only", is_staff=True)
    person.user_permissions.add(Permission.objects.get(codename="view_sweep"))
    browser = ConsoleClient()
    browser.force_login(person)
    assert browser.get(reverse("figures")).status_code == HTTPStatus.FORBIDDEN
    assert "charts" not in browser.get(reverse("admin:index")).context
