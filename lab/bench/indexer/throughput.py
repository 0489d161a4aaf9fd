"""How many sweeps a second the worker settles whose receipts wait, with one process and with one for each core.

The same rows, receipts and functions serve all of them.
"""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg

from dev.ports import free_port
from dev.processes.process import Program
from lab.bench.indexer.bench import Bench
from lab.bench.indexer.settler import Settler
from lab.bench.report import Section, Target

CORES = 2  # that the targets are for; a worker has as many processes
DISTANCE_SECONDS = 0.002  # and half a millisecond for the timers of the proxy, which are late
POLL_SECONDS = 0.25
FINISH_SECONDS = 1_800
LEAST_A_SECOND, LEAST_FAR_AWAY, LEAST_CHECKS_A_REQUEST = 500, 250, 50
MOST_GROWTH_MB = 10.0


@dataclass(frozen=True)
class Way:
    """How a number of sweeps is settled."""

    name: str
    sweeps: int
    processes: int = 1
    database_url: str = ""


@dataclass(frozen=True)
class Measured:
    """What settling them took."""

    way: Way
    seconds: float
    cpu_seconds: float
    requests: int
    growth_mb: float  # of the process that grew most

    @property
    def a_second(self) -> float:
        return round(self.way.sweeps / self.seconds, 1)

    @property
    def checks_a_request(self) -> float:
        return round(self.way.sweeps / self.requests, 1)

    def as_row(self) -> dict[str, Any]:
        return {
            "way": self.way.name,
            "processes": self.way.processes,
            "sweeps": self.way.sweeps,
            "settled a second": self.a_second,
            "CPU ms a sweep": round(1_000 * self.cpu_seconds / self.way.sweeps, 2),
            "checks an HTTP request": self.checks_a_request,
            "growth in MB": self.growth_mb,
        }


def measure(bench: Bench, sweeps: int) -> Section:
    """Settle fresh sweeps in each way."""
    url = os.environ["DATABASE_URL"]
    alone = _settle(bench, Way("in batches", sweeps, database_url=url))
    with _far_away(bench, url) as far_url:
        name = f"in batches, database {_round_trip_ms(far_url) - _round_trip_ms(url):.1f} ms away"
        far = _settle(bench, Way(name, sweeps, processes=CORES, database_url=far_url))
    together = _settle(
        bench, Way("in batches", sweeps, processes=CORES, database_url=url)
    )  # last: the other sections watch them
    targets = [
        Target(f"settled a second by {CORES} processes", together.a_second, LEAST_A_SECOND, at_least=True),
        Target("settled a second, database 2.5 ms away", far.a_second, LEAST_FAR_AWAY, at_least=True),
        Target("checks an HTTP request", together.checks_a_request, LEAST_CHECKS_A_REQUEST, at_least=True),
        Target(
            "growth of a process in MB",
            max(measured.growth_mb for measured in (alone, together, far)),
            MOST_GROWTH_MB,
        ),
    ]
    return Section("Settling", [measured.as_row() for measured in (alone, far, together)], targets)


def _settle(bench: Bench, way: Way) -> Measured:
    bench.clear()
    environment = {**bench.environment, "DATABASE_URL": way.database_url}
    with ExitStack() as stack:
        settlers = [
            stack.enter_context(
                Settler.started("check_due", environment, bench.supervisor.folder / f"settler-{number}.log")
            )
            for number in range(way.processes)
        ]
        numbers = bench.copy(way.sweeps, due=True)
        bench.execute(numbers)
        requests = bench.node.requests
        started = time.monotonic()
        for settler in settlers:
            settler.begin()
        memory = list(_memory(bench, numbers, settlers))
        work = [settler.result() for settler in settlers]
        requests = bench.node.requests - requests
    completed = bench.completed(numbers)
    if completed != way.sweeps:
        raise RuntimeError(f"{way.name}: {completed} of {way.sweeps} sweeps are completed")
    return Measured(
        way,
        seconds=max(one.ended_at for one in work) - started,
        cpu_seconds=sum(one.cpu_seconds for one in work),
        requests=requests,
        growth_mb=_growth_mb(memory, way.sweeps),
    )


def _memory(bench: Bench, numbers: range, settlers: Sequence[Settler]) -> Iterator[tuple[int, list[float]]]:
    """Yield how many are completed and what each process holds, in MB, until all are done."""
    deadline = time.monotonic() + FINISH_SECONDS
    while not all(settler.is_done for settler in settlers):
        if time.monotonic() > deadline:
            raise RuntimeError(f"{bench.completed(numbers)} sweeps were settled within {FINISH_SECONDS} seconds")
        time.sleep(POLL_SECONDS)
        yield bench.completed(numbers), [settler.resident_mb for settler in settlers]


def _growth_mb(memory: Sequence[tuple[int, list[float]]], sweeps: int) -> float:
    """Return by how much a process grew at most from the second quarter to the last one.

    What counts is the least that it held in each: a batch takes memory while it is settled, and gives it back.
    """
    second = [held for completed, held in memory if sweeps / 4 <= completed < sweeps / 2]
    last = [held for completed, held in memory if completed >= sweeps * 3 / 4]
    least: list[list[float]] = [[min(of_one) for of_one in zip(*quarter, strict=True)] for quarter in (second, last)]
    growth: float = max(late - early for early, late in zip(*least, strict=True))
    return round(growth, 1)


@contextmanager
def _far_away(bench: Bench, url: str) -> Iterator[str]:
    """Start the distant database; yields its URL."""
    near, port = urlsplit(url), free_port()
    argv = [sys.executable, "-m", "lab.bench.indexer.slow_database", str(port), str(near.port), str(DISTANCE_SECONDS)]
    far = urlunsplit(near._replace(netloc=near.netloc.replace(f":{near.port}", f":{port}")))
    program = Program(name="slow-database", argv=argv, log=bench.supervisor.folder / "slow-database.log")
    proxy = bench.supervisor.start(program, ready=lambda: _accepts(far))
    yield far
    bench.supervisor.stop(proxy)


def _accepts(url: str) -> bool:
    try:
        with psycopg.connect(url, connect_timeout=2):
            return True
    except psycopg.OperationalError:
        return False


def _round_trip_ms(url: str) -> float:
    taken = []
    with psycopg.connect(url, autocommit=True) as connection:
        for _ in range(50):
            started = time.perf_counter()
            connection.execute("SELECT 1")
            taken.append(1_000 * (time.perf_counter() - started))
    return median(taken)
