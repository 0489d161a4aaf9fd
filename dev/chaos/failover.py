"""A fail-over that loses commits: PostgreSQL goes on from a copy which was taken while it ran."""

import os
import shutil
from signal import SIGQUIT
from urllib.parse import urlsplit

import psycopg

from dev.chaos.fleet import Fleet
from dev.chaos.world import ChaosWorld
from dev.engines.postgres import BIN, OWNER, UNPRIVILEGED_USER
from dev.errors import DatabaseError
from dev.process import Program
from dev.waiting import wait_until

START_SECONDS = 60
RECONCILE = "reconcile"


def copy(world: ChaosWorld) -> None:
    """Copy the running server with what is committed."""
    target = world.fleet.folder / "postgres-copy"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(mode=0o700)
    as_user = UNPRIVILEGED_USER if os.geteuid() == 0 else None
    if as_user:
        shutil.chown(target, as_user)
    url = urlsplit(world.database_url)
    argv = [str(BIN / "pg_basebackup"), "-h", "127.0.0.1", "-p", str(url.port), "-U", OWNER]
    argv += ["-D", str(target), "--checkpoint=fast", "--wal-method=stream", "--no-sync"]
    log = world.fleet.folder / "basebackup.log"
    environment = {"PGPASSWORD": url.password or ""}
    if world.fleet.run(Program(name="basebackup", argv=argv, env=environment, user=as_user, log=log)):
        raise DatabaseError(f"the copy failed: see {log}")


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


def repair(world: ChaosWorld) -> str | None:
    """Adopt what the chain shows and the copy lacks, as operators do; returns what was printed.

    None if this release has no command for it.
    """
    if RECONCILE not in world.manage("help", "--commands").stdout.split():
        return None
    done = world.manage(RECONCILE, "--repair")
    return done.stdout + done.stderr


def start(fleet: Fleet, database_url: str) -> None:
    fleet.relaunch("postgres")
    wait_until(lambda: answers(database_url), within_seconds=START_SECONDS, what="the return of PostgreSQL")


def answers(database_url: str) -> bool:
    try:
        with psycopg.connect(database_url, connect_timeout=2):
            return True
    except psycopg.OperationalError:
        return False
