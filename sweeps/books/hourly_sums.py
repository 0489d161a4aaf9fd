"""Sums what the ledger booked by hour, partner and asset; the last hours are summed again, until they are over."""

from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from django.db import connection
from django.db.models import Max
from django.db.models.functions import TruncHour

from ledger.models import JournalEntry
from sweeps.models import HourlySum

LATE = timedelta(minutes=10)  # entries are committed within seconds of their time
HOUR = timedelta(hours=1)


def sum_hours() -> None:
    """Sum each hour that has entries, from the last one that was summed on; all of them if none was."""
    entries = JournalEntry.objects.all()
    last = HourlySum.objects.aggregate(hour=Max("hour"))["hour"]
    if last is not None:
        entries = entries.filter(posted_at__gte=_hour_of(last - LATE))
    hours = entries.annotate(hour=TruncHour("posted_at", tzinfo=UTC)).values_list("hour", flat=True)
    for hour in hours.distinct().order_by("hour"):
        with connection.cursor() as cursor:
            cursor.execute(_statement(), {"begin": hour, "end": hour + HOUR})


def _hour_of(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)


@cache
def _statement() -> str:
    return Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
