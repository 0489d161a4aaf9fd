"""Waiting on a condition with a deadline, so that nothing here guesses how long a thing takes."""

import time
from collections.abc import Callable

from dev.errors import WaitedTooLongError

POLL_SECONDS = 0.02


def wait_until(condition: Callable[[], bool], *, within_seconds: float, what: str) -> None:
    """Return as soon as the condition holds; raises WaitedTooLongError, naming what was waited for."""
    deadline = time.monotonic() + within_seconds
    while not condition():
        if time.monotonic() > deadline:
            raise WaitedTooLongError(f"{what}: not within {within_seconds:g} seconds")
        time.sleep(POLL_SECONDS)
