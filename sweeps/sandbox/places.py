"""Bounds how many threads of a process the sandbox takes: its node may be slow, and live requests need the others."""

from contextlib import AbstractContextManager
from threading import BoundedSemaphore

from sweepapi.errors import ServiceUnavailable
from sweepapi.limits.places import taking_place

RETRY_AFTER_SECONDS = 1
_places = BoundedSemaphore(2)


def sandbox_place() -> AbstractContextManager[None]:
    """Have a place within the block; raises ``ServiceUnavailable`` if none is free."""
    busy = ServiceUnavailable("Others are using the sandbox.", retry_after_seconds=RETRY_AFTER_SECONDS)
    return taking_place(_places, busy)
