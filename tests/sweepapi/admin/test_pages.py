"""Lists of large tables say about how many rows there are, and count what a filter leaves."""

import pytest
from django.db import connection

from sweepapi.admin import pages
from sweepapi.admin.pages import EstimatingPaginator
from sweeps.models import Sweep
from tests.factories.sweeps import SweepFactory

pytestmark = pytest.mark.django_db


def analysed() -> None:
    SweepFactory.create_batch(3)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE sweeps_sweep")
    SweepFactory.create()


def test_a_whole_large_table_is_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "MANY_ROWS", 2)
    analysed()
    assert EstimatingPaginator(Sweep.objects.order_by("id"), 10).count == 3


def test_a_small_table_and_what_a_filter_leaves_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    analysed()
    assert EstimatingPaginator(Sweep.objects.order_by("id"), 10).count == 4
    monkeypatch.setattr(pages, "MANY_ROWS", 2)
    assert EstimatingPaginator(Sweep.objects.filter(status="pending"), 10).count == 4
