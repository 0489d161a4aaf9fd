"""The partner API's reads, and an operator's passkey, while sixteen threads try passwords at the console.

Each try names another account and comes from another address, so that no limit but that of hashes at once holds it up:
the console is asked at its own port, as a proxy that it trusts would ask. Runs as ``python -m lab.hostile.logins`` in
the local world, and writes what it prints to ``var/bench/logins.json``; exits with 1 if a target is missed.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from ipaddress import IPv6Address
from pathlib import Path
from random import getrandbits
from statistics import median
from threading import Event, Thread
from typing import Any

import requests

from dev.ports import free_port
from dev.processes.process import Program
from dev.processes.supervisor import Supervisor
from dev.processes.waiting import answers, api_answers
from lab.bench.database import set_up
from lab.bench.report import Section, Target, conclude, print_table

THREADS, SECONDS = 16, 20.0
READ_SECONDS = 0.05
MOST_TIMES, MOST_SECONDS = 1.5, 2.0
START_SECONDS = 180


def main() -> int:
    """Read while nothing else happens, and under the flood; returns the exit code."""
    set_up()
    from lab.bench.service import issued_key  # noqa: PLC0415 its models need django.setup()

    key, folder = issued_key("live"), Path(os.environ["DEV_WORLD_FILE"]).parent
    with Supervisor(folder / "logins") as supervisor:
        api = _launch(supervisor, "web", "config.wsgi")
        console = _launch(supervisor, "console", "config.console.wsgi")
        supervisor.wait(partial(api_answers, api), within_seconds=START_SECONDS, what="the API")
        supervisor.wait(partial(answers, f"{console}/login/"), within_seconds=START_SECONDS, what="the console")
        _reads(api, key, SECONDS / 2)
        quiet, _ = _reads(api, key, SECONDS)
        with _flood(console) as tries:
            flooded, slowest = _reads(api, key, SECONDS, beside=partial(_passkey_seconds, console))
    rows: list[dict[str, Any]] = [
        {"meanwhile": "nothing", "ms of a read": round(1_000 * quiet, 1)},
        {"meanwhile": f"{len(tries)} wrong logins", "ms of a read": round(1_000 * flooded, 1)},
    ]
    targets = [
        Target("median of reads, in times the quiet one", round(flooded / quiet, 2), MOST_TIMES),
        Target("slowest answer to an operator with a passkey, in seconds", round(slowest, 2), MOST_SECONDS),
    ]
    section = Section("Reads of the API while passwords are tried at the console", rows, targets)
    print_table(section)
    return conclude([section], "logins")


def _launch(supervisor: Supervisor, name: str, application: str) -> str:
    port = free_port()
    argv = [str(Path(sys.executable).parent / "gunicorn"), "--config", "python:config.gunicorn", application]
    environment = {"BIND": f"127.0.0.1:{port}", "WEB_PROCESSES": "1", "TRUSTED_PROXIES": "127.0.0.1"}
    supervisor.launch(Program(name=name, argv=argv, env=environment, log=supervisor.folder / f"{name}.log"))
    return f"http://127.0.0.1:{port}"


def _reads(url: str, key: str, seconds: float, beside: Any = None) -> tuple[float, float]:  # noqa: ANN401 a function or None
    """Return the median time of a read, and the longest of what is done beside each."""
    taken, others = [], [0.0]
    with requests.Session() as session:
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            started = time.monotonic()
            answer = session.get(f"{url}/v2/partner", headers={"x-api-key": key}, timeout=60)
            answer.raise_for_status()
            taken.append(time.monotonic() - started)
            if beside and len(taken) % 20 == 0:
                others.append(beside())
            time.sleep(READ_SECONDS)
    return median(taken), max(others)


def _passkey_seconds(console: str) -> float:
    """Return how long the console takes for its page of logins and a passkey's challenge."""
    started = time.monotonic()
    with requests.Session() as session:
        session.get(f"{console}/login/", timeout=60).raise_for_status()
        challenge = f"{console}/factors/webauthn/login/"
        session.get(challenge, headers={"X-Requested-With": "XMLHttpRequest"}, timeout=60).raise_for_status()
    return time.monotonic() - started


@contextmanager
def _flood(console: str) -> Iterator[list[int]]:
    """Try passwords in threads until the block ends; yields the statuses of the answers."""
    statuses: list[int] = []
    ended = Event()

    def guess() -> None:
        with requests.Session() as session:
            session.get(f"{console}/login/", timeout=60)
            token = session.cookies["console_csrf"]
            while not ended.is_set():
                fields = {"login": f"user{getrandbits(32)}", "password": "wrong", "csrfmiddlewaretoken": token}
                address = {"X-Forwarded-For": str(IPv6Address(getrandbits(128)))}
                statuses.append(session.post(f"{console}/login/", data=fields, headers=address, timeout=60).status_code)

    threads = [Thread(target=guess) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    try:
        yield statuses
    finally:
        ended.set()
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    sys.exit(main())
