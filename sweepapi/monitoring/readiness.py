"""Decides from gauges whether a process, or a group of them, is ready: all checks passed, and did so just now.

Gauges hold the times at which checks passed, so a check that hangs fails by itself, and nothing has to wait for it.
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.samples import Sample

CHECK = "sweepapi_check_timestamp_seconds"
ANSWERED = "sweepapi_provider_answer_timestamp_seconds"
FAILED = "sweepapi_provider_failure_timestamp_seconds"

ESSENTIAL = ("database", "migrations")  # without these nothing works; without the others, some things do
CHECKS = (*ESSENTIAL, "redis", "worker", "webhooks", "celery", "beat")
FRESH_SECONDS = 5.0


@dataclass(frozen=True)
class Readiness:
    """Whether each check passed."""

    checks: dict[str, bool]

    @property
    def is_ready(self) -> bool:
        return all(self.checks[name] for name in ESSENTIAL)

    @property
    def status(self) -> str:
        """``ready``, ``degraded`` (ready, and something else failed) or ``unavailable``."""
        if not self.is_ready:
            return "unavailable"
        return "ready" if all(self.checks.values()) else "degraded"


def read(folder: Path) -> Readiness:
    """Return what the processes that share this folder reported in the last seconds."""
    return decide(MultiProcessCollector.merge(map(str, folder.glob("gauge_max_*.db"))))  # type: ignore[no-untyped-call]


def decide(metrics: Iterable[Metric]) -> Readiness:
    """Return what these gauges, among other metrics, say of the last seconds."""
    gauges = defaultdict[str, list[Sample]](list)
    for metric in metrics:
        gauges[metric.name] = metric.samples
    passed_at = {sample.labels["check"]: sample.value for sample in gauges[CHECK]}
    oldest = time.time() - FRESH_SECONDS
    checks = {name: passed_at.get(name, 0.0) > oldest for name in CHECKS}
    return Readiness(checks | dict(_providers(gauges[ANSWERED], gauges[FAILED])))


def _providers(answered: list[Sample], failed: list[Sample]) -> Iterator[tuple[str, bool]]:
    """Yield of each network whether any of its providers answered when it was last asked."""
    failed_at = {tuple(sample.labels.values()): sample.value for sample in failed}
    answered_at = {tuple(sample.labels.values()): sample.value for sample in answered}
    networks = defaultdict[str, list[bool]](list)
    for network, provider in failed_at.keys() | answered_at.keys():
        key = (network, provider)
        networks[network].append(answered_at.get(key, 0.0) >= failed_at.get(key, 0.0))
    for network in sorted(networks):
        yield f"providers of {network}", any(networks[network])
