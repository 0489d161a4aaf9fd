"""Every process of compose.yaml, and Prometheus and Alertmanager with the rules and the routes of ``ops/``."""

from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import urlsplit

import psycopg
import requests
import yaml

from dev import service, world
from dev.demo.context import Context
from dev.engines import prometheus, solana
from dev.ports import free_port
from dev.processes.errors import NotInstalledError
from dev.processes.fleet import Fleet
from dev.processes.process import Program
from dev.processes.waiting import answers
from dev.world import World
from lab.alerts.receiver import HEARTBEAT, PAGE, TICKET, Receiver

ROOT = Path(__file__).parents[2]
ALERTMANAGER = "prometheus-alertmanager"  # as Debian calls it


@dataclass(frozen=True)
class AlertScene:
    """What runs, and where."""

    fleet: Fleet
    local: World
    running: service.Service
    context: Context
    receiver: Receiver
    prometheus_url: str

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a statement as the database's owner, without triggers."""
        with psycopg.connect(self.local.databases.owner, autocommit=True) as connection:
            connection.execute("SET session_replication_role = replica")
            cursor = connection.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    def firing(self) -> set[str]:
        """Return the rules that fire, as Prometheus sees it."""
        alerts = requests.get(f"{self.prometheus_url}/api/v1/alerts", timeout=10).json()["data"]["alerts"]
        return {one["labels"]["alertname"] for one in alerts if one["state"] == "firing"} - {"Heartbeat"}

    def query(self, expression: str) -> list[dict[str, Any]]:
        """Return the samples of an expression now."""
        answer = requests.get(f"{self.prometheus_url}/api/v1/query", params={"query": expression}, timeout=10)
        answer.raise_for_status()
        found: list[dict[str, Any]] = answer.json()["data"]["result"]
        return found


def start(fleet: Fleet) -> AlertScene:
    """Start everything; raises ``NotInstalledError`` where the machine lacks Prometheus or Alertmanager."""
    alertmanager = prometheus.found(ALERTMANAGER) or prometheus.found("alertmanager")
    if alertmanager is None or prometheus.found("prometheus") is None:
        raise NotInstalledError("Prometheus and Alertmanager are not on this machine: `make lab-alerts` unpacks them")
    local = world.start(fleet)
    cluster = solana.start(fleet, local.keys)
    running = service.start(fleet, local, cluster, loops=_loops())
    local.write_description({**running.describe(), "solana": cluster.describe()})
    receiver = Receiver()
    receiver.serve()
    alerts_url = _start_alertmanager(fleet, alertmanager, receiver)
    metrics_url = prometheus.start(fleet, running.health, console_url=running.console_url, alertmanager_url=alerts_url)
    return AlertScene(fleet, local, running, Context(local.world_file), receiver, metrics_url)


def _loops() -> dict[str, str]:
    """Return the jobs of each process of the loop, as in production."""
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    named = {name: one.get("command", "").partition("--jobs ")[2].strip() for name, one in services.items()}
    return {name: jobs for name, jobs in named.items() if jobs}


def _start_alertmanager(fleet: Fleet, binary: str, receiver: Receiver) -> str:
    url, config = f"http://127.0.0.1:{free_port()}", fleet.folder / "alertmanager.yml"
    urls = {f"{route.upper()}_URL": f"{receiver.url}/{route}" for route in (PAGE, TICKET, HEARTBEAT)}
    config.write_text(Template((ROOT / "ops" / "alertmanager.yml").read_text()).substitute(urls))
    options = [f"--config.file={config}", f"--storage.path={fleet.folder / 'alertmanager'}"]
    options += [f"--web.listen-address={urlsplit(url).netloc}", "--cluster.listen-address="]
    argv = [*_with_templates(binary), *options]
    program = Program(name="alertmanager", argv=argv, log=fleet.folder / "alertmanager.log")
    fleet.start(program, ready=lambda: answers(f"{url}/-/ready"))
    return url


def _with_templates(binary: str) -> list[str]:
    """Return how to start it: Debian's reads its templates at a fixed path, which an unpacked package lacks.

    So it gets that path in a mount namespace of its own, for which no root is needed.
    """
    unpacked = Path(binary).parents[1] / "share" / "prometheus"
    if Path(binary).is_relative_to("/usr") or not unpacked.is_dir():
        return [binary]
    script = 'mount -t tmpfs none /usr/share && cp -r "$0" /usr/share/ && exec "$@"'
    return ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, str(unpacked), binary]
