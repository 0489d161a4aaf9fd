"""Celery's scheduler, which also shows that it ticks, and sends nothing more while no worker takes what it sent."""

from threading import Event, Thread
from typing import Any

import structlog
from celery.beat import PersistentScheduler, ScheduleEntry
from celery.signals import beat_init
from django.conf import settings
from django.db import close_old_connections

from sweepapi.broker_state import BrokerState
from sweeps.heartbeats import BEAT, Heart

MOST_WAITING = 50  # messages, which are those of about twelve seconds; each says what the next one says, too

log = structlog.get_logger(__name__)
_heart = Heart(BEAT)
_ticked = Event()
_broker = BrokerState()


@beat_init.connect
def show_ticks(**_signal: object) -> None:
    """Start writing the heartbeat. In a thread, so that what beat sends never waits for a silent database."""
    Thread(target=_beat_with_ticks, name="heartbeat", daemon=True).start()


def _beat_with_ticks() -> None:
    while _ticked.wait():
        _ticked.clear()
        write_heartbeat()


def write_heartbeat() -> None:
    """Write the time of a tick, on a new connection if the database left the last one in the middle of something."""
    close_old_connections()
    _heart.beat()


class Scheduler(PersistentScheduler):
    def tick(self, *args: Any, **kwargs: Any) -> float:  # noqa: ANN401 - Celery's own parameters
        """Send what is due."""
        _ticked.set()
        self._forget_the_future()
        return super().tick(*args, **kwargs)

    def _forget_the_future(self) -> None:
        """Plan again if the clock was set back; Celery would send nothing until it is where it was."""
        now = self.app.now()
        ahead = [entry for entry in self.schedule.values() if (entry.last_run_at or now) > now]
        for entry in ahead:
            entry.last_run_at = now
        if ahead:
            self._heap = None

    def apply_async(self, entry: ScheduleEntry, *args: Any, **kwargs: Any) -> object:  # noqa: ANN401 - as above
        """Send an entry unless so many messages wait already; Celery logs the error if the broker does not answer."""
        waiting = _broker.waiting(settings.PERIODIC_QUEUE)
        if waiting >= MOST_WAITING:
            log.warning("message_not_needed", task=entry.task, waiting=waiting)
            return None
        return super().apply_async(entry, *args, **kwargs)
