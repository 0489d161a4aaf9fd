"""Waits for a condition up to a deadline, so that the code never guesses how long something takes."""

import time
from collections.abc import Callable

import requests

from dev.processes.errors import WaitTimeoutError

POLL_SECONDS = 0.02


def wait_until(condition: Callable[[], bool], *, within_seconds: float, what: str) -> None:
    """Return as soon as the condition holds; raises WaitTimeoutError, which names `what`."""
    deadline = time.monotonic() + within_seconds
    while not condition():
        if time.monotonic() > deadline:
            raise WaitTimeoutError(f"{what}: not within {within_seconds:g} seconds")
        time.sleep(POLL_SECONDS)


def api_answers(base_url: str) -> bool:
    """Return whether the API there answers at all."""
    return answers(f"{base_url}/v2/status")


def answers(url: str) -> bool:
    """Return whether a page is there."""
    try:
        return requests.get(url, timeout=5).ok
    except requests.RequestException:
        return False
