"""Asks the engines every second whether they answer, so that a question about this process never waits for them.

What is found goes into the shared gauges, which ``sweepapi.monitoring.readiness`` reads, and each change into the log.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import structlog
from django import db
from django.db import close_old_connections, connection
from django.db.migrations.executor import MigrationExecutor
from redis import RedisError

from sweepapi.broker_state import BrokerState
from sweepapi.monitoring import metrics
from sweepapi.monitoring.repeating import Repeating
from sweeps import heartbeats, processes
from sweeps.heartbeats import Presence
from sweeps.processes import ProcessReport

PAUSE_SECONDS = 1.0

log = structlog.get_logger(__name__)

_last: dict[str, bool] = {}  # what each check found


def start(kind: str) -> None:
    """Probe in threads of this process, from now on; each engine in its own, because the others may hang.

    It reports itself, too, as a process of this kind.
    """
    for name, probe in (("probe-database", DatabaseProbe()), ("probe-broker", BrokerProbe())):
        Repeating(name, probe, pause_seconds=PAUSE_SECONDS).start()
    Repeating("process-report", ProcessReport(kind), pause_seconds=processes.PAUSE_SECONDS).start()


@dataclass
class DatabaseProbe:
    """Probes PostgreSQL, and reads there what worker, beat and webhooks wrote."""

    _is_migrated: bool = False  # which no later migration of this release can change

    def __call__(self) -> None:
        close_old_connections()
        try:
            self._is_migrated = self._is_migrated or _is_migrated()
            seen = heartbeats.presences() if self._is_migrated else {}
        except db.Error:
            _report("database", passed=False)
            return
        # All at the end, so that they have the same age if the next round hangs.
        _report("database", passed=True)
        _report("migrations", passed=self._is_migrated)
        _report_presences(seen)


@dataclass
class BrokerProbe:
    """Probes Redis, on a connection that Celery does not use."""

    _broker: BrokerState = field(default_factory=BrokerState)

    def __call__(self) -> None:
        try:
            self._broker.ping()
        except RedisError:
            _report("redis", passed=False)
        else:
            _report("redis", passed=True)


def _is_migrated() -> bool:
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())


def _report_presences(seen: Mapping[str, Presence]) -> None:
    for name in heartbeats.NAMES:
        presence = seen.get(name, heartbeats.UNSEEN)
        _report(name, passed=presence.is_at_work)
        if presence.last_seen_at is not None:
            metrics.HEARTBEATS.labels(name).set(presence.last_seen_at.timestamp())


def _report(check: str, *, passed: bool) -> None:
    metrics.CHECKS.labels(check).set(time.time() if passed else 0)
    if _last.get(check, True) != passed:
        change = log.info if passed else log.warning
        change("check_passed" if passed else "check_failed", check=check)
    _last[check] = passed
