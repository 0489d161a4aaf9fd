"""How long the worker takes to close what it follows once the chain made it final."""

import time
from contextlib import ExitStack

from django.db import connection

from lab.bench.indexer.bench import Bench
from lab.bench.indexer.settler import Settler
from lab.bench.indexer.throughput import CORES
from lab.bench.report import Section, Target
from sweeps.models import Sweep, SweepStatus

ROWS = 10_000
MOST_SECONDS = 10.0


def measure(bench: Bench) -> Section:
    """Make every block final, and let as many processes as cores check the blocks of all the completed sweeps."""
    bench.put_off()
    with ExitStack() as stack:
        logs = (bench.supervisor.folder / f"settler-{number}.log" for number in range(CORES))
        settlers = [stack.enter_context(Settler.started("follow_blocks", bench.environment, log)) for log in logs]
        bench.node.finalize(bench.node.head)
        _make_due()
        followed = Sweep.objects.filter(is_open=True, status=SweepStatus.COMPLETED).count()
        started = time.monotonic()
        for settler in settlers:
            settler.begin()
        ended = max(settler.result().ended_at for settler in settlers)
    left = Sweep.objects.filter(is_open=True, status=SweepStatus.COMPLETED).count()
    if left:
        raise RuntimeError(f"{left} of {followed} sweeps are not closed")
    seconds = (ended - started) * ROWS / followed
    row = {"closed": followed, f"seconds for {ROWS:,}": round(seconds, 2)}
    return Section("Finality", [row], [Target(f"seconds of a finality pass over {ROWS:,} rows", seconds, MOST_SECONDS)])


def _make_due() -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE sweeps_watchedblock SET due_at = now()")
