"""A fail-over that loses commits: PostgreSQL goes on from a copy which was taken while it ran."""

import shutil
from collections.abc import Mapping, Sequence
from signal import SIGQUIT

import psycopg

from dev.chain.chains_file import CHAIN
from dev.engines.postgres import base_backup
from dev.processes.fleet import Fleet
from dev.processes.waiting import wait_until
from dev.solana.clusters_file import CLUSTER
from lab.chaos.world import ChaosWorld

START_SECONDS = 60
RECONCILE = "reconcile"


def copy(world: ChaosWorld) -> None:
    """Copy the running server with what is committed."""
    base_backup(world.fleet, world.database_url, world.fleet.folder / "postgres-copy")


def fail_over(world: ChaosWorld) -> None:
    """Go on from the copy; what was committed since is lost."""
    data = world.fleet.folder / "postgres"
    world.fleet.kill("postgres", SIGQUIT)
    shutil.rmtree(data)
    data.with_name("postgres-copy").rename(data)
    start(world.fleet, world.database_url)


def restart(world: ChaosWorld) -> None:
    """Crash the server and start it again; what was committed is kept."""
    world.fleet.kill("postgres", SIGQUIT)
    start(world.fleet, world.database_url)


def repair(world: ChaosWorld, named: Mapping[tuple[str, str], Sequence[str]]) -> str:
    """Adopt what the chains show and the copy lacks, as operators do; returns what was printed.

    ``named`` has, by network and partner, the transactions where the chain does not name the partner.
    """
    of_partners = [(network, "--partner", partner, "--tx", *hashes) for (network, partner), hashes in named.items()]
    printed = []
    for arguments in ((CHAIN,), (CLUSTER,), *of_partners):
        done = world.manage(RECONCILE, *arguments, "--repair", "--by", "chaos")
        printed.append(done.stderr + done.stdout)
    return "".join(printed)


def start(fleet: Fleet, database_url: str) -> None:
    fleet.relaunch("postgres")
    wait_until(lambda: answers(database_url), within_seconds=START_SECONDS, what="the return of PostgreSQL")


def answers(database_url: str) -> bool:
    try:
        with psycopg.connect(database_url, connect_timeout=2):
            return True
    except psycopg.OperationalError:
        return False
