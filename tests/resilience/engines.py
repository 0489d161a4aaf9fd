"""Engines and processes of a test's own, which it may stop and start again at the same place."""

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from signal import SIGCONT, SIGKILL, SIGSTOP, Signals
from types import TracebackType
from typing import Self

import psycopg
from celery import current_app
from kombu import Connection

from dev.processes.process import Child, Program, process_tree, records_folder
from dev.processes.supervisor import Supervisor

BIN = Path(sys.executable).parent
TEST = "test"
STEP_SECONDS = 60  # far above what any step takes, also beside the other parts of the suite


class Engines(Supervisor):
    """A supervisor that leaves pytest its signal handlers, and remembers how to start what it stopped."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._starts: dict[str, tuple[Program, Callable[[], bool]]] = {}

    def __enter__(self) -> Self:
        records_folder(self.folder).mkdir()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for child in reversed(self._children):
            child.stop()

    def start(self, program: Program, *, ready: Callable[[], bool]) -> Child:
        self._starts[program.name] = program, ready
        return super().start(program, ready=ready)

    def stop_named(self, name: str) -> None:
        self.stop(next(child for child in self._children if child.program.name == name))

    def start_again(self, name: str) -> None:
        program, ready = self._starts[name]
        if program.log:
            program.log.unlink()  # it says that the one before was ready
        self.start(program, ready=ready)

    def kill(self, name: str) -> None:
        """Kill the process and those it started, such as PostgreSQL's, which lead groups of their own."""
        self._signal(name, SIGKILL)
        self.stop_named(name)

    def freeze(self, name: str) -> None:
        self._signal(name, SIGSTOP)

    def thaw(self, name: str) -> None:
        self._signal(name, SIGCONT)

    def _signal(self, name: str, number: Signals) -> None:
        root = next(child for child in self._children if child.program.name == name).pid
        signalled = set[int]()
        while new := [
            pid for pid in process_tree(root) if pid not in signalled
        ]:  # a parent first, so that it starts no more
            for pid in new:
                with suppress(ProcessLookupError):
                    os.kill(pid, number)
            signalled.update(new)

    def start_worker(self, environment: Mapping[str, str], *, name: str = "worker", queue: str | None = None) -> Path:
        """Start a worker with one process for one queue, or for all, and return its log when it is ready.

        As in production it is started again when it exits, which kombu sometimes makes it do when Redis goes away.
        """
        log = self.folder / f"{name}.log"
        celery = [str(BIN / "celery"), "--app", "config.celery", "worker", "--concurrency", "1", "--loglevel", "INFO"]
        argv = [*celery, "--without-gossip", "--without-mingle", "--without-heartbeat"]  # as in compose.yaml
        argv += [] if queue is None else ["--queues", queue]
        # Killed in the end, since a warm stop takes seconds.
        worker = Program(name=name, argv=argv, env=environment, stop_signal=SIGKILL, log=log, restarts=True)
        self.start(worker, ready=lambda: " ready" in log.read_text())
        return log

    def start_loop(self, environment: Mapping[str, str], *, name: str = "work", jobs: str = "") -> Path:
        """Start the loop with these jobs, or with all, and return its log when it is ready."""
        log = self.folder / f"{name}.log"
        argv = [sys.executable, "manage.py", "work", "--jobs", jobs]
        program = Program(name=name, argv=argv, env=environment, log=log)
        self.start(program, ready=lambda: "work_ready" in log.read_text())
        return log

    def wait_for(self, condition: Callable[[], bool], what: str) -> None:
        self.wait(condition, within_seconds=STEP_SECONDS, what=what)


def send(redis_url: str, task: str, *arguments: str, countdown: float = 0.0, queue: str = "sweeps") -> None:
    """Send a task's message to a broker other than that of the settings."""
    with Connection(redis_url) as broker:
        current_app.send_task(task, args=arguments, countdown=countdown, queue=queue, connection=broker)


def connect(database_url: str) -> psycopg.Connection:
    """Connect as the test itself, which `sessions` does not count, not even while the server still ends it."""
    return psycopg.connect(database_url, application_name=TEST)


def sessions(database_url: str) -> set[int]:
    """Return the process ids of the sessions that web and worker have in a database."""
    others = (
        "SELECT pid FROM pg_stat_activity"
        " WHERE datname = current_database() AND backend_type = 'client backend' AND application_name <> %s"
    )
    with connect(database_url) as monitor:
        return {pid for (pid,) in monitor.execute(others, [TEST])}
