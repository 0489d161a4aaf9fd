"""How long after its receipt appears a sweep is completed, while new ones arrive and older ones are followed.

A hash is reported, and the transaction is in the first block that appears a second or more later. The worker and beat
run as in production; what the web would do for a report is done here, without a check of the chain.
"""

import math
import time
from collections.abc import Mapping
from datetime import timedelta
from statistics import median, quantiles
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.utils import timezone

from lab.bench.indexer import processes
from lab.bench.indexer.bench import Bench
from lab.bench.indexer.throughput import CORES
from lab.bench.report import Section, Target
from lab.bench.sweeps.chain import BLOCK_SECONDS
from lab.bench.sweeps.node import appears_at
from sweeps.models import Sweep, SweepStatus
from sweeps.wake import wake

NEW_A_SECOND, SECONDS = 50, 30
TICKS_A_SECOND = 10
SENT_SECONDS = 1  # before its block appears, at the least
DRAIN_SECONDS = 30
CHECKED_EVERY_SECONDS = 20
MOST_MEDIAN_SECONDS, MOST_SLOW_SECONDS = 2.0, 3.0
_HUNDREDTHS = 100


def measure(bench: Bench) -> Section:
    """Report new sweeps for half a minute; those that were settled before are followed."""
    bench.put_off()
    followed = _check_blocks_again()
    numbers = bench.copy(NEW_A_SECOND * SECONDS, due=False)
    requests = bench.node.requests
    with processes.worker(bench, processes=CORES), processes.loop(bench):
        appeared = _report_all(bench, numbers)
        ended = _drained(set(appeared))
    completed = dict(Sweep.objects.filter(id__in=appeared).values_list("id", "completed_at"))
    taken = [
        (ended if (at := completed[sweep_id]) is None else at.timestamp()) - appeared[sweep_id] for sweep_id in appeared
    ]
    row: dict[str, Any] = {
        "new a second": NEW_A_SECOND,
        "followed": followed,
        "new": len(taken),
        "completed": sum(at is not None for at in completed.values()),
        "median seconds": round(median(taken), 2),
        "99th percentile": round(quantiles(taken, n=_HUNDREDTHS)[-1], 2),
        "longest": round(max(taken), 2),
        "HTTP requests": bench.node.requests - requests,
    }
    conditions = f"with {NEW_A_SECOND} new ones a second and {followed:,} followed"
    targets = [
        Target(f"seconds from receipt to completed {conditions}, median", row["median seconds"], MOST_MEDIAN_SECONDS),
        Target("the same at the 99th percentile", row["99th percentile"], MOST_SLOW_SECONDS),
    ]
    return Section("From receipt to completed", [row], targets)


def _check_blocks_again() -> int:
    """Spread the checks of blocks as the worker would have; returns how many sweeps await them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE sweeps_watchedblock SET due_at = now() + random() * %s * interval '1 second'",
            [CHECKED_EVERY_SECONDS],
        )
    return Sweep.objects.filter(is_open=True, status=SweepStatus.COMPLETED).count()


def _report_all(bench: Bench, numbers: range) -> Mapping[UUID, float]:
    """Report them at the fixed rate, however far the worker is; returns when the receipt of each appears."""
    ids, genesis = bench.copier.ids(numbers), bench.node.genesis
    started = time.monotonic()
    appeared: dict[UUID, float] = {}
    size = NEW_A_SECOND // TICKS_A_SECOND
    for tick, first in enumerate(range(0, len(numbers), size)):
        time.sleep(max(started + tick / TICKS_A_SECOND - time.monotonic(), 0))
        batch = numbers[first : first + size]
        height = math.ceil((time.time() + SENT_SECONDS - genesis) / BLOCK_SECONDS)
        bench.node.execute(batch, height=height)
        _report([ids[number] for number in batch])
        appeared |= {ids[number]: appears_at(genesis, height) for number in batch}
    return appeared


def _report(sweep_ids: list[UUID]) -> None:
    """Leave the sweeps as a confirm that saw no receipt does."""
    first_check = timezone.now() + timedelta(seconds=settings.FIRST_CHECK_SECONDS)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE sweeps_sweep SET next_check_at = %s WHERE id = ANY(%s)", [first_check, sweep_ids])
        cursor.execute("UPDATE sweeps_sweeptransaction SET submitted_at = now() WHERE sweep_id = ANY(%s)", [sweep_ids])
    for sweep_id in sweep_ids:
        wake(sweep_id, at=first_check)


def _drained(sweep_ids: set[UUID]) -> float:
    """Return when all were completed, or when it was given up."""
    deadline = time.monotonic() + DRAIN_SECONDS
    waiting = Sweep.objects.filter(id__in=sweep_ids, status=SweepStatus.PENDING)
    while waiting.exists() and time.monotonic() < deadline:
        time.sleep(1 / TICKS_A_SECOND)
    return time.time()
