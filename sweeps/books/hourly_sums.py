"""Sums what the ledger booked by hour, partner and asset; the last hours are summed again, until they are over."""

from datetime import timedelta
from functools import cache
from pathlib import Path

from django.db import connection
from django.db.models import Max, Min
from django.utils import timezone

from ledger.models import JournalEntry
from sweeps.models import HourlySum

LATE = timedelta(minutes=10)  # entries are committed within seconds of their time
STEP = timedelta(hours=6)  # a statement


def sum_hours() -> None:
    """Sum from the last hour that was summed; from that of the first entry on if none was."""
    last = HourlySum.objects.aggregate(hour=Max("hour"))["hour"]
    begin = last or JournalEntry.objects.aggregate(first=Min("posted_at"))["first"]
    now = timezone.now()
    if begin is None:
        return
    begin = min(begin, now - LATE).replace(minute=0, second=0, microsecond=0)
    while begin <= now:
        with connection.cursor() as cursor:
            cursor.execute(_statement(), {"begin": begin, "end": begin + STEP})
        begin += STEP


@cache
def _statement() -> str:
    return Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
