"""The time of a sweep's next check; Celery's countdowns are derived from it."""

from datetime import datetime, timedelta

from django.conf import settings

MAX_AGREEMENT_DELAY_SECONDS = 8.0


def first_check(now: datetime) -> datetime:
    """Return when a hash that has no receipt yet is looked up again for the first time."""
    return now + timedelta(seconds=settings.FIRST_CHECK_SECONDS)


def agreement_check(now: datetime, *, since: datetime, counts_at: datetime) -> datetime:
    """Return when to check again what providers have not shown alike since ``since``: after 1, 2, 4 and 8 s.

    It is checked at ``counts_at``, too, when the word of one of them may do.
    """
    awaited_seconds = (now - since).total_seconds()
    at = now + timedelta(seconds=min(max(awaited_seconds, 1.0), MAX_AGREEMENT_DELAY_SECONDS))
    return min(at, counts_at) if counts_at > now else at


def backed_off(now: datetime, *, since: datetime) -> datetime:
    """Return the time of the next check at something that is awaited since ``since``.

    The time awaited grows by the backoff factor from check to check, within the shortest and the longest delay.
    """
    awaited_seconds = (now - since).total_seconds() * (settings.CHECK_BACKOFF_FACTOR - 1)
    delay_seconds = min(max(awaited_seconds, settings.FIRST_CHECK_SECONDS), settings.MAX_CHECK_DELAY_SECONDS)
    return now + timedelta(seconds=delay_seconds)
