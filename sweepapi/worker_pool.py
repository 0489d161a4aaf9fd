"""Celery's pool of processes, which keeps what it has read of a result when the connection to Redis is lost.

The event loop reads a result from its process in pieces. When Redis is lost, Celery 5.7 resets the loop, and with it
forgets a result of which it has read the beginning. It then takes the rest for another one, fails, and stops reading
from that process, without a line in its log: a worker with one process takes no task any more. Large results are those
of tasks that failed, so this happens when PostgreSQL and Redis go away together.
"""

from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

from celery.concurrency import asynpool, prefork


class ResultHandler(asynpool.ResultHandler):
    """Celery's reader of results, which goes on with one that it had begun."""

    fileno_to_outq: dict[int, Any]  # what the library's type stubs leave out

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 Celery's own
        super().__init__(*args, **options)
        self._unfinished = WeakKeyDictionary[Any, Iterator[None]]()  # by process

    def _recv_message(self, add_reader: Callable[..., None], fd: int, callback: Callable[..., None]) -> Iterator[None]:
        process = self.fileno_to_outq[fd]
        reading = self._unfinished.pop(process, None)
        if reading is None:
            reading = super()._recv_message(add_reader, fd, callback)  # type: ignore[misc] # missing in the stubs
        for pause in reading:
            self._unfinished[process] = reading
            yield pause
            # Resumed, unless the loop was reset: then this ends here, and the next call takes ``reading`` over.
            self._unfinished.pop(process, None)


class AsynPool(asynpool.AsynPool):
    ResultHandler = ResultHandler


class TaskPool(prefork.TaskPool):
    """What ``CELERY_WORKER_POOL`` names."""

    Pool = AsynPool
