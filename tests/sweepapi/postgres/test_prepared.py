"""Prepared statements go on working when their tables are migrated, and after the server ended their session."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from dev.processes.waiting import wait_until
from sweepapi.postgres.base import DatabaseWrapper

pytestmark = pytest.mark.django_db

# Of the forms that are used: one column of JSON, and rows that are read from a JSON array by the type of the table.
READ = "SELECT json_agg(one ORDER BY one.id) FROM prepared_scratch AS one WHERE one.id = ANY(%s)"
WRITE = "INSERT INTO prepared_scratch (id) SELECT id FROM json_populate_recordset(NULL::prepared_scratch, %s)"


@pytest.fixture
def sessions() -> Iterator[tuple[DatabaseWrapper, DatabaseWrapper]]:
    """Two sessions outside the test's transaction, and a table that both see."""
    first, second = connection.copy(), connection.copy()
    assert isinstance(first, DatabaseWrapper)
    assert isinstance(second, DatabaseWrapper)
    first.settings_dict["CONN_MAX_AGE"] = 600  # as the service has it: a session is kept, and checked when it is used
    execute(second, "CREATE TABLE prepared_scratch (id integer NOT NULL, dropped integer)")
    yield first, second
    execute(second, "DROP TABLE prepared_scratch")
    first.close()
    second.close()


def execute(session: DatabaseWrapper, statement: str) -> None:
    with session.cursor() as cursor:
        cursor.execute(statement)


def write(session: DatabaseWrapper, number: int) -> None:
    with session.preparing_cursor() as cursor:
        cursor.execute(WRITE, [f'[{{"id": {number}}}]'])


def read(session: DatabaseWrapper) -> Any:
    with session.preparing_cursor() as cursor:
        cursor.execute(READ, [[1, 2]])
        return cursor.fetchone()[0]


def prepared(session: DatabaseWrapper) -> int:
    with session.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements")
        count: int = cursor.fetchone()[0]
        return count


def test_a_migration_by_another_session_does_not_break_them(
    sessions: tuple[DatabaseWrapper, DatabaseWrapper],
) -> None:
    serving, migrating = sessions
    write(serving, 1)
    assert read(serving) == [{"id": 1, "dropped": None}]
    execute(
        migrating,
        "ALTER TABLE prepared_scratch DROP COLUMN dropped, ADD COLUMN added text NOT NULL DEFAULT 'yes', "
        "ALTER COLUMN id TYPE bigint",
    )
    write(serving, 2)
    assert read(serving) == [{"id": 1, "added": "yes"}, {"id": 2, "added": "yes"}]
    assert prepared(serving) == 2


def test_a_new_session_prepares_them_again(sessions: tuple[DatabaseWrapper, DatabaseWrapper]) -> None:
    serving, ending = sessions
    write(serving, 1)
    pid = serving.connection.info.backend_pid
    execute(ending, f"SELECT pg_terminate_backend({pid})")
    wait_until(lambda: not serving.connection.is_surely_alive(), within_seconds=10, what="the end of the session")
    serving.close_if_unusable_or_obsolete()  # as at the start of a request
    assert read(serving) == [{"id": 1, "dropped": None}]
    assert prepared(serving) == 1
