"""Prometheus with the rules of ``ops/``, where it is found: on the path, or as Debian's package unpacked in ``var``."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from dev.ports import free_port
from dev.processes.process import Program
from dev.processes.supervisor import Supervisor
from dev.processes.waiting import answers

OPS = Path(__file__).parents[2] / "ops"
UNPACKED = Path(__file__).parents[2] / "var" / "packages" / "usr" / "bin"


def found(name: str) -> str | None:
    """Return the path of a program, None if the machine lacks it."""
    unpacked = UNPACKED / name
    return str(unpacked) if unpacked.is_file() else shutil.which(name)


def start(supervisor: Supervisor, health: Mapping[str, str], *, console_url: str, alertmanager_url: str = "") -> str:
    """Start it with the rules of ``ops/`` and return its URL.

    ``health`` has the URL of each process's health by the process's name, of which the part before a dash is its job.
    """
    folder, url = supervisor.folder / "prometheus", f"http://127.0.0.1:{free_port()}"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(OPS / "prometheus", folder)
    targets = [{"targets": [_place(at)], "labels": {"job": name.partition("-")[0]}} for name, at in health.items()]
    alertmanagers = [{"targets": [_place(alertmanager_url)]}] if alertmanager_url else []
    (folder / "targets.json").write_text(json.dumps(targets))
    (folder / "alertmanagers.json").write_text(json.dumps(alertmanagers))
    options = [f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'data'}"]
    options += [f"--web.listen-address={_place(url)}", "--enable-feature=expand-external-labels"]
    program = Program(
        name="prometheus",
        argv=[found("prometheus") or "prometheus", *options],
        env={"CONSOLE_URL": console_url},
        log=supervisor.folder / "prometheus.log",
    )
    supervisor.start(program, ready=lambda: answers(f"{url}/-/ready"))
    return url


def _place(url: str) -> str:
    return urlsplit(url).netloc
