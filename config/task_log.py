"""Carries the request id from a request to the tasks that it causes, and writes one line about each run of a task.

These are receivers of Celery's signals, which ``config.celery`` connects.
"""

import time
from contextvars import ContextVar
from typing import Any

import structlog
from celery import Task, states
from structlog.contextvars import bind_contextvars, get_contextvars, unbind_contextvars

OUTCOMES = {states.SUCCESS: "succeeded", states.FAILURE: "failed", states.RETRY: "retried"}

log = structlog.get_logger(__name__)

_started: ContextVar[float] = ContextVar("started")


def send_request_id(headers: dict[str, Any], **_signal: object) -> None:
    """Add the id to a message; a task's retries and the messages that it sends itself are published in its context."""
    request_id = get_contextvars().get("request_id")
    if request_id is not None:
        headers["request_id"] = request_id


def begin(task_id: str, task: Task[..., Any], **_signal: object) -> None:
    """Bind the task's id and the id of the request that caused it, if any, to each line until the task ends."""
    _started.set(time.monotonic())
    bind_contextvars(task_id=task_id)
    request_id = task.request.get("request_id")
    if request_id is not None:
        bind_contextvars(request_id=request_id)


def outcome_of(state: str) -> str:
    return OUTCOMES.get(state, state.lower())


def running_seconds() -> float:
    """Return for how long the task of this process has been running, or ran."""
    return time.monotonic() - _started.get()


def end(task: Task[..., Any], state: str, retval: object, **_signal: object) -> None:
    """Log the run. Of an error only the type: Celery has just logged the rest, with its traceback."""
    log.info(
        "task",
        name=task.name,
        outcome=outcome_of(state),
        duration_ms=round(running_seconds() * 1000, 1),
        error=type(retval).__name__ if state == states.FAILURE else None,
    )
    unbind_contextvars("task_id", "request_id")
