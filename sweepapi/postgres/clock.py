"""The database's clock, by which what it stores is timed and due; those of other hosts may differ."""

from datetime import datetime

from django.db import connection


def database_time() -> datetime:
    """Return the time by it, which goes on during a transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        time: datetime = cursor.fetchone()[0]
    return time
