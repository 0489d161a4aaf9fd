"""Who changes a sandbox chain now: one request of all processes, by a lease in PostgreSQL."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from django.db.models import Q
from django.db.models.functions import Now

from sweepapi.errors import ServiceUnavailable
from sweeps.models import SandboxChain

LEASE_SECONDS = 60.0
CHANGE_SECONDS = 45.0  # after which a change starts no other call, so that it ends before its lease does
WAIT_SECONDS = 10.0
POLL_SECONDS = 0.05
RETRY_AFTER_SECONDS = 2


@contextmanager
def taking_turn(network: str) -> Iterator[None]:
    """Change the chain alone; raises ``ServiceUnavailable`` if others do for long."""
    token, give_up_at = uuid4(), time.monotonic() + WAIT_SECONDS
    SandboxChain.objects.get_or_create(network=network)
    while not _takes(network, token):
        if time.monotonic() > give_up_at:
            raise ServiceUnavailable("Others are changing this chain.", retry_after_seconds=RETRY_AFTER_SECONDS)
        time.sleep(POLL_SECONDS)
    try:
        yield
    finally:
        SandboxChain.objects.filter(network=network, lease_token=token).update(lease_token=None, lease_until=None)


def _takes(network: str, token: UUID) -> bool:
    free = SandboxChain.objects.filter(Q(lease_until=None) | Q(lease_until__lt=Now()), network=network)
    return bool(free.update(lease_token=token, lease_until=Now() + timedelta(seconds=LEASE_SECONDS)))


class Unfinished:
    """A replacement of blocks of one chain that was begun."""

    def __init__(self, network: str) -> None:
        self._chain = SandboxChain.objects.filter(network=network)

    def read(self) -> dict[str, Any] | None:
        return self._chain.values_list("unfinished", flat=True).first()

    def keep(self, replacement: dict[str, Any] | None) -> None:
        self._chain.update(unfinished=replacement)
