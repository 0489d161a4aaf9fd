"""The loop of ``manage.py work``: repeats each job in a thread of its own, and ends the process if one stands still.

A job claims what is due, acts outside any transaction, and records the outcome. One that fails is logged, counted and
repeated, and keeps no other from its turn: so the loop outlasts PostgreSQL, Redis and providers. Where a job waits for
something that never comes, the process ends, and what started it starts it again. A job goes on while its statements
and its requests to providers end, one way or the other, so a round may last as long as it needs.
"""

import os
import threading
import time
from collections.abc import Callable, Collection, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from threading import Event, Thread
from typing import Any

import structlog
from django import db
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, close_old_connections, connection, connections

from sweepapi.monitoring import metrics
from sweepapi.rpc.observing import observe
from sweeps.heartbeats import Heart, show_progress

# Statements of jobs write batches. Much shorter than the time in which work has to resume, also when a database was
# replaced by another one and the connections to the first are silent.
DATABASE_DEADLINE_SECONDS = 2.0
PAUSE_AFTER_FAILURE_SECONDS = 1.0
PROGRESS_CHECK_SECONDS = 1.0
STALLED_SECONDS = 10.0  # beyond the longest wait of a step, after which the process ends
STALLED = 70  # the exit code: EX_SOFTWARE of sysexits.h

log = structlog.get_logger(__name__)

_this_thread = threading.local()  # in that of a job, ``note`` says that the job goes on


@dataclass(frozen=True)
class Job:
    """Something that is due again and again."""

    name: str
    period_seconds: float  # from the end of a round to the beginning of the next
    round: Callable[[], object]  # claims, acts and records; safe to run in several processes at once
    heart: str | None = None  # the name under which it shows that it is at work
    end: Callable[[], None] | None = None  # records what is under way when the loop stops
    secrets: Collection[str] = ()  # those of ``sweepapi.startup.needs`` that no round can do without


@dataclass
class Runner:
    """Runs jobs until it is stopped."""

    jobs: Sequence[Job]
    stopping: Event
    exit: Callable[[int], object] = os._exit  # of the process, whatever its other threads wait for
    _progress: dict[str, float] = field(default_factory=dict)  # monotonic seconds, by the name of the job
    _checked_at: float = field(default_factory=time.monotonic)
    _thawed_at: float = 0.0

    def run(self) -> None:
        """Wait for the database, run the jobs until stopped, and let each finish its round."""
        connections.settings[DEFAULT_DB_ALIAS]["CONN_MAX_AGE"] = None  # each thread keeps its connection
        connections.settings[DEFAULT_DB_ALIAS]["OPTIONS"]["deadline_seconds"] = DATABASE_DEADLINE_SECONDS
        while not self.stopping.is_set() and not _database_answers():
            self.stopping.wait(PAUSE_AFTER_FAILURE_SECONDS)
        # Daemons, so that an error in this thread ends the process, too.
        run = [partial(copy_context().run, self._repeat, job) for job in self.jobs]
        threads = [Thread(target=one, name=job.name, daemon=True) for one, job in zip(run, self.jobs, strict=True)]
        for thread in threads:
            thread.start()
        log.info("work_ready", jobs=[job.name for job in self.jobs])
        for thread in threads:
            while thread.is_alive():
                thread.join(PROGRESS_CHECK_SECONDS)
                self.check_progress()
        log.info("work_stopped")

    def check_progress(self) -> None:
        """End the process if a job made no progress although the database answers."""
        waits_seconds = max(settings.RPC_TIMEOUT_SECONDS, DATABASE_DEADLINE_SECONDS)
        before, self._checked_at = self._checked_at, time.monotonic()
        if self._checked_at - before > STALLED_SECONDS:  # the whole process was frozen
            self._thawed_at = self._checked_at
        oldest = self._checked_at - waits_seconds - STALLED_SECONDS
        progress = self._progress.copy()  # other threads change it
        stalled = [name for name, at in progress.items() if max(at, self._thawed_at) < oldest]
        if stalled and _database_answers():
            log.critical("work_stalled", jobs=stalled)
            self.exit(STALLED)

    def _repeat(self, job: Job) -> None:
        _this_thread.note = partial(self._note, job)
        if job.heart is not None:
            Heart.of_this_thread.heart = Heart(job.heart)
        with connection.execute_wrapper(_noting_statements):
            while not self.stopping.is_set():
                self._note(job)
                pause = 0.0 if self._succeeds(job) else PAUSE_AFTER_FAILURE_SECONDS
                del self._progress[job.name]  # until the next round it waits for nothing
                self.stopping.wait(max(job.period_seconds, pause))
        if job.end is not None:
            job.end()
        connection.close()

    def _succeeds(self, job: Job) -> bool:
        started = time.monotonic()
        try:
            close_old_connections()
            show_progress()
            job.round()
        except Exception as error:
            log.exception("job_failed", job=job.name)
            metrics.JOBS.labels(job.name, "failed").inc()
            if isinstance(error, db.Error):
                connection.close()
            return False
        metrics.JOBS.labels(job.name, "succeeded").inc()
        metrics.JOB_SECONDS.labels(job.name).observe(time.monotonic() - started)
        return True

    def _note(self, job: Job) -> None:
        self._progress[job.name] = time.monotonic()


def _note_progress(*_batch: object) -> None:
    """Have the job of this thread go on; in a thread of no job, do nothing."""
    note = getattr(_this_thread, "note", None)
    if note is not None:
        note()


def _noting_statements(execute: Callable[..., Any], *statement: object) -> Any:  # noqa: ANN401 Django's signature
    try:
        return execute(*statement)
    finally:
        _note_progress()


observe(_note_progress)


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except db.Error as error:
        log.warning("work_without_database", error=type(error).__name__)
        connection.close()
        return False
    return True
