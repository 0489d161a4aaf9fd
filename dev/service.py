"""Runs the service in the local world: web, console, loop, Celery and beat, as in production but on one machine.

A second web process beside the first builds on V4, as every one does after a rollback.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dev.engines.postgres import CONSOLE, RUNTIME
from dev.engines.solana import LocalCluster
from dev.keys import address_of
from dev.node import node_folder
from dev.ports import free_port
from dev.processes.errors import DatabaseError
from dev.processes.process import Program
from dev.processes.supervisor import Supervisor
from dev.processes.waiting import answers, api_answers
from dev.world import World
from sweepapi.startup.needs import KEYS

WORKER_PROCESSES = 2
START_SECONDS = 300  # only a process that hangs takes this long: one that fails to start exits, which ends the wait
ADMIN = "admin"
ALL_JOBS = {"work": ""}
_BIN = Path(sys.executable).parent


@dataclass(frozen=True)
class Service:
    """The URLs of the API and the credentials for it."""

    base_url: str
    fallback_url: str  # of the API that builds on V4
    api_keys: list[str]
    console_url: str
    admin_password: str
    admin_totp_secret: str
    health: Mapping[str, str]  # the URL under which each process serves /healthz, /readyz and /metrics

    def describe(self) -> dict[str, Any]:
        """Return the service's fields of world.json."""
        factors = {"username": ADMIN, "password": self.admin_password, "totpSecret": self.admin_totp_secret}
        urls = {"baseUrl": self.base_url, "fallbackBaseUrl": self.fallback_url}
        console = {"url": self.console_url, **factors}
        return {**urls, "apiKeys": self.api_keys, "console": console, "health": dict(self.health)}


def start(
    supervisor: Supervisor, world: World, cluster: LocalCluster, *, loops: Mapping[str, str] = ALL_JOBS
) -> Service:
    """Migrate, seed and start the processes; returns when both APIs answer and the loops are ready.

    ``loops`` are the jobs of each process of the loop, by its name.
    """
    api_keys = seed_database(world, cluster)
    # Someone is watching: check far more often than in production.
    pace = {"DUE_SWEEP_SECONDS": "1", "MAX_CHECK_DELAY_SECONDS": "10"}
    environment = world.environment(database_url=world.databases.runtime) | cluster.environment() | pace
    log = supervisor.folder
    celery = [str(_BIN / "celery"), "--app", "config.celery"]
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat"]  # as in compose.yaml
    worker = [*celery, "worker", "--concurrency", str(WORKER_PROCESSES), "--loglevel", "INFO", *quiet]
    beat = [*celery, "beat", "--schedule", str(log / "beat-schedule"), "--pidfile", ""]
    health = {name: f"127.0.0.1:{free_port()}" for name in ("web", "console", "web-fallback", "celery", "beat", *loops)}

    def watched(name: str, variables: dict[str, str]) -> dict[str, str]:
        return variables | {"HEALTH_BIND": health[name]}

    base_url = _launch_web(supervisor, "web", watched("web", environment))
    without_keys = environment | dict.fromkeys(KEYS, "")
    of_console = watched("console", without_keys | _of_console(world))
    console_url = _launch_web(supervisor, "console", of_console, "config.console.wsgi")
    fallback = watched("web-fallback", environment | {"SERVICE_EVM_BUILD_MODE": "v4_fallback"})
    fallback_url = _launch_web(supervisor, "web-fallback", fallback)
    works = {name: [sys.executable, "manage.py", "work", "--jobs", jobs] for name, jobs in loops.items()}
    for name, argv in {"celery": worker, "beat": beat, **works}.items():
        env = watched(name, environment if name in works else without_keys)
        supervisor.launch(Program(name=name, argv=argv, env=env, log=_fresh(log / f"{name}.log"), restarts=True))
    supervisor.wait(
        partial(answers, f"{console_url}/login/"), within_seconds=START_SECONDS, what="first response of the console"
    )
    for url in (base_url, fallback_url):
        supervisor.wait(partial(api_answers, url), within_seconds=START_SECONDS, what=f"first response of {url}")
    for name in loops:
        supervisor.wait(
            partial(_is_ready, log / f"{name}.log"), within_seconds=START_SECONDS, what=f"start of the loop {name}"
        )
    factors = world.keys.admin_password, world.keys.admin_totp_secret
    urls = {name: f"http://{place}" for name, place in health.items()}
    return Service(base_url, fallback_url, api_keys, console_url, *factors, urls)


def _is_ready(log: Path) -> bool:
    return "work_ready" in log.read_text()


def start_wallet(supervisor: Supervisor, world: World, port: int) -> None:
    """Start the wallet of the users in world.json."""
    argv = [sys.executable, "-m", "dev.local_wallet", str(port), str(world.world_file)]
    supervisor.launch(Program(name="wallet", argv=argv, log=_fresh(supervisor.folder / "wallet.log")))


def start_page(supervisor: Supervisor, variables: Mapping[str, str], port: int) -> None:
    """Start the server of the page in `examples/web`, with the variables of the documentation's snippets."""
    argv, env = [str(node_folder() / "node"), "examples/web/server.ts"], {**variables, "PORT": str(port)}
    supervisor.launch(
        Program(name="page", argv=argv, env=env, log=_fresh(supervisor.folder / "page.log"), restarts=True)
    )


def _launch_web(
    supervisor: Supervisor, name: str, environment: dict[str, str], application: str = "config.wsgi"
) -> str:
    """Start a web process on a port of its own, and return its URL."""
    port = free_port()
    argv = [str(_BIN / "gunicorn"), "--config", "python:config.gunicorn", application]
    bound = environment | {"BIND": f"127.0.0.1:{port}", "WEB_PROCESSES": "1"}
    supervisor.launch(Program(name=name, argv=argv, env=bound, log=_fresh(supervisor.folder / f"{name}.log")))
    return f"http://127.0.0.1:{port}"


def _of_console(world: World) -> dict[str, str]:
    """Return the variables in which the console differs from processes without keys."""
    return {
        "DATABASE_URL": world.databases.console,
        "SECRET_KEY": world.keys.console_secret_key,
        "API_KEY_PEPPER": world.keys.api_key_pepper,
    }


def seed_database(world: World, cluster: LocalCluster) -> list[str]:
    """Migrate and seed; returns the API keys of the two partners."""
    keys, separate_roles = world.keys, world.databases.runtime != world.databases.owner
    task = {
        "roles": {RUNTIME: [], CONSOLE: ["--console"]} if separate_roles else {},
        "admin": {
            "username": ADMIN,
            "password": keys.admin_password,
            "totp_secret": keys.admin_totp_secret,
        },
        "payouts": [
            {"wallet": address_of(key), "networks": {cluster.network: str(on_solana)}}
            for key, on_solana in zip(keys.partner_payouts, cluster.payout_wallets, strict=True)
        ],
    }
    seeded = subprocess.run(
        [sys.executable, "-m", "dev.seed"],
        env=os.environ
        | world.environment(database_url=world.databases.owner)
        | {"SECRET_KEY": keys.console_secret_key},
        input=json.dumps(task),
        capture_output=True,
        text=True,
        check=False,
    )
    if seeded.returncode:
        raise DatabaseError(f"the database could not be seeded:\n{seeded.stderr}")
    api_keys: list[str] = json.loads(seeded.stdout)
    return api_keys


def _fresh(log: Path) -> Path:
    log.unlink(missing_ok=True)
    return log
