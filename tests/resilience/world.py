"""Web, loop, Celery and beat with engines of their own, each behind a link that a test can break."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import requests

from dev.engines import redis
from dev.ports import free_port
from dev.processes.process import Program
from tests.local_chain import LocalChain
from tests.resilience import databases
from tests.resilience.databases import Database
from tests.resilience.engines import BIN, STEP_SECONDS, Engines, connect
from tests.resilience.faulty_link import FaultyLink

THREADS = 4
TICK_SECONDS = 0.5
SLOW_SECONDS = 0.05
PROVIDERS = ("provider-1", "provider-2")
UNKNOWN_HASH = "0x" + "ab" * 32


@dataclass(frozen=True)
class Answer:
    status: int
    retry_after: str | None
    seconds: float
    data: Any


@dataclass
class World:
    """The service, and a sweep with a hash that no chain knows, which the worker looks up whenever it is due."""

    engines: Engines
    database: Database
    links: dict[str, FaultyLink]
    url: str
    environment: dict[str, str] = field(init=False)  # of its processes
    sweep_id: str = field(init=False)

    def start(self, environment: dict[str, str]) -> None:
        """Start the processes, and build the sweep."""
        self.environment = environment
        web = Program(
            name="web",
            argv=[str(BIN / "gunicorn"), "--config", "python:config.gunicorn", "config.wsgi"],
            env=environment | {"BIND": urlsplit(self.url).netloc, "WEB_PROCESSES": "1", "WEB_THREADS": str(THREADS)},
            log=self.engines.folder / "web.log",
        )
        celery = [str(BIN / "celery"), "--app", "config.celery"]
        schedule, log = self.engines.folder / "beat-schedule", self.engines.folder / "beat.log"
        beat = Program(
            name="beat",
            argv=[*celery, "beat", "--schedule", str(schedule), "--pidfile", "", "--loglevel", "INFO"],
            env=environment,
            log=log,
        )
        self.engines.start(web, ready=self.serves)
        self.engines.start_loop(environment)
        self.engines.start_worker(environment)
        self.engines.start(beat, ready=lambda: "beat: Starting" in log.read_text())
        self.sweep_id = self.build()["sweepId"]
        assert self.confirm().status == 202
        self.rest()

    @contextmanager
    def fault(self, story: str) -> Iterator[None]:
        """Do what the story says, such as ``freeze redis and kill worker``, and undo it in reverse at the end."""
        engines, links = self.engines, self.links
        kinds: dict[str, tuple[Callable[[str], None], Callable[[str], None]]] = {
            "kill": (engines.kill, engines.start_again),
            "restart": (engines.stop_named, engines.start_again),
            "freeze": (engines.freeze, engines.thaw),
            "hang": (lambda name: links[name].hang(), lambda name: links[name].work()),
            "refuse": (lambda name: links[name].refuse(), lambda name: links[name].work()),
            "slow": (lambda name: links[name].delay(SLOW_SECONDS), lambda name: links[name].work()),
        }
        with ExitStack() as stack:
            for part in story.split(" and "):
                kind, name = part.split()
                begin, end = kinds[kind]
                begin(name)
                stack.callback(end, name)
            yield

    def build(self, wallet: str | None = None) -> Any:
        """Build a sweep and return the response's data."""
        answer = self.post_build(wallet)
        assert answer.status == 201, answer
        return answer.data

    def post_build(self, wallet: str | None = None, **headers: str) -> Answer:
        chain = LocalChain.of_environment()
        chain.catch_up()
        usdc, weth = chain.token("USDC"), chain.token("WETH")
        body = {
            "chain": chain.world["chain"],
            "wallet": wallet or chain.users[0].address,
            "tokens": [{"mint": usdc.address, "amount": str(usdc.units(3))}],
            "outputMint": weth.address,
            "slippageBps": 500,
            "onLegFailure": "skip",
        }
        return self.ask("POST", "/v2/sweep/build", body, **headers)

    def ask(self, method: str = "GET", path: str = "/v2/partner", body: object = None, **headers: str) -> Answer:
        """Make one request."""
        started = monotonic()
        headers = {"x-api-key": self.database.api_key, **headers}
        answer = requests.request(method, self.url + path, headers=headers, json=body, timeout=STEP_SECONDS)
        took = monotonic() - started
        return Answer(answer.status_code, answer.headers.get("Retry-After"), took, answer.json().get("data"))

    def ask_often(self, count: int) -> list[Answer]:
        """Make that many requests at once."""
        with ThreadPoolExecutor(count) as clients:
            return list(clients.map(lambda _number: self.ask(), range(count)))

    def confirm(self) -> Answer:
        return self.ask("POST", f"/v2/sweep/status/{self.sweep_id}/confirm", {"txHash": UNKNOWN_HASH})

    def serves(self) -> bool:
        try:
            return self.ask().status == 200
        except requests.ConnectionError:
            return False

    def rest(self) -> None:
        """Make the sweep due much later, so that a fault interrupts no check of it."""
        self._set_due("1 hour")

    def seconds_until_served(self) -> float:
        started = monotonic()
        self.engines.wait_for(self.serves, "an answer after the outage")
        return monotonic() - started

    def seconds_until_checked(self) -> float:
        """Make the sweep due, and return how long it takes until the worker has checked it."""
        started = monotonic()
        before = self._last_check()
        self._set_due("-1 minute")
        self.engines.wait_for(lambda: self._last_check() != before, "a check after the outage")
        took = monotonic() - started
        self.rest()
        return took

    def _last_check(self) -> object:
        with connect(self.database.url) as monitor:
            looked = "SELECT last_checked_at, check_attempts, last_error FROM sweeps_sweep WHERE id = %s"
            return monitor.execute(looked, [self.sweep_id]).fetchone()

    def _set_due(self, after: str) -> None:
        with connect(self.database.url) as monitor:
            due = "UPDATE sweeps_sweep SET next_check_at = now() + %s::interval WHERE id = %s"
            monitor.execute(due, [after, self.sweep_id])


@contextmanager
def running(engines: Engines) -> Iterator[World]:
    """Start the service with links to its engines and to two providers of the local chain."""
    database, redis_url = databases.start(engines), redis.start(engines, password="secret")
    rpc_url = LocalChain.of_environment().world["rpcUrl"]
    targets = {"postgres": database.url, "redis": redis_url} | dict.fromkeys(PROVIDERS, rpc_url)
    with ExitStack() as stack:
        links = {name: stack.enter_context(FaultyLink(_address(url))) for name, url in targets.items()}
        urls = {name: _through(links[name], url) for name, url in targets.items()}
        world = World(engines, database, links, f"http://127.0.0.1:{free_port()}")
        world.start(
            {
                "DATABASE_URL": urls["postgres"],
                "REDIS_URL": urls["redis"],
                "RPC_URLS_LOCAL": ",".join(urls[name] for name in PROVIDERS),
                "DUE_SWEEP_SECONDS": str(TICK_SECONDS),
            }
        )
        yield world


def _address(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return str(parts.hostname), int(parts.port or 0)


def _through(link: FaultyLink, url: str) -> str:
    parts = urlsplit(url)
    _credentials, at, _host = parts.netloc.rpartition("@")
    return parts._replace(netloc=f"{_credentials}{at}127.0.0.1:{link.port}").geturl()
