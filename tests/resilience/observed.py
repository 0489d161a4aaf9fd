"""Web, loop, webhooks, Celery and beat as their watchers see them: by the port on which each serves its health."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from signal import SIGCONT, SIGKILL, SIGSTOP
from time import monotonic
from typing import Any

import requests
from prometheus_client.parser import text_string_to_metric_families

from dev.ports import free_port
from dev.processes.process import Program, process_tree
from dev.processes.supervisor import START_SECONDS
from tests.resilience.databases import Database
from tests.resilience.engines import BIN, STEP_SECONDS, Engines, connect

GROUPS = ("web", "work", "webhooks", "celery", "beat")
JOBS = "sweeps,clocks,blocks,following,numbering,cancellations,reconciliation,balances,books"


@dataclass(frozen=True)
class Health:
    status: int
    body: Any
    seconds: float


@dataclass
class Observed:
    """A running service, and the port of each group of processes."""

    engines: Engines
    database: Database
    api_url: str
    ports: Mapping[str, int] = field(default_factory=lambda: {name: free_port() for name in GROUPS})

    def start(self, environment: Mapping[str, str]) -> None:
        common = {**environment, "DUE_SWEEP_SECONDS": "1"}
        celery = [str(BIN / "celery"), "--app", "config.celery"]
        argvs = {
            "web": [str(BIN / "gunicorn"), "--config", "python:config.gunicorn", "config.wsgi"],
            "celery": [*celery, "worker", "--concurrency", "2", "--without-gossip", "--without-mingle", "-l", "INFO"],
            "beat": [*celery, "beat", "--schedule", str(self.engines.folder / "beat-schedule"), "--pidfile", ""],
            "work": [sys.executable, "manage.py", "work", "--jobs", JOBS],
            "webhooks": [sys.executable, "manage.py", "work", "--jobs", "webhooks"],
        }
        web = {"BIND": self.api_url.removeprefix("http://"), "WEB_PROCESSES": "2", "WEB_THREADS": "2"}
        for name, argv in argvs.items():
            bound = common | {"HEALTH_BIND": f"127.0.0.1:{self.ports[name]}"} | (web if name == "web" else {})
            log = self.engines.folder / f"{name}.log"
            # kombu sometimes ends Celery when Redis goes away; as in production it is started again.
            restarts = name == "celery"
            program = Program(name=name, argv=argv, env=bound, stop_signal=SIGKILL, log=log, restarts=restarts)
            self.engines.start(program, ready=lambda: True)  # side by side
        for name in GROUPS:
            self.engines.wait(partial(self.is_alive, name), within_seconds=START_SECONDS, what=f"start of {name}")
        self.wait_for_status("ready")

    def ask(self, group: str, path: str) -> Health:
        """Ask three times, and return the answer with the shortest of the times, which other work delayed the least."""
        url = f"http://127.0.0.1:{self.ports[group]}{path}"
        took = []
        for _ in range(3):
            started = monotonic()
            answer = requests.get(url, timeout=STEP_SECONDS)
            took.append(monotonic() - started)
        return Health(answer.status_code, answer.json(), min(took))

    def is_alive(self, group: str) -> bool:
        try:
            return self.ask(group, "/healthz").status == 200
        except requests.ConnectionError:
            return False

    def wait_for_status(self, status: str, *groups: str, failed: set[str] | None = None) -> None:
        """Wait until /readyz of these groups, by default of all, has this status, for these reasons."""
        for group in groups or GROUPS:
            self.engines.wait_for(partial(self._is, group, status, failed), f"{group}'s being {status}")

    def _is(self, group: str, status: str, failed: set[str] | None) -> bool:
        try:
            body = self.ask(group, "/readyz").body
        except requests.ConnectionError:  # it is being started again
            return False
        reasons = {name for name, outcome in body["checks"].items() if outcome != "passed"}
        return bool(body["status"] == status) and failed in (None, reasons)

    def samples(self, group: str) -> dict[tuple[str, tuple[str, ...]], float]:
        """Scrape the metrics; each sample's name and the values of its labels, with its value."""
        text = requests.get(f"http://127.0.0.1:{self.ports[group]}/metrics", timeout=STEP_SECONDS).text
        families = text_string_to_metric_families(text)
        return {
            (sample.name, tuple(sample.labels.values())): sample.value
            for family in families
            for sample in family.samples
        }

    def forget_the_worker(self) -> None:
        """Make the worker's last sign of life older than any pause."""
        with connect(self.database.url) as monitor:
            monitor.execute("UPDATE sweeps_heartbeat SET at = at - interval '1 hour' WHERE name = 'worker'")


@contextmanager
def frozen(engines: Engines, name: str) -> Iterator[None]:
    """Freeze a process and all that it started, within the block."""
    stopped = set[int]()
    while new := set(processes_of(engines, name)) - stopped:  # a process that is frozen starts no more
        for pid in new:
            os.kill(pid, SIGSTOP)
        stopped |= new
    try:
        yield
    finally:
        for pid in stopped:
            os.kill(pid, SIGCONT)


def processes_of(engines: Engines, name: str) -> list[int]:
    """Return the ids of a process that was started under this name and of all below it, itself first."""
    return process_tree(next(child.pid for child in engines._children if child.program.name == name))  # noqa: SLF001
