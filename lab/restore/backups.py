"""Backups of the local PostgreSQL, as in production: a base backup, an archive of the log, a point-in-time restore."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from signal import SIGQUIT
from typing import Any

import psycopg

from dev.engines.postgres import UNPRIVILEGED_USER, base_backup
from dev.processes.fleet import Fleet
from dev.processes.waiting import wait_until

SERVER = "postgres"  # the name of its program and of its data's folder
START_SECONDS = 60


@dataclass(frozen=True)
class Backups:
    """The server's archive and its last base backup."""

    fleet: Fleet
    url: str  # of the database, as its owner

    @property
    def _archive(self) -> Path:
        return self.fleet.folder / "archive"

    @property
    def _backup(self) -> Path:
        return self.fleet.folder / "backup"

    def archive_the_log(self) -> None:
        """Have the server copy each finished segment of its log to the archive; that takes a restart."""
        shutil.rmtree(self._archive, ignore_errors=True)
        self._archive.mkdir(mode=0o700)
        _own([self._archive])
        self._query("ALTER SYSTEM SET archive_mode = on")
        self._query(f"ALTER SYSTEM SET archive_command = 'cp %p {self._archive}/%f'")
        self.kill()
        self._start()

    def take(self) -> None:
        """Take a base backup of the running server."""
        base_backup(self.fleet, self.url, self._backup)

    def now(self) -> datetime:
        """Return the time by the server's clock, once all that was committed before it is in the archive."""
        (time,) = self._query("SELECT clock_timestamp()")
        self.archive_all()
        moment: datetime = time
        return moment

    def archive_all(self) -> None:
        """Wait until everything that was committed is in the archive."""
        (segment,) = self._query("SELECT pg_walfile_name(pg_switch_wal())")
        wait_until(lambda: self._archived() >= segment, within_seconds=START_SECONDS, what=f"archive of {segment}")

    def _archived(self) -> str:
        """Return the last segment that was copied whole."""
        (segment,) = self._query("SELECT coalesce(last_archived_wal, '') FROM pg_stat_archiver")
        return str(segment)

    def kill(self) -> None:
        """End the server without a shutdown."""
        self.fleet.kill(SERVER, SIGQUIT)

    def restore(self, until: datetime) -> None:
        """Replace the data of the server, which is down, by the backup and what was committed up to that time."""
        data = self.fleet.folder / SERVER
        shutil.rmtree(data)
        self._backup.rename(data)
        with (data / "postgresql.auto.conf").open("a") as configuration:
            configuration.write(f"restore_command = 'cp {self._archive}/%f %p'\n")
            configuration.write(f"recovery_target_time = '{until.isoformat()}'\nrecovery_target_action = 'promote'\n")
        (data / "recovery.signal").touch()
        _own([data / "recovery.signal"])
        self._start()

    def _start(self) -> None:
        self.fleet.relaunch(SERVER)
        wait_until(self._is_writable, within_seconds=START_SECONDS, what="start of PostgreSQL")

    def _is_writable(self) -> bool:
        try:
            (is_recovering,) = self._query("SELECT pg_is_in_recovery()")
        except psycopg.OperationalError:
            return False
        return not is_recovering

    def _query(self, statement: str) -> Sequence[Any]:
        """Run one statement, and return its row; empty if it returns none."""
        with psycopg.connect(self.url, connect_timeout=2, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return (cursor.fetchone() or ()) if cursor.description is not None else ()


def _own(places: Sequence[Path]) -> None:
    """Give these to the user that the server runs as."""
    if os.geteuid() == 0:
        for place in places:
            shutil.chown(place, UNPRIVILEGED_USER)
