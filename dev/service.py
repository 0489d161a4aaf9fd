"""Runs the product itself in the local world: web, worker and beat, as in production but on one machine."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from dev.engines.machine import free_port
from dev.engines.postgres import RUNTIME
from dev.errors import EngineError
from dev.keys import address_of
from dev.process import Program
from dev.supervisor import Supervisor
from dev.world import World

WORKER_PROCESSES = 2
START_SECONDS = 300  # nobody waits for that long: a process that fails to start ends, which is noticed at once
ADMIN = "admin"
_BIN = Path(sys.executable).parent


@dataclass(frozen=True)
class Service:
    """Where the API answers, and who may use it."""

    base_url: str
    api_keys: list[str]
    admin_password: str

    def describe(self) -> dict[str, Any]:
        """Return the service's part of world.json."""
        admin = {"url": f"{self.base_url}/admin/", "username": ADMIN, "password": self.admin_password}
        return {"baseUrl": self.base_url, "apiKeys": self.api_keys, "admin": admin}


def start(supervisor: Supervisor, world: World) -> Service:
    """Migrate, seed and start the three processes; returns when the API answers and the worker listens."""
    api_keys = _prepare(world)
    port = free_port()
    # A person watches: beat looks every second, and no look is further away than a person waits.
    pace = {"DUE_SWEEP_SECONDS": "1", "MAX_CHECK_DELAY_SECONDS": "10"}
    environment = world.environment(database_url=world.databases.runtime) | pace
    web_environment = {**environment, "BIND": f"127.0.0.1:{port}", "WEB_PROCESSES": "1"}
    log = supervisor.folder
    gunicorn = [str(_BIN / "gunicorn"), "--config", "python:config.gunicorn", "config.wsgi"]
    celery = [str(_BIN / "celery"), "--app", "config.celery"]
    quiet = ["--without-gossip", "--without-mingle"]  # one worker has nobody to talk to
    worker = [*celery, "worker", "--concurrency", str(WORKER_PROCESSES), "--loglevel", "INFO", *quiet]
    beat = [*celery, "beat", "--schedule", str(log / "beat-schedule"), "--pidfile", ""]
    supervisor.launch(Program(name="web", argv=gunicorn, env=web_environment, log=_fresh(log / "web.log")))
    supervisor.launch(Program(name="worker", argv=worker, env=environment, log=_fresh(log / "worker.log")))
    supervisor.launch(Program(name="beat", argv=beat, env=environment, log=_fresh(log / "beat.log")))
    base_url = f"http://127.0.0.1:{port}"
    supervisor.wait(lambda: _answers(base_url), within_seconds=START_SECONDS, what="the API's first answer")
    listening = log / "worker.log"
    supervisor.wait(lambda: " ready" in listening.read_text(), within_seconds=START_SECONDS, what="the worker's start")
    return Service(base_url, api_keys, world.keys.admin_password)


def _prepare(world: World) -> list[str]:
    """Migrate and seed; returns the API keys of the two partners."""
    separate_roles = world.databases.runtime != world.databases.owner
    task = {
        "runtimeRole": RUNTIME if separate_roles else None,
        "admin": {"username": ADMIN, "password": world.keys.admin_password},
        "payouts": [address_of(key) for key in world.keys.partner_payouts],
    }
    prepared = subprocess.run(
        [sys.executable, "-m", "dev.prepare"],
        env={**os.environ, **world.environment(database_url=world.databases.owner)},
        input=json.dumps(task),
        capture_output=True,
        text=True,
        check=False,
    )
    if prepared.returncode:
        raise EngineError(f"the database could not be prepared:\n{prepared.stderr}")
    api_keys: list[str] = json.loads(prepared.stdout)
    return api_keys


def _fresh(log: Path) -> Path:
    log.unlink(missing_ok=True)
    return log


def _answers(base_url: str) -> bool:
    try:
        return requests.get(f"{base_url}/v2/status", timeout=5).ok
    except (requests.ConnectionError, requests.Timeout):
        return False
