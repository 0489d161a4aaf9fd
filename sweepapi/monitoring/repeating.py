"""A thread that repeats its work, in a process that may fork meanwhile."""

import os
import time
from collections.abc import Callable
from threading import Lock, Thread


class Repeating(Thread):
    """Does the work again and again, with a pause in between. An error that the work does not expect ends it.

    A fork waits until the work is done: the child would have this thread's locks, without the thread to release them.
    """

    def __init__(self, name: str, work: Callable[[], None], *, pause_seconds: float) -> None:
        super().__init__(name=name, daemon=True)
        self._work = work
        self._pause_seconds = pause_seconds
        self._busy = Lock()
        os.register_at_fork(
            before=self._busy.acquire, after_in_parent=self._busy.release, after_in_child=self._busy.release
        )

    def run(self) -> None:
        while True:
            with self._busy:
                self._work()
            time.sleep(self._pause_seconds)
