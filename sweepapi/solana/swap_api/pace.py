"""When the swap API may be asked: all processes share what our plan allows within a minute.

Its limit is a sliding window over everything that we ask of it, with whichever key. While Redis is away, each process
has a share of that.
"""

import re
import time
from collections.abc import Mapping
from http import HTTPStatus

from sweepapi.limits.shared_redis import SharedRedis
from sweepapi.limits.sliding_window import Grant, LocalWindow, RedisWindow, WindowLimit

WINDOW_SECONDS = 60.0
MIN_RESET_SECONDS, MAX_RESET_SECONDS = 1.0, 3600.0
# When to ask again after a 429 that does not say so.
USUAL_RESET_SECONDS = 5.0
# Numbers above these are times, in seconds and in milliseconds since 1970.
FIRST_TIME_SECONDS, FIRST_TIME_MILLISECONDS = 10**9, 10**12
_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{1,9})?")


class Pace:
    """Grants requests to the swap API; thread-safe, one per process."""

    def __init__(self, redis: SharedRedis, key: str, *, per_minute: int, share: int) -> None:
        self._per_minute, self._share = per_minute, share
        self._shared = RedisWindow(redis, key, WindowLimit(per_minute, WINDOW_SECONDS))
        self._local = LocalWindow(WindowLimit(share, WINDOW_SECONDS))

    def take(self, wanted: int, *, for_build: bool) -> Grant:
        """Grant up to so many requests; what is not for a build leaves half of the limit to builds."""
        shared = self._shared.take(wanted, keeps_for_others=0 if for_build else self._per_minute // 2)
        if shared is not None:
            return shared
        return self._local.take(wanted, keeps_for_others=0 if for_build else self._share // 2)

    def learn(self, status: int, headers: Mapping[str, str]) -> None:
        """Correct the count by an answer; a 429 closes the window."""
        reset_seconds = reset_in(headers)
        remaining = headers.get("x-ratelimit-remaining", "")
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            self._correct(0, USUAL_RESET_SECONDS if reset_seconds is None else reset_seconds)
        elif reset_seconds is not None and re.fullmatch(r"[0-9]{1,9}", remaining):
            self._correct(int(remaining), reset_seconds)

    def _correct(self, remaining: int, reset_seconds: float) -> None:
        self._shared.correct(remaining=remaining, reset_seconds=reset_seconds)
        self._local.correct(remaining=remaining, reset_seconds=reset_seconds)


def reset_in(headers: Mapping[str, str]) -> float | None:
    """Return in how many seconds the swap API takes requests again; None if it does not say.

    ``x-ratelimit-reset`` is a time or a number of seconds, and ``Retry-After`` the latter.
    """
    for name in ("x-ratelimit-reset", "Retry-After"):
        text = headers.get(name, "")
        if _NUMBER.fullmatch(text) is not None:
            return min(max(_seconds_until(float(text)), MIN_RESET_SECONDS), MAX_RESET_SECONDS)
    return None


def _seconds_until(number: float) -> float:
    if number >= FIRST_TIME_MILLISECONDS:
        return number / 1000 - time.time()
    return number - time.time() if number >= FIRST_TIME_SECONDS else number
