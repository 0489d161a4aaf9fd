"""Has each process report every few seconds what it is and how it sees providers, and reads what all reported."""

import os
import socket
from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any

import structlog
from django import db
from django.conf import settings
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from sweepapi import networks
from sweepapi.networks import Networks
from sweepapi.rpc.ranking import ProviderState
from sweeps.models import RunningProcess

PAUSE_SECONDS = 5.0
GONE_AFTER = timedelta(seconds=30)
FORGOTTEN_AFTER = timedelta(days=1)

log = structlog.get_logger(__name__)

# What this process last measured and others show, by name; the values are JSON.
SIGNER_WEI, SCHEDULED, UNBALANCED_ENTRIES, UNSIGNED_SECONDS = (
    "signer_wei",  # of the fee signer, by network
    "scheduled",  # operations on the contracts' manager by network: what each means, and whether it was announced
    "unbalanced_entries",
    "unsigned_seconds",  # for how long the oldest month that is over waits for its signed statement
)
notes: dict[str, Any] = {SIGNER_WEI: {}, SCHEDULED: {}}


@dataclass
class ProcessReport:
    """Reports for this process, whose ``kind`` is that of its service in compose.yaml."""

    kind: str
    _registry: Callable[[], Networks] = networks.current
    _started_at: datetime = field(default_factory=timezone.now)

    def __call__(self) -> None:
        row = RunningProcess(
            name=f"{self.kind} on {socket.gethostname()[:100]}, {os.getpid()}",
            kind=self.kind,
            release=settings.SPECTACULAR_SETTINGS["VERSION"],
            started_at=self._started_at,
            providers=[asdict(state) for state in states(self._registry())],
            notes=deepcopy(notes),
        )
        try:
            RunningProcess.objects.bulk_create(
                [row],
                update_conflicts=True,
                unique_fields=["name"],
                update_fields=["release", "started_at", "seen_at", "providers", "notes"],
            )
            RunningProcess.objects.filter(seen_at__lt=Now() - FORGOTTEN_AFTER).delete()
        except db.Error as error:
            log.warning("process_not_reported", error=type(error).__name__)


def noted(running: Iterable[RunningProcess], name: str) -> list[Any]:
    """Return what each of these processes noted under a name; most measure nothing of it."""
    return [process.notes[name] for process in running if process.notes.get(name) not in (None, {})]


def states(registry: Networks) -> list[ProviderState]:
    """Return how this process sees each provider of the enabled networks."""
    return [state for network in registry.enabled_networks for state in registry.pool(network).state]


def running() -> QuerySet[RunningProcess]:
    """Return the processes that reported just now."""
    return RunningProcess.objects.filter(seen_at__gte=Now() - GONE_AFTER)


def states_of(process: RunningProcess) -> list[ProviderState]:
    """Return how a process saw each provider when it reported."""
    return [ProviderState.of(fields) for fields in process.providers]
