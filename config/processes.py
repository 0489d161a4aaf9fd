"""What Celery's worker and beat do for those who watch them; they import it at their start, once metrics are shared.

These are receivers of Celery's signals: heartbeats and metrics of the tasks in the pool's processes, probes in the
process above them.
"""

from typing import Any

from celery import Task
from celery.signals import beat_init, celeryd_init, task_postrun, task_prerun, worker_process_init
from celery.utils.log import current_process_index  # type: ignore[attr-defined] # missing in the stubs
from django.conf import settings

from config import task_log
from indexer.tasks import DUE_TASK
from sweepapi.monitoring import metrics, sharing
from sweeps import probes
from sweeps.heartbeats import BEAT, CELERY, Heart

_heart = Heart(CELERY)
_heart_of_beat = Heart(BEAT)


@celeryd_init.connect
def watch_engines(**_signal: object) -> None:
    """Probe the engines in the worker's first process."""
    if settings.HEALTH_BIND:
        probes.start(CELERY)


@beat_init.connect
def watch_engines_beside_beat(**_signal: object) -> None:
    """Probe them in beat's process."""
    if settings.HEALTH_BIND:
        probes.start(BEAT)


@worker_process_init.connect
def use_slot(**_signal: object) -> None:
    """Count under the process's number in the pool, which the process that replaces it gets, too."""
    sharing.use_slot(current_process_index())
    Heart.of_this_thread.heart = _heart  # the one that runs tasks


@task_prerun.connect
def begin(task: Task[..., Any], **_signal: object) -> None:
    """Show that the worker takes tasks, and that beat sends them."""
    _heart.beat()
    if task.name == DUE_TASK:
        _heart_of_beat.beat()


@task_postrun.connect
def end(task: Task[..., Any], state: str, **_signal: object) -> None:
    metrics.TASKS.labels(task.name, task_log.outcome_of(state)).inc()
    metrics.TASK_SECONDS.labels(task.name).observe(task_log.running_seconds())
    _heart.beat()
