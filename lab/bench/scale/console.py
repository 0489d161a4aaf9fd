"""How long the console's pages take with many sweeps, and how much of the database its search reads."""

import re
from collections.abc import Callable, Mapping
from http import HTTPStatus
from statistics import median
from typing import Any

from django.contrib.auth.models import User

from lab.bench.report import Section, Target
from lab.bench.scale.latency import milliseconds, plans_of
from lab.bench.scale.stock import Stock
from sweeps.books.hourly_sums import sum_hours
from sweeps.models import SweepTransaction
from tests.operator_browser import ConsoleClient, reverse

TIMES = 20
MOST_MS, MOST_MS_OF_SEARCH, MOST_BUFFERS = 500.0, 300.0, 200
_BUFFERS = re.compile(r"^ *Buffers: shared (?:hit=(\d+))?(?: ?read=(\d+))?")


def measure_console(stock: Stock) -> Section:
    """Open each page some times, the first of which only warms up."""
    browser = ConsoleClient(SERVER_NAME="localhost")
    browser.force_login(User.objects.create_superuser("benchmark"))
    sum_hours()
    pages = _pages(browser)
    rows: list[dict[str, Any]] = [
        {"page": name, "median ms": median([milliseconds(page) for _ in range(TIMES)][1:]), "buffers": _read_by(page)}
        for name, page in pages.items()
    ]
    rows.append({"page": "the sums of the last hours", "median ms": milliseconds(sum_hours), "buffers": 0})
    targets = [
        Target(f"ms of {row['page']} with {stock.loaded:,} sweeps", round(row["median ms"], 1), _most(row["page"]))
        for row in rows[:-1]
    ]
    of_search = [row["buffers"] for row in rows if row["page"].startswith("search")]
    targets.append(Target("buffers that a statement of the search reads, at most", max(of_search), MOST_BUFFERS))
    return Section("The console's pages", [row | {"median ms": round(row["median ms"], 1)} for row in rows], targets)


def _most(page: str) -> float:
    return MOST_MS_OF_SEARCH if page.startswith("search") else MOST_MS


def _pages(browser: ConsoleClient) -> Mapping[str, Callable[[], object]]:
    tx = SweepTransaction.objects.select_related("sweep").latest("pk")
    lists, search = reverse("admin:sweeps_sweep_changelist"), reverse("admin:search")
    paths = {
        "home": (reverse("admin:index"), {}),
        "figures of a month": (reverse("figures"), {}),
        "a sweep": (reverse("admin:sweeps_sweep_change", args=[tx.sweep_id]), {}),
        "all sweeps": (lists, {}),
        **{f"queue {name}": (lists, {"queue": name}) for name in ("stuck", "flagged", "failing", "unsent")},
        "search by a hash": (search, {"s": tx.tx_hash, "extended": "1"}),
        "search by a wallet": (search, {"s": tx.sweep.wallet, "extended": "1"}),
        "search by an id": (search, {"s": str(tx.sweep_id), "extended": "1"}),
        "search by how a hash begins": (search, {"s": tx.tx_hash[:12], "extended": "1"}),
    }
    return {name: _opened(browser, path, query) for name, (path, query) in paths.items()}


def _opened(browser: ConsoleClient, path: str, query: Mapping[str, str]) -> Callable[[], object]:
    def open_page() -> None:
        answer = browser.get(path, query)
        if answer.status_code != HTTPStatus.OK:
            raise RuntimeError(f"{path} was answered {answer.status_code}")

    return open_page


def _read_by(page: Callable[[], object]) -> int:
    """Return the buffers of the statement of a page that reads the most."""
    most = 0
    for plan in plans_of(page):
        first = next((found for line in plan["plan"] if (found := _BUFFERS.match(line))), None)
        if first is not None:
            most = max(most, sum(int(count or 0) for count in first.groups()))
    return most
