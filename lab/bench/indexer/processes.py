"""Celery's processes, as production runs them, and what they have used."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import redis

from dev.processes.process import Child, Program
from lab.bench.indexer.bench import Bench
from sweepapi.broker_state import BrokerState

START_SECONDS = 60
_CELERY = [str(Path(sys.executable).parent / "celery"), "--app", "config.celery"]
_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


@contextmanager
def worker(bench: Bench, *, processes: int) -> Iterator[Child]:
    """Run a worker with an empty queue."""
    with redis.Redis.from_url(os.environ["REDIS_URL"]) as broker:
        broker.flushdb()
    log = bench.supervisor.folder / f"worker-of-{processes}.log"
    log.unlink(missing_ok=True)
    argv = [*_CELERY, "worker", "--concurrency", str(processes), "--loglevel", "INFO"]
    program = Program(name="worker", argv=argv, env=bench.environment, log=log)
    child = bench.supervisor.launch(program)
    bench.supervisor.wait(
        lambda: " ready" in log.read_text(encoding="utf-8"), within_seconds=START_SECONDS, what="start of the worker"
    )
    yield child
    bench.supervisor.stop(child)


@contextmanager
def loop(bench: Bench) -> Iterator[None]:
    """Run the loop."""
    log = bench.supervisor.folder / "work.log"
    argv = [sys.executable, "manage.py", "work"]
    child = bench.supervisor.launch(Program(name="work", argv=argv, env=bench.environment, log=log))
    yield
    bench.supervisor.stop(child)


def waiting_messages() -> int:
    """Return how many messages are queued or in the worker's hands."""
    return sum(BrokerState().messages().values())


def cpu_seconds(child: Child) -> float:
    """Return what a program and its own children have used so far."""
    listed = Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text(encoding="utf-8").split()
    return cpu_seconds_of([child.pid, *map(int, listed)])


def cpu_seconds_of(pids: Iterable[int]) -> float:
    """Return what these processes have used so far."""
    return sum(_used(pid) for pid in pids)


def _used(pid: int) -> float:
    after_name = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return sum(map(int, after_name[11:13])) / _TICKS_A_SECOND  # fields 14 and 15 of proc(5): user and system
