"""What messages cost: one about a sweep that is not due, from receipt to acknowledgement, and publishing one."""

import time
from datetime import timedelta
from statistics import median, quantiles

from django.utils import timezone

from dev.processes.waiting import wait_until
from lab.bench.indexer import processes
from lab.bench.indexer.bench import Bench
from lab.bench.report import Section, Target
from sweeps.wake import wake

WARM_UP, MESSAGES = 100, 1_000
DRAIN_SECONDS = 120
MOST_CPU_MS, MOST_PUBLISHING_MS = 4.0, 2.0
_HUNDREDTHS = 100


def measure(bench: Bench) -> Section:
    """Publish messages about a sweep that is due tomorrow, to a worker of one process."""
    bench.put_off()
    with processes.worker(bench, processes=1) as worker:
        _publish(bench, WARM_UP)
        before = processes.cpu_seconds(worker)
        published = _publish(bench, MESSAGES)
        used_ms = 1_000 * (processes.cpu_seconds(worker) - before) / MESSAGES
    row = {
        "messages": MESSAGES,
        "CPU ms of one that is not due": round(used_ms, 2),
        "ms to publish at the median": round(median(published), 2),
        "at the 99th percentile": round(quantiles(published, n=_HUNDREDTHS)[-1], 2),
    }
    targets = [
        Target("CPU of a message that is not due, in ms", row["CPU ms of one that is not due"], MOST_CPU_MS),
        Target("publishing a message, in ms at the median", row["ms to publish at the median"], MOST_PUBLISHING_MS),
    ]
    return Section("Messages", [row], targets)


def _publish(bench: Bench, count: int) -> list[float]:
    """Publish and wait until all were received; returns how long publishing each took, in milliseconds."""
    taken = []
    for _ in range(count):
        at = timezone.now() - timedelta(seconds=1)  # without a countdown, which would only delay it
        started = time.perf_counter()
        wake(bench.copier.original, at=at)
        taken.append(1_000 * (time.perf_counter() - started))
    wait_until(
        lambda: not processes.waiting_messages(), within_seconds=DRAIN_SECONDS, what="receipt of all the messages"
    )
    return taken
