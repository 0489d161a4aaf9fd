"""The Celery application that web, worker and beat share: web only sends to it."""

import gc
import os

from celery import Celery
from celery.signals import (
    beat_init,
    before_task_publish,
    celeryd_init,
    import_modules,
    task_postrun,
    task_prerun,
    worker_process_init,
)
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, close_old_connections, connections

from config import task_log
from config.startup import refuse_wrong_configuration
from sweepapi.monitoring import listener
from sweepapi.startup.needs import STORES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# A task writes batches. Much shorter than the time in which work has to resume, also when a database was replaced by
# another one and the connections to the first are silent.
DATABASE_DEADLINE_SECONDS = 2.0


@import_modules.connect
def listen(**_signal: object) -> None:
    """Serve the health of worker or beat. Connected before the app is made, so that no module has defined a metric."""
    if settings.HEALTH_BIND:
        listener.start(settings.HEALTH_BIND)


app = Celery("sweepapi")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

before_task_publish.connect(task_log.send_request_id)
task_prerun.connect(task_log.begin)
task_postrun.connect(task_log.end)


@import_modules.connect(sender=app)
def check_configuration(**_signal: object) -> None:
    """Stop worker and beat before they start; of all signals, Celery raises the errors of this one only."""
    refuse_wrong_configuration(needed=STORES)


@celeryd_init.connect
@beat_init.connect
def keep_connection(**_signal: object) -> None:
    """Let each process of a worker use one database connection all the time; tasks test it before each."""
    connections.settings[DEFAULT_DB_ALIAS]["CONN_MAX_AGE"] = 600


@celeryd_init.connect
@beat_init.connect
def limit_waits(**_signal: object) -> None:
    """Give up a database that is silent, and what would hold locks for long."""
    connections.settings[DEFAULT_DB_ALIAS]["OPTIONS"]["deadline_seconds"] = DATABASE_DEADLINE_SECONDS


@worker_process_init.connect
def freeze_heap(**_signal: object) -> None:
    """Have garbage collection skip what the start loaded; searching it took a third of the time of a check."""
    gc.freeze()


@task_prerun.connect
@task_postrun.connect
def close_unusable_connections(**_signal: object) -> None:
    """Do for a task what Django does for a request; see CELERY_DB_REUSE_MAX."""
    close_old_connections()
