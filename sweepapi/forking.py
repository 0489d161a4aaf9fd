"""A lock of a process that may be forked while another of its threads holds it."""

import os
from threading import Lock
from types import TracebackType


class ForkSafeLock:
    """A lock that is free in a new child, which has none of the threads that could release it; for a whole module.

    So what it protects must be usable at any point of a change. A fork does not wait for it: of several locks for which
    forks wait, two could wait for each other.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        self._lock.release()
