"""A worker that is killed or frozen in the middle of a check: another one checks its sweeps within seconds."""

from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import pytest
from psycopg.rows import namedtuple_row

from indexer.leases import LEASE
from sweeps.wake import CHECK_TASK
from tests.local_chain import LocalChain
from tests.resilience.engines import connect, send
from tests.resilience.faulty_link import FaultyLink
from tests.resilience.world import TICK_SECONDS, World

# Within five seconds where beat ticks every two.
RESUMED_SECONDS = 3 + TICK_SECONDS
FAULTY = "faulty"  # the worker that dies, and its queue


@pytest.fixture
def provider() -> Iterator[FaultyLink]:
    """The only provider of the faulty worker."""
    url = urlsplit(LocalChain.of_environment().world["rpcUrl"])
    with FaultyLink((str(url.hostname), url.port or 0)) as link:
        yield link


@pytest.fixture
def log(world: World, provider: FaultyLink) -> Path:
    """The log of the faulty worker, which runs and waits for its provider patiently."""
    patient = {"RPC_URLS_LOCAL": f"http://127.0.0.1:{provider.port}", "RPC_TIMEOUT_SECONDS": "60"}
    return world.engines.start_worker(world.environment | patient, name=FAULTY, queue=FAULTY)


def begin_check(world: World) -> str:
    """Have the faulty worker check a new sweep, and return its id."""
    sweep_id = str(world.build()["sweepId"])
    with connect(world.database.url) as monitor:
        monitor.execute("UPDATE sweeps_sweep SET next_check_at = now() WHERE id = %s", [sweep_id])
    send(world.environment["REDIS_URL"], CHECK_TASK, sweep_id, queue=FAULTY)
    world.engines.wait_for(lambda: stored(world, sweep_id).lease_token is not None, "the claim")
    return sweep_id


def stored(world: World, sweep_id: str) -> Any:
    columns = "SELECT lease_token, lease_until, next_check_at, last_checked_at, check_attempts FROM sweeps_sweep"
    with connect(world.database.url) as monitor:
        return monitor.cursor(row_factory=namedtuple_row).execute(f"{columns} WHERE id = %s", [sweep_id]).fetchone()


def seconds_until_checked(world: World, sweep_id: str) -> float:
    started = monotonic()
    world.engines.wait_for(lambda: stored(world, sweep_id).last_checked_at is not None, "a check by another worker")
    return monotonic() - started


def test_another_worker_checks_what_a_frozen_one_and_then_a_killed_one_was_reading(
    world: World, provider: FaultyLink, log: Path
) -> None:
    provider.hang()
    frozen = begin_check(world)
    until = stored(world, frozen).lease_until
    world.engines.wait_for(lambda: stored(world, frozen).lease_until > until + LEASE, "renewals")
    world.engines.freeze(FAULTY)
    assert seconds_until_checked(world, frozen) < RESUMED_SECONDS
    provider.work()
    world.engines.thaw(FAULTY)
    world.engines.wait_for(lambda: "lease_lost" in log.read_text(), "the end of the check that was frozen")
    assert stored(world, frozen).check_attempts == 1
    provider.hang()
    killed = begin_check(world)
    world.engines.kill(FAULTY)
    assert seconds_until_checked(world, killed) < RESUMED_SECONDS
