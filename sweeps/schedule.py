"""When a sweep is looked at next; Celery's countdowns are distances to these times and nothing more."""

from datetime import UTC, datetime, timedelta

from django.conf import settings

from sweepapi.evm.chains import Finality

# Beat comes a few seconds late, and a look at least every 30 seconds is promised.
MAX_RECHECK_SECONDS = 20


def after_deadline(deadline_seconds: int) -> datetime:
    """Return when an unsubmitted sweep is worth a look: as soon as its deadline (seconds since 1970) has passed."""
    return datetime.fromtimestamp(deadline_seconds + 1, tz=UTC)


def first_check(now: datetime) -> datetime:
    """Return when a hash that has no receipt yet is looked up again for the first time."""
    return now + timedelta(seconds=settings.FIRST_CHECK_SECONDS)


def backed_off(now: datetime, *, since: datetime) -> datetime:
    """Return the next look at something that is awaited since then.

    The time awaited so far grows by the backoff factor from look to look, within the shortest and the longest delay.
    """
    awaited_seconds = (now - since).total_seconds() * (settings.CHECK_BACKOFF_FACTOR - 1)
    delay_seconds = min(max(awaited_seconds, settings.FIRST_CHECK_SECONDS), settings.MAX_CHECK_DELAY_SECONDS)
    return now + timedelta(seconds=delay_seconds)


def recheck(now: datetime, finality: Finality) -> datetime:
    """Return when an accepted transaction that is not final yet is looked at again."""
    return now + timedelta(seconds=min(finality.recheck_seconds, MAX_RECHECK_SECONDS))
