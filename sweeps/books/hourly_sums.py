"""Sums what the ledger booked by hour, partner and asset; the last hours are summed again, until they are over."""

from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from uuid import UUID

from django.db import connection
from django.db.models import Max
from django.utils import timezone

from sweeps.models import HourlySum

# Entries are committed within seconds of their time, and ids are made by other clocks than the database's.
LATE = timedelta(minutes=10)
BEGINNING = datetime(2020, 1, 1, tzinfo=UTC)


def sum_hours() -> None:
    """Sum from the hour before the last one that was summed; from the first entry on if none was."""
    last = HourlySum.objects.aggregate(hour=Max("hour"))["hour"]
    hour = BEGINNING if last is None else min(last, timezone.now() - LATE).replace(minute=0, second=0, microsecond=0)
    with connection.cursor() as cursor:
        cursor.execute(_statement(), {"hour": hour, "first_id": _first_id(hour - LATE)})


def _first_id(moment: datetime) -> UUID:
    """Return the lowest UUID of version 7 of a time (RFC 9562, section 5.7)."""
    return UUID(int=int(moment.timestamp() * 1_000) << 80)


@cache
def _statement() -> str:
    return Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
