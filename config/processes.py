"""What worker and beat do for those who watch them; they import it at their start, once their metrics are shared.

These are receivers of Celery's signals: heartbeats and metrics of the tasks in the pool's processes, probes and figures
in the process above them.
"""

from typing import Any

from celery import Task
from celery.signals import beat_init, celeryd_init, task_postrun, task_prerun, worker_process_init
from celery.utils.log import current_process_index  # type: ignore[attr-defined] # missing in the stubs
from django.conf import settings

from config import task_log
from indexer import figures
from sweepapi.monitoring import metrics, sharing
from sweeps import probes
from sweeps.heartbeats import WORKER, Heart

_heart = Heart(WORKER)


@celeryd_init.connect
def watch_worker(**_signal: object) -> None:
    """Probe the engines and measure the figures in the worker's first process."""
    if settings.HEALTH_BIND:
        probes.start()
        figures.start()


@beat_init.connect
def watch_beat(**_signal: object) -> None:
    """Probe the engines in beat's process."""
    if settings.HEALTH_BIND:
        probes.start()


@worker_process_init.connect
def use_slot(**_signal: object) -> None:
    """Count under the process's number in the pool, which the process that replaces it gets, too."""
    sharing.use_slot(current_process_index())


@worker_process_init.connect
def beat_in_tasks(**_signal: object) -> None:
    """Let long tasks show that they go on."""
    Heart.of_tasks = _heart


@task_prerun.connect
def begin(**_signal: object) -> None:
    """Show that the worker takes tasks; one of them may be a long one."""
    _heart.beat()


@task_postrun.connect
def end(task: Task[..., Any], state: str, **_signal: object) -> None:
    metrics.TASKS.labels(task.name, task_log.outcome_of(state)).inc()
    metrics.TASK_SECONDS.labels(task.name).observe(task_log.running_seconds())
    _heart.beat()
