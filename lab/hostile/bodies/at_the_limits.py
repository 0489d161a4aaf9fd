"""What a key takes of web's CPU that sends the worst bodies as fast as its limits allow."""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

import requests

from dev.ports import free_port
from dev.processes.process import Child, Program
from dev.processes.supervisor import Supervisor
from dev.processes.waiting import api_answers
from lab.bench.indexer.processes import cpu_seconds
from lab.bench.report import Section, Target
from lab.hostile.bodies.refusing import Refusal

PROCESSES = 2
SECONDS = 15.0
MOST_SHARE = 0.25
_HOST = "127.0.0.1"
_START_SECONDS = 180


def measure(api_key: str, worst: Sequence[Refusal]) -> Section:
    """Send, of each policy, the worst body over and over, and wait only where the service says so."""
    with _web() as (child, url):
        rows = [_attack(child, url, api_key, refusal) for refusal in worst]
    most = max(float(row["share of CPU"]) for row in rows)
    return Section("A key at its limits", rows, [Target("share of web's CPU", most, MOST_SHARE)])


def _attack(child: Child, url: str, api_key: str, refusal: Refusal) -> dict[str, str | float]:
    operation, (name, body) = refusal.operation, refusal.mutation
    headers = {"x-api-key": api_key, "Content-Type": "application/json"}
    before, began, refused, limited = cpu_seconds(child), time.monotonic(), 0, 0
    with requests.Session() as session:
        while time.monotonic() - began < SECONDS:
            answer = session.request(operation.method, url + operation.path, data=body, headers=headers, timeout=30)
            if answer.status_code == HTTPStatus.TOO_MANY_REQUESTS:
                limited += 1
                time.sleep(float(answer.headers["Retry-After"]))
            else:
                refused += 1
    seconds = time.monotonic() - began
    return {
        "operation": operation.name,
        "body": name,
        "refused": refused,
        "429": limited,
        "share of CPU": (cpu_seconds(child) - before) / seconds / PROCESSES,
    }


@contextmanager
def _web() -> Iterator[tuple[Child, str]]:
    """Run gunicorn with the limits of production."""
    port = free_port()
    with Supervisor(Path(os.environ["DEV_WORLD_FILE"]).parent / "hostile-bodies") as supervisor:
        argv = [str(Path(sys.executable).parent / "gunicorn"), "--config", "python:config.gunicorn", "config.wsgi"]
        bound = {"BIND": f"{_HOST}:{port}", "WEB_PROCESSES": str(PROCESSES), "RATE_LIMIT_FACTOR": "1"}
        environment = {**os.environ, **bound, "LOG_LEVEL": "INFO"}
        program = Program(name="web", argv=argv, env=environment, log=supervisor.folder / "web.log")
        child = supervisor.launch(program)
        url = f"http://{_HOST}:{port}"
        supervisor.wait(lambda: api_answers(url), within_seconds=_START_SECONDS, what="first response of the API")
        yield child, url
