"""A backup of the local PostgreSQL is restored to a point in time, as ``make rehearse-restore`` and the runbook do."""

from pathlib import Path

import psycopg

from dev.engines import postgres
from dev.fleet import Fleet
from dev.restore.backups import Backups


def test_what_was_committed_until_then_is_restored_and_nothing_later(tmp_path: Path) -> None:
    with Fleet(tmp_path) as fleet:
        url = postgres.start(fleet, owner_password="a", runtime_password="b").owner
        backups = Backups(fleet, url)
        backups.archive_the_log()
        _write(url, "CREATE TABLE commits (name text)")
        _write(url, "INSERT INTO commits VALUES ('before the backup')")
        backups.take()
        _write(url, "INSERT INTO commits VALUES ('after the backup')")
        until = backups.now()
        _write(url, "INSERT INTO commits VALUES ('too late')")
        backups.archive_all()
        backups.kill()
        backups.restore(until)
        with psycopg.connect(url) as connection:
            found = connection.execute("SELECT name FROM commits").fetchall()
    assert found == [("before the backup",), ("after the backup",)]


def _write(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)
