"""Nudging the worker about a sweep, without ever waiting for it: a lost nudge costs delay, until beat finds the row."""

from datetime import datetime
from uuid import UUID

import structlog
from celery import current_app
from django.db import transaction
from django.utils import timezone
from kombu.exceptions import OperationalError

from sweeps.models import Sweep

log = structlog.get_logger(__name__)

CHECK_TASK = "indexer.check_sweep"
CANCEL_TASK = "indexer.send_cancellations"
PUBLISH_TIMEOUT_SECONDS = 0.5


def nudge(sweep_id: UUID, *, at: datetime) -> None:
    """Ask the worker to look at a sweep at this time; call it after the commit that set ``next_check_at``."""
    _publish(CHECK_TASK, str(sweep_id), countdown_seconds=max((at - timezone.now()).total_seconds(), 0.0))


def nudge_cancellations() -> None:
    """Ask the worker to send cancellations; call it after the commit that recorded the request."""
    _publish(CANCEL_TASK)


def _publish(task: str, *arguments: str, countdown_seconds: float = 0.0) -> None:
    """Send a message; if the broker is down or slow, log that and give up."""
    transport_options = {
        **current_app.conf.broker_transport_options,
        "socket_timeout": PUBLISH_TIMEOUT_SECONDS,
        "socket_connect_timeout": PUBLISH_TIMEOUT_SECONDS,
        "max_retries": 0,
    }
    try:
        with current_app.connection_for_write(
            connect_timeout=PUBLISH_TIMEOUT_SECONDS, transport_options=transport_options
        ) as connection:
            current_app.send_task(task, args=arguments, countdown=countdown_seconds, connection=connection, retry=False)
    except OperationalError as error:
        log.warning("nudge_lost", task=task, arguments=arguments, error=type(error).__name__)


def check_now(sweep_id: UUID) -> bool:
    """Make an open sweep due at once and nudge the worker; return False for one that is closed."""
    now = timezone.now()
    is_due = bool(Sweep.objects.filter(id=sweep_id, is_open=True).update(next_check_at=now))
    if is_due:
        transaction.on_commit(lambda: nudge(sweep_id, at=now))
    return is_due
