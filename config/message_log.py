"""Logs what only a worker's first process knows: the messages that it takes, and the runs whose process died."""

from collections.abc import Callable, Mapping
from typing import Any

import structlog
from billiard.einfo import ExceptionInfo
from celery import Celery, Task
from celery.exceptions import WorkerLostError
from celery.worker.request import Request
from celery.worker.strategy import default
from kombu import Message
from structlog.contextvars import bound_contextvars

log = structlog.get_logger(__name__)


def strategy(task: Task[..., Any], app: Celery, consumer: object, **options: Any) -> Callable[..., None]:  # noqa: ANN401
    """Return what Celery does with a message of this task, with the request id in each line, such as "received"."""
    handle = default(task, app, consumer, **options)

    def handle_in_context(message: Message, *arguments: object) -> None:
        with bound_contextvars(**_ids(message.headers)):
            handle(message, *arguments)

    return handle_in_context


class LoggedRequest(Request):
    """A run of a task, as the process above the one that runs it knows it."""

    def on_failure(self, exc_info: ExceptionInfo, *flags: bool, **named_flags: bool) -> None:
        """Log a run whose process was killed, for that process logged nothing; Celery puts its message back."""
        with bound_contextvars(task_id=self.id, **_ids(self.request_dict)):
            if exc_info.type is WorkerLostError:
                log.error("task", name=self.name, outcome="killed", duration_ms=None, error="WorkerLostError")
            super().on_failure(exc_info, *flags, **named_flags)


def _ids(headers: Mapping[str, Any]) -> dict[str, str]:
    request_id = headers.get("request_id")
    return {} if request_id is None else {"request_id": request_id}
