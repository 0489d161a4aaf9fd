"""Python imports this at the start of a process with this folder on its path: its clock is then wrong by some seconds.

Only the process's own wall clock: not its monotonic clock, nor those of PostgreSQL and Redis.
"""

import copyreg
import datetime as dt
import os
import time
from typing import Any, TypeAlias

_SKEW_SECONDS = int(os.environ.get("CHAOS_CLOCK_SKEW_SECONDS", "0"))
_true_time = time.time
_TrueDatetime: TypeAlias = dt.datetime


class _AnyDatetime(type):
    """Lets those that were made by C code count as instances."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _TrueDatetime)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, _TrueDatetime)


class _SkewedDatetime(_TrueDatetime, metaclass=_AnyDatetime):
    @classmethod
    def now(cls, tz: dt.tzinfo | None = None) -> Any:  # noqa: ANN401 - a plain datetime, whatever the subclass
        return _TrueDatetime.fromtimestamp(time.time(), tz)

    @classmethod
    def utcnow(cls) -> Any:  # noqa: ANN401 - as above
        return _TrueDatetime.fromtimestamp(time.time(), dt.UTC).replace(tzinfo=None)


_SkewedDatetime.__name__ = _SkewedDatetime.__qualname__ = "datetime"
_SkewedDatetime.__module__ = "datetime"

if _SKEW_SECONDS:
    time.time = lambda: _true_time() + _SKEW_SECONDS
    dt.datetime = _SkewedDatetime  # type: ignore[misc]
    # Beat stores when it sent what; pickle finds a class by its name, and under that of the true one there is ours.
    copyreg.pickle(_TrueDatetime, lambda moment: (_SkewedDatetime.fromisoformat, (moment.isoformat(),)))
