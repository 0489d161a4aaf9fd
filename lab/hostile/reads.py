"""Another partner's reads, while one does what it can: through nginx with the shipped file, and at web's own port."""

import asyncio
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import requests

from dev.ports import free_port
from dev.processes.process import Program
from dev.processes.supervisor import Supervisor
from dev.processes.waiting import api_answers
from lab.bench.api.connections import NO_ANSWER, Answered, Asker, Request, run
from lab.bench.report import Section, Target
from lab.hostile import nginx, switch
from lab.hostile.attacks import Attack, attacks, under

PROCESSES = 2
READS_A_SECOND, SECONDS, QUIET_SECONDS = 20.0, 15.0, 15.0
MOST_TIMES, MOST_MS, MOST_SECONDS_AWAY = 3.0, 250.0, 6.0
GIVEN_UP_SECONDS = 20.0
START_SECONDS = 180
SETTLING_SECONDS, READS_TO_SETTLE = 90.0, 10
_HUNDREDTHS = 100


@dataclass(frozen=True)
class Front:
    """The service: web behind nginx, and the provider that web reads."""

    provider: switch.Switch
    web_port: int
    nginx_port: int

    @classmethod
    @contextmanager
    def running(cls, world: dict[str, Any]) -> Iterator["Front"]:
        with (
            Supervisor(Path(world["folder"]) / "hostile") as supervisor,
            switch.running(world["rpcUrl"]) as provider,
        ):
            web_port = free_port()
            environment = {
                "BIND": f"127.0.0.1:{web_port}",
                "WEB_PROCESSES": str(PROCESSES),
                "TRUSTED_PROXIES": "127.0.0.1",
                "RATE_LIMIT_FACTOR": "1",
                "DATABASE_DEADLINE_SECONDS": "1",
                f"RPC_URLS_{world['chain'].upper()}": provider.url,
            }
            gunicorn = str(Path(sys.executable).parent / "gunicorn")
            argv = [gunicorn, "--config", "python:config.gunicorn", "config.wsgi"]
            supervisor.launch(Program(name="web", argv=argv, env=environment, log=supervisor.folder / "web.log"))
            port, _ = nginx.start(supervisor, web_port=web_port, name="nginx")
            front = cls(provider, web_port, port)
            url = f"http://127.0.0.1:{front.nginx_port}"
            supervisor.wait(partial(api_answers, url), within_seconds=START_SECONDS, what="first response of the API")
            yield front

    def settle(self, api_key: str, usual_seconds: float) -> None:
        """Wait until what was sent before is done with."""
        deadline, quick = time.monotonic() + SETTLING_SECONDS, 0
        while quick < READS_TO_SETTLE and time.monotonic() < deadline:
            started = time.monotonic()
            _seconds_to_answer(self.nginx_port, api_key)
            quick = quick + 1 if time.monotonic() - started < MOST_TIMES * usual_seconds else 0


def measure(world: dict[str, Any], *, reader_key: str, attacker_key: str, quote: dict[str, Any]) -> list[Section]:
    """Read at a fixed rate, first while nothing else happens, and under each attack."""
    with Front.running(world) as front:
        _read(front.nginx_port, reader_key, QUIET_SECONDS)  # each process prepares its statements
        quiet = _read(front.nginx_port, reader_key, QUIET_SECONDS)
        rows = [_row("nothing", quiet)]
        targets: list[Target] = []
        usual = rows[0]["ms at the median"]
        for attack in attacks(attacker_key, quote):
            front.settle(reader_key, usual / 1_000)
            hanging = front.provider.hanging() if "hanging" in attack.name else nullcontext()
            with hanging, under(attack, front.nginx_port):
                row = _row(attack.name, _read(front.nginx_port, reader_key, SECONDS))
            rows.append(row)
            targets += _targets(row, usual)
        ours = _away(front.web_port, reader_key, [one for one in attacks(attacker_key, quote) if not one.waits])
    return [Section("Reads of another partner, through nginx", rows, targets), ours]


def _read(port: int, api_key: str, seconds: float) -> list[Answered]:
    """Read at a fixed rate, however far the service is; each read is timed from when it was due."""
    head = f"Host: 127.0.0.1\r\nx-api-key: {api_key}\r\n\r\n"
    request = Request("read", f"GET /v2/partner HTTP/1.1\r\n{head}".encode())

    async def send() -> list[Answered]:
        started = time.monotonic()
        tasks = []
        for due in (started + number / READS_A_SECOND for number in range(int(READS_A_SECOND * seconds))):
            await asyncio.sleep(max(due - time.monotonic(), 0))
            tasks.append(asyncio.create_task(_answered(port, request, due)))
        return list(await asyncio.gather(*tasks))

    return run(send)


async def _answered(port: int, request: Request, due: float) -> Answered:
    asker = Asker(port)
    try:
        return await asyncio.wait_for(asker.ask(request, since=due), GIVEN_UP_SECONDS)
    except (TimeoutError, OSError):
        return Answered(request, NO_ANSWER, time.monotonic() - due, b"")
    finally:
        asker.close()


def _row(name: str, answers: Sequence[Answered]) -> dict[str, Any]:
    taken = [1_000 * answered.seconds for answered in answers]
    refused = sum(answered.status != HTTPStatus.OK for answered in answers)
    slow = round(quantiles(taken, n=_HUNDREDTHS)[-1], 1)
    return {
        "meanwhile": name,
        "reads": len(answers),
        "not answered 200": refused,
        "ms at the median": round(median(taken), 1),
        "at the 99th percentile": slow,
    }


def _targets(row: dict[str, Any], usual_ms: float) -> list[Target]:
    name = row["meanwhile"]
    return [
        Target(
            f"{name}: median of reads, in times the quiet one", round(row["ms at the median"] / usual_ms, 2), MOST_TIMES
        ),
        Target(f"{name}: ms of a read at the 99th percentile", row["at the 99th percentile"], MOST_MS),
        Target(f"{name}: reads that were not answered 200", row["not answered 200"], 0),
    ]


def _away(port: int, api_key: str, stalling: Sequence[Attack]) -> Section:
    """Open all these sockets at web's own port, and measure how long after the last one a read is answered."""
    rows: list[dict[str, Any]] = []
    for attack in stalling:
        _seconds_to_answer(port, api_key)  # what came before is over
        with ExitStack() as sockets:
            for _ in range(attack.callers):
                caller = sockets.enter_context(socket.create_connection(("127.0.0.1", port)))
                caller.sendall(attack.sent)
            rows.append({"sockets": attack.name, "seconds until a read is answered": _seconds_to_answer(port, api_key)})
    targets = [
        Target(
            f"{row['sockets']} at web's own port: seconds until a read is answered",
            row["seconds until a read is answered"],
            MOST_SECONDS_AWAY,
        )
        for row in rows
    ]
    return Section("Back at web's own port", rows, targets)


def _seconds_to_answer(port: int, api_key: str) -> float:
    started = time.monotonic()
    while (waited := time.monotonic() - started) < GIVEN_UP_SECONDS:
        try:
            headers = {"x-api-key": api_key, "Connection": "close"}
            answer = requests.get(f"http://127.0.0.1:{port}/v2/partner", headers=headers, timeout=5)
        except (requests.ConnectionError, requests.Timeout):
            continue
        if answer.ok:
            return round(time.monotonic() - started, 2)
    return round(waited, 2)
