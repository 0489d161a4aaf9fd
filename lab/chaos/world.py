"""The chaos world: real engines and every process of the service, several of each, any of which may be taken down."""

import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from signal import SIGKILL

import psycopg

from dev import service, world
from dev.chain.chains_file import CHAIN
from dev.engines import solana
from dev.engines.postgres import RUNTIME
from dev.ports import free_port
from dev.processes.fleet import Fleet
from dev.processes.process import Program
from dev.processes.waiting import api_answers, wait_until
from dev.solana.clusters_file import CLUSTER
from dev.world import World

PROVIDERS = 3
SAFE_DEPTH_BLOCKS = 12  # so that reorgs of up to 20 blocks stay above the final one, 24 blocks deep
FINAL_DEPTH_BLOCKS = 2 * SAFE_DEPTH_BLOCKS
START_SECONDS = 120
FALLBACK = "web-fallback"  # builds on V4
WEBS, LOOPS = ("web-1", "web-2", FALLBACK), ("work-1", "work-2")
WORKERS, BEATS = ("celery-1", "celery-2"), ("beat-1", "beat-2")
SKEW = Path(__file__).parent / "skewed_clock"
# Everything is looked at far more often than in production, and given up sooner.
PACE = {
    "DUE_SWEEP_SECONDS": "2",
    "FIRST_CHECK_SECONDS": "1",
    "MAX_CHECK_DELAY_SECONDS": "5",
    "SOLANA_EXPIRY_GRACE_SECONDS": "10",
    "RPC_TIMEOUT_SECONDS": "1.5",  # below the longest fault
    "CONFIRM_TIMEOUT_SECONDS": "1",
    "ONCHAIN_CANCELLATIONS_PER_DAY": "100000",
    "WEB_PROCESSES": "1",
}
_BIN = Path(sys.executable).parent


@dataclass(frozen=True)
class ChaosWorld:
    """What runs, and where."""

    fleet: Fleet
    local: World
    cluster: solana.LocalCluster
    providers: Sequence[str]  # URLs
    solana_providers: Sequence[str]
    base_urls: Sequence[str]
    fallback_url: str  # of the web that builds on V4
    api_keys: Sequence[str]  # of two partners
    environment: dict[str, str]

    @property
    def database_url(self) -> str:
        """The database as its owner."""
        return self.local.databases.owner

    def take_down(self, name: str) -> None:
        self.fleet.kill(name)

    def bring_up(self, name: str, *, skew_seconds: int = 0) -> None:
        """Start a process again unless it runs, with a clock that is wrong by this much."""
        if self.fleet.is_running(name):
            return
        self.fleet.kill(name)  # removes what is left of it
        skew = {"PYTHONPATH": str(SKEW), "CHAOS_CLOCK_SKEW_SECONDS": str(skew_seconds)} if skew_seconds else {}
        self.fleet.relaunch(name, skew)

    def wait_until_served(self) -> None:
        for url in (*self.base_urls, self.fallback_url):
            wait_until(partial(api_answers, url), within_seconds=START_SECONDS, what=f"the return of {url}")

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command of manage.py as the operator does, with the service's environment."""
        argv = [sys.executable, "manage.py", *arguments]
        environment = {**os.environ, **self.environment}
        return subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)


def start(fleet: Fleet) -> ChaosWorld:
    """Start everything; returns when every API answers."""
    local = world.start(fleet, safe_depth_blocks=SAFE_DEPTH_BLOCKS)
    cluster = solana.start_forking(fleet, local.keys)
    providers = [f"http://127.0.0.1:{free_port()}" for _ in range(2 * PROVIDERS)]
    _launch_providers(fleet, providers, [local.rpc_url] * PROVIDERS + [cluster.rpc_url] * PROVIDERS)
    of_chain, of_cluster = providers[:PROVIDERS], providers[PROVIDERS:]
    urls = {f"RPC_URLS_{CHAIN.upper()}": ",".join(of_chain), f"RPC_URLS_{CLUSTER.upper()}": ",".join(of_cluster)}
    environment = local.environment(database_url=local.databases.runtime) | cluster.environment() | PACE | urls
    api_keys = service.seed_database(local, cluster)
    _make_commits_durable(local)
    ports = {name: free_port() for name in WEBS}
    chaos = ChaosWorld(
        fleet=fleet,
        local=local,
        cluster=cluster,
        providers=of_chain,
        solana_providers=of_cluster,
        base_urls=[f"http://127.0.0.1:{port}" for name, port in ports.items() if name != FALLBACK],
        fallback_url=f"http://127.0.0.1:{ports[FALLBACK]}",
        api_keys=api_keys,
        environment=environment,
    )
    for name in WEBS:
        mode = {"SERVICE_EVM_BUILD_MODE": "v4_fallback"} if name == FALLBACK else {}
        argv = [str(_BIN / "gunicorn"), "--config", "python:config.gunicorn", "config.wsgi"]
        fleet.launch(_program(fleet, name, argv, environment | {"BIND": f"127.0.0.1:{ports[name]}"} | mode))
    for name in LOOPS:
        fleet.launch(_program(fleet, name, [sys.executable, "manage.py", "work"], environment))
    celery = [str(_BIN / "celery"), "--app", "config.celery"]
    for name in WORKERS:
        worker = [*celery, "worker", "--concurrency", "1", "--loglevel", "INFO", "--hostname", f"{name}@%h"]
        fleet.launch(_program(fleet, name, [*worker, "--without-gossip", "--without-mingle"], environment))
    for name in BEATS:
        schedule = ["--schedule", str(fleet.folder / f"{name}-schedule"), "--pidfile", ""]
        fleet.launch(_program(fleet, name, [*celery, "beat", *schedule], environment))
    chaos.wait_until_served()
    return chaos


def accepts(url: str) -> bool:
    """Whether a server listens at this URL; a frozen one does."""
    host, _, port = url.removeprefix("http://").partition(":")
    with closing(socket.socket()) as probe:
        probe.settimeout(1)
        return probe.connect_ex((host, int(port))) == 0


def _program(fleet: Fleet, name: str, argv: list[str], environment: dict[str, str]) -> Program:
    log = fleet.folder / f"{name}.log"
    log.unlink(missing_ok=True)
    return Program(name=name, argv=argv, env=environment, log=log, stop_signal=SIGKILL)


def _launch_providers(fleet: Fleet, urls: Sequence[str], upstreams: Sequence[str]) -> None:
    served = [f"{url.rpartition(':')[2]}={upstream}" for url, upstream in zip(urls, upstreams, strict=True)]
    argv = [sys.executable, "-m", "lab.chaos.breaking.providers", *served]
    fleet.start(_program(fleet, "providers", argv, {}), ready=lambda: all(accepts(url) for url in urls))


def _make_commits_durable(local: World) -> None:
    """Have commits survive the server's processes, which the local world otherwise gives up for speed."""
    with psycopg.connect(local.databases.owner, autocommit=True) as connection:
        connection.execute(f"ALTER ROLE {RUNTIME} SET synchronous_commit = on")
