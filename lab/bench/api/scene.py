"""What the sections share: sweeps in three states, and the server."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Self
from uuid import UUID

from dev.ports import free_port
from dev.processes.process import Child, Program
from dev.processes.waiting import api_answers
from lab.bench.api.connections import HOST
from lab.bench.api.traffic import Traffic
from lab.bench.indexer.bench import Bench
from lab.bench.service import Service, reading_from
from lab.bench.sweeps import engine
from lab.bench.sweeps.copies import Copier
from lab.bench.sweeps.identity import transaction_hash
from sweeps.models import SweepEvent, SweepTransaction

PROCESSES = 2
START_SECONDS = 120
_A_DAY = {
    ("sweeps_sweep", "deadline"): "now() + interval '1 day'",
    ("sweeps_sweep", "next_check_at"): "now() + interval '1 day'",
}


@dataclass
class Scene:
    """A chain that executes copies of a sweep, and a partner to whom they belong."""

    service: Service
    bench: Bench
    unreported: Copier = field(init=False)  # of the same sweep as it was built
    completed: Mapping[UUID, str] = field(default_factory=dict)  # their hashes

    def __post_init__(self) -> None:
        copier = self.bench.copier
        events = copier.rows[SweepEvent]
        rows = {model: one for model, one in copier.rows.items() if model is not SweepTransaction}
        self.unreported = replace(copier, rows={**rows, SweepEvent: replace(events, keys=[min(events.keys)])})

    @classmethod
    @contextmanager
    def started(cls, service: Service) -> Iterator[Self]:
        with Bench.started(service) as bench:
            yield cls(service, bench)

    @property
    def traffic(self) -> Traffic:
        return Traffic(str(self.service.client.defaults["HTTP_X_API_KEY"]))

    def complete(self, count: int) -> None:
        """Have that many copies executed and settled."""
        self.bench.put_off()
        numbers = self.bench.copy(count, due=True)
        self.bench.execute(numbers)
        with reading_from(self.bench.node.url):
            engine.check_due()
        if self.bench.completed(numbers) != count:
            raise RuntimeError(f"{self.bench.completed(numbers)} of {count} sweeps are completed")
        hashes = {sweep_id: transaction_hash(number) for number, sweep_id in self.bench.copier.ids(numbers).items()}
        self.completed = {**self.completed, **hashes}

    def execute_unreported(self, count: int) -> Sequence[tuple[UUID, str]]:
        """Have that many new copies executed, which no one reported; return their ids and hashes."""
        built = self.build_unreported(count)
        for height, number in enumerate(sorted(built), start=self.bench.node.head - count):
            self.bench.node.execute(range(number, number + 1), height=height)  # sweeps in one block wait for each other
        return [(sweep_id, transaction_hash(number)) for number, sweep_id in built.items()]

    def build_unreported(self, count: int) -> Mapping[int, UUID]:
        """Store that many new copies that are neither executed nor reported; return their ids by their numbers."""
        numbers = range(self.bench.copied + 1, self.bench.copied + 1 + count)
        self.bench.copied += count
        self.unreported.copy(numbers, {**_A_DAY, ("sweeps_sweep", "last_event"): "1"})
        return self.unreported.ids(numbers)

    @contextmanager
    def server(self, name: str, environment: Mapping[str, str]) -> Iterator["Server"]:
        """Run gunicorn as in production, with processes for two cores."""
        port, folder = free_port(), self.bench.supervisor.folder
        log = folder / f"{name}.log"
        log.unlink(missing_ok=True)
        argv = [
            str(Path(sys.executable).parent / "gunicorn"),
            "--config",
            "python:config.gunicorn",
            "lab.bench.api.wsgi",
        ]
        # One partner sends everything here, and may only use a share of the threads for what waits for a chain.
        threads = {"WEB_PROCESSES": str(PROCESSES), "WEB_THREADS": "32"}
        bound = {"BIND": f"{HOST}:{port}", "LOG_LEVEL": "INFO", **threads}
        kept = {"DATABASE_CONNECTION_MAX_AGE_SECONDS": "600", "DATABASE_DEADLINE_SECONDS": "1"}  # as gunicorn has them
        program = Program(name=name, argv=argv, env={**kept, **environment, **bound}, log=log)
        child = self.bench.supervisor.launch(program)
        server = Server(child, port)
        self.bench.supervisor.wait(
            partial(api_answers, f"http://{HOST}:{port}"),
            within_seconds=START_SECONDS,
            what="first response of the API",
        )
        try:
            yield server
        finally:
            self.bench.supervisor.stop(child)


@dataclass(frozen=True)
class Server:
    """Gunicorn and its workers."""

    child: Child
    port: int
