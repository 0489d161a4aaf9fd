"""A process that settles what is due when the benchmark says so, and measures itself."""

import multiprocessing
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path

import django

_PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 2**20


@dataclass(frozen=True)
class Work:
    """What one run took."""

    cpu_seconds: float
    ended_at: float  # by the system's monotonic clock


@dataclass(frozen=True)
class Settler:
    """The process, as the benchmark sees it."""

    process: SpawnProcess
    pipe: "Connection[None, Work | None]"

    @classmethod
    @contextmanager
    def started(cls, function: str, environment: Mapping[str, str], log: Path) -> Iterator["Settler"]:
        """Start a process that calls a function of ``engine``; it is ready within the block."""
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_run, args=(theirs, function, environment, log), daemon=True)
        process.start()
        theirs.close()
        try:
            ours.recv()
            yield cls(process, ours)
        finally:
            process.kill()
            process.join()

    def begin(self) -> None:
        self.pipe.send(None)

    @property
    def is_done(self) -> bool:
        return self.pipe.poll()

    def result(self) -> Work:
        """Wait for the end of the run; raises EOFError if the process died, whose log says why."""
        work = self.pipe.recv()
        if work is None:
            raise TypeError("the process is ready twice")
        return work

    @property
    def resident_mb(self) -> float:
        """The memory that the process holds."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text(encoding="utf-8").split()[1]) * _PAGE_MB


def _run(pipe: "Connection[Work | None, None]", function: str, environment: Mapping[str, str], log: Path) -> None:
    """Settle once without work, which loads what is loaded on first use, and once when the benchmark begins."""
    os.environ.update(environment)
    with log.open("ab") as file:
        os.dup2(file.fileno(), 2)
    django.setup()
    from lab.bench.sweeps import engine  # noqa: PLC0415 - models exist after django.setup()

    settle = getattr(engine, function)
    settle()
    pipe.send(None)
    pipe.recv()
    before = time.process_time()
    settle()
    pipe.send(Work(time.process_time() - before, time.monotonic()))
    pipe.recv()  # until it is killed
