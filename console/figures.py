"""What the service did, by day, partner, network and asset: charts for the home, and a page of tables with CSV.

All of it is from the sums of hours, so it costs the same however many sweeps there are. Times are in UTC.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib import admin
from django.contrib.auth.decorators import permission_required
from django.db.models import QuerySet, Sum
from django.db.models.functions import TruncDay
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from ledger.csv_files import inert
from ledger.models import Asset
from ledger.statements.month import Month
from partners.models import Partner
from sweepapi import networks
from sweepapi.token_amounts import whole_tokens
from sweeps.models import HourlySum

PERMISSION = "ledger.view_journalentry"
DAYS = 30
EARNERS = 10
SUMS = {
    "executions_": Sum("executions"),
    "volume_": Sum("volume_micros"),
    "partner_": Sum("partner_micros"),
    "protocol_": Sum("protocol_micros"),
    "partner_units": Sum("partner_fees"),  # of one asset alone; as the next one
    "protocol_units": Sum("protocol_fees"),
    "accepted_": Sum("accepted"),
    "seconds_": Sum("seconds"),
}
HEADERS = ("Sweeps", "Volume", "Partners' fees", "Our fees", "Seconds to completion")


@dataclass(frozen=True)
class Bar:
    """A day of a chart; its height is in percent of the highest."""

    day: str
    shown: str
    height: float


@dataclass(frozen=True)
class Chart:
    """A figure by day, the oldest first."""

    title: str
    total: str
    bars: Sequence[Bar]


@dataclass(frozen=True)
class FigureTable:
    """The figures of a month by one thing."""

    name: str
    title: str
    headers: Sequence[str]
    rows: Sequence[Sequence[str]]


def charts() -> list[Chart]:
    """Return volume, fees and time to completion of the last days."""
    today = timezone.now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    first = today - timedelta(days=DAYS - 1)
    rows = HourlySum.objects.filter(hour__gte=first).annotate(day=TruncDay("hour", tzinfo=UTC))
    by_day = {row["day"]: row for row in _summed(rows, "day")}
    days = [first + timedelta(days=number) for number in range(DAYS)]
    every = [by_day.get(day, dict.fromkeys(SUMS, 0)) for day in days]
    volume = [row["volume_"] for row in every]
    fees = [row["partner_"] + row["protocol_"] for row in every]
    seconds = [_seconds(row) or 0 for row in every]
    of_all = {name: sum(row[name] for row in every) for name in SUMS}
    return [
        _chart("Volume", dollars(sum(volume)), days, volume, [dollars(one) for one in volume]),
        _chart("Fees", dollars(sum(fees)), days, fees, [dollars(one) for one in fees]),
        _chart("Time to completion", _shown_seconds(of_all), days, seconds, [_shown_seconds(row) for row in every]),
    ]


def earners() -> FigureTable:
    """Return the partners that earned the most this month."""
    table = _by_partner(_of(Month.of(timezone.now())))
    return FigureTable(table.name, table.title, table.headers, table.rows[:EARNERS])


@admin.site.admin_view
@permission_required(PERMISSION, raise_exception=True)
def figures(request: HttpRequest) -> HttpResponse:
    """Show the tables of a month, or one of them as CSV."""
    this_month = Month.of(timezone.now())
    try:
        month = Month.parse(request.GET.get("month", str(this_month)))
    except ValueError:
        raise Http404 from None
    rows = _of(month)
    tables = [_by_partner(rows), _by_network(rows), _by_asset(rows)]
    wanted = request.GET.get("csv")
    if wanted is not None:
        return _as_csv(next((table for table in tables if table.name == wanted), None), month)
    months = [str(this_month.shifted(-number)) for number in range(12)]
    context = {"title": f"Figures of {month}", "tables": tables, "months": months, "month": str(month)}
    return render(request, "console/figures.html", {**admin.site.each_context(request), **context})


def _as_csv(table: FigureTable | None, month: Month) -> HttpResponse:
    if table is None:
        raise Http404
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{table.name}-{month}.csv"'
    csv.writer(response).writerows([table.headers, *([inert(row[0]), *row[1:]] for row in table.rows)])
    return response


def _of(month: Month) -> QuerySet[HourlySum]:
    return HourlySum.objects.filter(hour__gte=month.start, hour__lt=month.end)


def _summed(rows: Any, *by: str) -> list[dict[str, Any]]:  # noqa: ANN401 - a query set, annotated or not
    """Return the sums for each combination of these fields."""
    return list(rows.values(*by).annotate(**SUMS).order_by())


def _highest_first(rows: list[dict[str, Any]], by: str) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: int(row[by]), reverse=True)


def _by_partner(rows: QuerySet[HourlySum]) -> FigureTable:
    found = _highest_first(_summed(rows, "partner"), "partner_")
    names: Mapping[Any, str] = dict(Partner.objects.values_list("pk", "name"))
    listed = [[names[row["partner"]], *_cells(row)] for row in found]
    return FigureTable("partners", "By partner", ("Partner", *HEADERS), listed)


def _by_network(rows: QuerySet[HourlySum]) -> FigureTable:
    found = _highest_first(_summed(rows, "network"), "volume_")
    listed = [[networks.current().name_of(row["network"]), *_cells(row)] for row in found]
    return FigureTable("networks", "By network", ("Network", *HEADERS), listed)


def _by_asset(rows: QuerySet[HourlySum]) -> FigureTable:
    """Return our revenue by asset, in whole tokens and in the reference stablecoin."""
    found = _highest_first(_summed(rows, "network", "asset"), "protocol_")
    known = {(one.network, one.asset): one for one in Asset.objects.all()}
    headers = ("Asset", "Network", "Our fees in it", "Partners' fees in it", *HEADERS)
    return FigureTable("assets", "By output token", headers, list(_asset_rows(found, known)))


def _asset_rows(found: list[dict[str, Any]], known: Mapping[tuple[str, str], Asset]) -> Iterator[list[str]]:
    for row in found:
        asset = known[row["network"], row["asset"]]
        amounts = [
            f"{whole_tokens(row[name], asset.decimals)} {asset.symbol}" for name in ("protocol_units", "partner_units")
        ]
        yield [asset.symbol or asset.asset, networks.current().name_of(asset.network), *amounts, *_cells(row)]


def _cells(row: Mapping[str, Any]) -> list[str]:
    return [
        f"{row['executions_']:,}",
        dollars(row["volume_"]),
        dollars(row["partner_"]),
        dollars(row["protocol_"]),
        _shown_seconds(row),
    ]


def dollars(micros: int) -> str:
    """Return millionths of the reference stablecoin as people write them."""
    return f"${micros / 10**6:,.2f}" if micros >= 0 else f"-${-micros / 10**6:,.2f}"


def _seconds(row: Mapping[str, Any]) -> float | None:
    return row["seconds_"] / row["accepted_"] if row["accepted_"] else None


def _shown_seconds(row: Mapping[str, Any]) -> str:
    seconds = _seconds(row)
    return "-" if seconds is None else f"{seconds:.1f} s"


def _chart(title: str, total: str, days: Sequence[datetime], values: Sequence[float], shown: Sequence[str]) -> Chart:
    highest = max(*values, 0) or 1
    heights = [round(max(100 * float(value) / float(highest), 0), 1) for value in values]
    each = zip(days, shown, heights, strict=True)
    return Chart(title, total, [Bar(f"{day:%Y-%m-%d}", text, height) for day, text, height in each])
