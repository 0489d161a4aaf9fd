"""What is measured of webhooks: how many are delivered a second, and how late they arrive.

All of it runs on this machine: the database, the process that delivers, and the partners' server, with TLS.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from statistics import median, quantiles
from typing import Any

from lab.bench.report import Section, Target
from lab.bench.webhooks.bench import Bench

WAITING = 4_000
A_SECOND = 200  # the target, and the pace of the open loop
LOOP_SECONDS = 30.0
STEPS_A_SECOND = 10
FINISH_SECONDS = 600.0
MOST_LATE_SECONDS = 5.0
MOST_SLOWER = 1.5  # with an endpoint that hangs; on a shared machine runs differ by a fifth
HANGING_A_STEP = 2


@contextmanager
def prepared() -> Iterator[Sequence[Callable[[], Section]]]:
    """Start the partners' server for the block, and yield what to measure."""
    with Bench.started() as bench:
        yield [partial(measure, bench) for measure in (capacity, open_loop)]


def capacity(bench: Bench) -> Section:
    """Measure how many of the messages that wait are delivered a second."""
    bench.clear()
    bench.send(WAITING)
    with bench.delivering():
        started = time.monotonic()
        bench.wait_until_delivered(within_seconds=FINISH_SECONDS)
        seconds = time.monotonic() - started
    rate = round(WAITING / seconds, 1)
    row = {"messages": WAITING, "seconds": round(seconds, 2), "a second": rate}
    return Section("messages that wait", [row], [Target("deliveries a second", rate, A_SECOND, at_least=True)])


def open_loop(bench: Bench) -> Section:
    """Measure how late messages arrive that come at a steady pace, without and with an endpoint that hangs."""
    rows = [_paced(bench, hangs=hangs) for hangs in (False, True)]
    targets = [
        Target(f"oldest undelivered, {row['endpoints']} (s)", row["oldest (s)"], MOST_LATE_SECONDS) for row in rows
    ]
    slower = round(rows[1]["99th (s)"] / rows[0]["99th (s)"], 2)
    targets.append(Target("99th percentile with one that hangs, times that without", slower, MOST_SLOWER))
    return Section(f"{A_SECOND} messages a second for {LOOP_SECONDS:g} seconds", rows, targets)


def _paced(bench: Bench, *, hangs: bool) -> dict[str, Any]:
    bench.clear()
    oldest = 0.0
    with bench.delivering():
        started = time.monotonic()
        for step in range(int(LOOP_SECONDS * STEPS_A_SECOND)):
            bench.send(A_SECOND // STEPS_A_SECOND)
            if hangs:
                bench.send_to_hanging(HANGING_A_STEP)
            if step % STEPS_A_SECOND == 0:
                oldest = max(oldest, bench.undelivered()[1])
            time.sleep(max(started + (step + 1) / STEPS_A_SECOND - time.monotonic(), 0))
        bench.wait_until_delivered(within_seconds=FINISH_SECONDS)
        delays = bench.delays_seconds()
    return {
        "endpoints": "one hangs" if hangs else "all answer",
        "median (s)": round(median(delays), 3),
        "99th (s)": round(quantiles(delays, n=100)[-1], 3),
        "oldest (s)": round(oldest, 3),
    }
