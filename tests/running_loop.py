"""Runs the loop with some jobs in a thread of the test."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from django.db import connection

from indexer.runner import Job, Runner


@contextmanager
def running(*jobs: Job, exit_with: Callable[[int], object] = lambda _code: None) -> Iterator[Runner]:
    """Run a loop in a thread for the block, and wait for its end."""
    loop = Runner(jobs, Event(), exit=exit_with)
    thread = Thread(target=run_and_disconnect, args=(loop,))
    thread.start()
    try:
        yield loop
    finally:
        loop.stopping.set()
        thread.join()


def run_and_disconnect(loop: Runner) -> None:
    loop.run()
    connection.close()
