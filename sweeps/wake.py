"""Wakes Celery about a sweep, without ever waiting for it: a lost message costs seconds, which the loop takes."""

import os
import threading
from datetime import datetime
from uuid import UUID

import structlog
from celery import current_app
from django.db import transaction
from django.utils import timezone
from kombu.exceptions import OperationalError
from kombu.messaging import Producer

from sweeps.store.leases import make_due

log = structlog.get_logger(__name__)

CHECK_TASK = "indexer.check_sweep"
PUBLISH_TIMEOUT_SECONDS = 0.5


_kept = threading.local()


def wake(sweep_id: UUID, *, at: datetime) -> None:
    """Ask the worker to check a sweep at this time; call it after the commit that set ``next_check_at``."""
    publish(CHECK_TASK, str(sweep_id), countdown_seconds=(at - timezone.now()).total_seconds())


def publish(task: str, *arguments: str, countdown_seconds: float = 0.0) -> bool:
    """Send a message, and return whether it was sent; if the broker is down or slow, log that and give up."""
    countdown = max(countdown_seconds, 0.0)
    try:
        current_app.send_task(task, args=arguments, countdown=countdown, producer=_producer(), retry=False)
    except OperationalError as error:
        log.warning("message_lost", task=task, arguments=arguments, error=type(error).__name__)
        return False
    return True


def _producer() -> Producer:
    """Return this thread's producer, whose connection is kept: opening one takes longer than sending a message.

    A connection that Redis closed meanwhile is replaced when it is used. A forked process makes its own.
    """
    made_for = os.getpid(), current_app.conf.broker_write_url
    if getattr(_kept, "made_for", None) != made_for:
        transport_options = {
            **current_app.conf.broker_transport_options,
            "socket_timeout": PUBLISH_TIMEOUT_SECONDS,
            "socket_connect_timeout": PUBLISH_TIMEOUT_SECONDS,
            "max_retries": 0,
        }
        connection = current_app.connection_for_write(
            connect_timeout=PUBLISH_TIMEOUT_SECONDS, transport_options=transport_options
        )
        _kept.producer, _kept.made_for = Producer(connection), made_for  # it connects when it is used
    producer: Producer = _kept.producer
    return producer


def check_now(sweep_id: UUID) -> bool:
    """Make an open sweep due at once and wake the worker; return False for one that is closed."""
    now = timezone.now()
    is_due = make_due(sweep_id, at=now)
    if is_due:
        transaction.on_commit(lambda: wake(sweep_id, at=now))
    return is_due
