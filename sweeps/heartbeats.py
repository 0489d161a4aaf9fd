"""Signs of life of the loop, Celery and beat: written by their work, read where it matters that one is away.

The worker is the job of the loop that checks sweeps; its heart beats with each round and between its steps, as that of
the job that delivers webhooks does. Celery's beats with its tasks, and beat's with those that beat sends every few
seconds. So a process that is alive and does nothing is away, too.
"""

import threading
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar

import structlog
from django import db
from django.conf import settings
from django.db.models import DurationField, ExpressionWrapper, F
from django.db.models.functions import Now

from sweeps.models import Heartbeat

NAMES = WORKER, WEBHOOKS, CELERY, BEAT = "worker", "webhooks", "celery", "beat"
PAUSE_SECONDS = 1.0
PAUSE_AFTER_FAILURE_SECONDS = 5.0  # an attempt may take seconds while the database is down
# In which nothing may have been due: each works every DUE_SWEEP_SECONDS.
MIN_AWAY_SECONDS = 10.0

log = structlog.get_logger(__name__)


@dataclass
class Heart:
    """What shows that some work goes on."""

    of_this_thread: ClassVar = threading.local()  # its ``heart`` is set where jobs or tasks run
    name: str
    _paused_until: float = 0.0  # monotonic seconds

    def beat(self) -> None:
        """Write the time, unless that was done within the last second; a database that is down is left alone longer."""
        now = time.monotonic()
        if now < self._paused_until:
            return
        self._paused_until = now + PAUSE_SECONDS
        try:
            Heartbeat.objects.bulk_create(
                [Heartbeat(name=self.name)], update_conflicts=True, update_fields=["at"], unique_fields=["name"]
            )
        except db.Error as error:
            self._paused_until = time.monotonic() + PAUSE_AFTER_FAILURE_SECONDS
            log.warning("heartbeat_lost", name=self.name, error=type(error).__name__)


def show_progress() -> None:
    """Beat between two steps of work that may last long; does nothing where no heart is."""
    heart = getattr(Heart.of_this_thread, "heart", None)
    if heart is not None:
        heart.beat()


@dataclass(frozen=True)
class Presence:
    """When a process was last at work, None if never, and whether that was just now."""

    last_seen_at: datetime | None
    is_at_work: bool

    @property
    def away_since(self) -> datetime | None:
        return None if self.is_at_work else self.last_seen_at


UNSEEN = Presence(None, is_at_work=False)


def presences() -> dict[str, Presence]:
    """Return the presence of each process that was ever seen, by the database's clock."""
    away_after = timedelta(seconds=max(3 * settings.DUE_SWEEP_SECONDS, MIN_AWAY_SECONDS))
    age = ExpressionWrapper(Now() - F("at"), output_field=DurationField())
    return {row.name: Presence(row.at, is_at_work=row.age <= away_after) for row in Heartbeat.objects.annotate(age=age)}


def worker_presence() -> Presence:
    """Return the worker's presence; without the database it can't be at work, and when it was last is not known."""
    try:
        return presences().get(WORKER, UNSEEN)
    except (db.OperationalError, db.InterfaceError):
        return UNSEEN
