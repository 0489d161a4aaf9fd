"""The build mode is switched while partners build, send and confirm: no request fails, and every sweep completes."""

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from threading import Condition, Event
from typing import Any

import psycopg
import pytest

from dev.ports import free_port
from dev.processes.process import Program
from dev.processes.waiting import api_answers
from dev.wallets import Wallet
from sweepapi_client import SweepClient, finalized, token_inputs
from tests.local_chain import FINAL_AFTER, LocalChain
from tests.resilience.databases import Database
from tests.resilience.engines import BIN, STEP_SECONDS, Engines, send

MODES = ("v5_partner_fees", "v4_fallback", "v5_partner_fees")
SWEEPS_PER_MODE = 6
CLIENTS = 3


class Front:
    """A load balancer: requests go to the newest web process, and the one before finishes those that it has."""

    def __init__(self, engines: Engines, environment: dict[str, str]) -> None:
        self._engines, self._environment = engines, environment
        self._names: list[str] = []
        self._url = ""
        self._requests = Counter[str]()  # under way, by URL
        self._changed = Condition()

    def switch_to(self, mode: str) -> None:
        """Start a web process in this mode, send new requests there, and stop the one before once it is idle."""
        name, port = f"web-{len(self._names)}", free_port()
        url, old = f"http://127.0.0.1:{port}", self._url
        sizes = {"WEB_PROCESSES": "1", "WEB_THREADS": "32"}
        web = Program(
            name=name,
            argv=[str(BIN / "gunicorn"), "--config", "python:config.gunicorn", "config.wsgi"],
            env=self._environment | sizes | {"SERVICE_EVM_BUILD_MODE": mode, "BIND": f"127.0.0.1:{port}"},
            log=self._engines.folder / f"{name}.log",
        )
        self._engines.start(web, ready=lambda: api_answers(url))
        with self._changed:
            self._url = url
            assert self._changed.wait_for(lambda: not self._requests[old], timeout=STEP_SECONDS)
        if self._names:
            self._engines.stop_named(self._names[-1])
        self._names.append(name)

    @contextmanager
    def api(self, api_key: str) -> Iterator[SweepClient]:
        """Yield the API of the newest web process, for one request."""
        with self._changed:
            url = self._url
            self._requests[url] += 1
        try:
            with SweepClient(url, api_key, retries=0) as client:
                yield client
        finally:
            with self._changed:
                self._requests[url] -= 1
                self._changed.notify_all()


@pytest.fixture
def front(engines: Engines, database: Database, redis_url: str) -> Front:
    """A web process and a worker on the local chain, with a database and a broker of their own."""
    environment = {"DATABASE_URL": database.url, "REDIS_URL": redis_url}
    engines.start_worker(environment)
    return Front(engines, environment)


class Client:
    """One user of the partner's app, which sweeps again and again."""

    def __init__(self, front: Front, database: Database, chain: LocalChain, number: int) -> None:
        self._front, self._api_key, self._chain = front, database.api_key, chain
        self._wallet = Wallet(chain.node, chain.world["users"][number]["privateKey"])
        self.finished = Counter[str]()

    def sweep(self) -> None:
        """Build, approve, sign, send and confirm."""
        usdc, weth = self._chain.token("USDC"), self._chain.token("WETH")
        with self._front.api(self._api_key) as api:
            built = api.build(
                {
                    "chain": self._chain.world["chain"],
                    "wallet": self._wallet.address,
                    "tokens": token_inputs({usdc.address: usdc.units(3)}),
                    "outputMint": weth.address,
                    "slippageBps": 500,
                    "onLegFailure": "skip",
                }
            )
        for issue in built["issues"]["allowance"]:
            self._chain.receipt(self._wallet.send(issue["transaction"]))
        tx_hash = self._wallet.send(finalized(built, self._wallet.sign(built["permit2"])))
        assert self._chain.receipt(tx_hash)["status"] == 1
        with self._front.api(self._api_key) as api:
            confirmed = api.confirm(built["sweepId"], {"txHash": tx_hash})
        assert (confirmed["status"], confirmed["mode"]) == ("completed", built["mode"])
        self.finished[built["mode"]] += 1


@contextmanager
def under_load(clients: list[Client]) -> Iterator[Callable[[], Counter[str]]]:
    """Let the clients sweep within the block; yields the number of finished sweeps by mode. Their errors end it."""
    stop = Event()

    def run(client: Client) -> None:
        while not stop.is_set():
            client.sweep()

    with ThreadPoolExecutor(len(clients)) as threads:
        running = [threads.submit(run, client) for client in clients]

        def finished() -> Counter[str]:
            for one in running:
                if one.done():
                    one.result()  # raises the error that ended it
            return sum((client.finished for client in clients), start=Counter())

        try:
            yield finished
        finally:
            stop.set()
        for one in running:
            one.result()


def has_reached(finished: Callable[[], Counter[str]], mode: str, goal: int) -> bool:
    return finished()[mode] >= goal


def stored(database: Database) -> Counter[tuple[Any, ...]]:
    """Return the number of sweeps by rail, status and openness."""
    with psycopg.connect(database.url) as connection:
        return Counter(connection.execute("SELECT rail, status, is_open FROM sweeps_sweep").fetchall())


def test_switching_back_and_forth_under_load_fails_no_request_and_loses_no_sweep(
    engines: Engines, front: Front, database: Database, redis_url: str, chain: LocalChain
) -> None:
    front.switch_to(MODES[0])
    clients = [Client(front, database, chain, number) for number in range(CLIENTS)]
    with under_load(clients) as finished:
        for switches, mode in enumerate(MODES):
            if switches:
                front.switch_to(mode)
            goal = finished()[mode] + SWEEPS_PER_MODE
            engines.wait_for(partial(has_reached, finished, mode, goal), f"sweeps in {mode}")
    total = finished()
    v5, v4 = total["v5_partner_fees"], total["v4_fallback"]
    assert stored(database) == {("evm_v5", "completed", True): v5, ("evm_v4", "completed", True): v4}

    chain.mine(FINAL_AFTER)
    with psycopg.connect(database.url) as connection:
        connection.execute("UPDATE sweeps_sweep SET next_check_at = now() - interval '1 minute'")
    send(redis_url, "indexer.check_due")
    closed = {("evm_v5", "completed", False): v5, ("evm_v4", "completed", False): v4}
    engines.wait_for(lambda: stored(database) == closed, "closing of every sweep")
