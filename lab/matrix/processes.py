"""The service's processes of a column: web, and the loop with some of its jobs, as in production."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from dev.ports import free_port
from dev.processes.process import Program
from dev.processes.supervisor import Supervisor
from dev.processes.waiting import api_answers

START_SECONDS = 120


@contextmanager
def web(supervisor: Supervisor, environment: Mapping[str, str]) -> Iterator[str]:
    """Run web with a process that has a thread for every confirm; yields its URL."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    bound = {"BIND": f"127.0.0.1:{port}", "WEB_PROCESSES": "1", "WEB_THREADS": "32"}
    argv = [str(Path(sys.executable).parent / "gunicorn"), "--config", "python:config.gunicorn", "config.wsgi"]
    program = Program(name="web", argv=argv, env={**environment, **bound}, log=supervisor.folder / "web.log")
    child = supervisor.launch(program)
    supervisor.wait(partial(api_answers, url), within_seconds=START_SECONDS, what="first response of the API")
    yield url
    supervisor.stop(child)


@contextmanager
def loop(supervisor: Supervisor, environment: Mapping[str, str], *, jobs: str) -> Iterator[None]:
    """Run the loop with these jobs, or with all."""
    name = f"work-{jobs or 'all'}"
    log = supervisor.folder / f"{name}.log"
    argv = [sys.executable, "manage.py", "work", "--jobs", jobs]
    child = supervisor.launch(Program(name=name, argv=argv, env=environment, log=log))
    supervisor.wait(
        lambda: "work_ready" in log.read_text(encoding="utf-8"),
        within_seconds=START_SECONDS,
        what="start of the loop",
    )
    yield
    supervisor.stop(child)
