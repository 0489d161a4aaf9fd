"""Every wait for the database ends in time, by TCP and over a unix socket, and only silence counts as an outage."""

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import pytest
from django import db
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

from dev.processes.waiting import wait_until
from sweepapi import errors
from sweepapi.api.errors.error_mapping import domain_error
from sweepapi.postgres import connection as deadlines
from sweepapi.postgres.base import DatabaseWrapper
from sweepapi.postgres.connection import CONNECT_SECONDS, GRACE_SECONDS, DeadlineConnection
from tests.resilience.faulty_link import FaultyLink

pytestmark = pytest.mark.django_db

DEADLINE_SECONDS = 0.2
SCHEDULING_SECONDS = 1.0  # of this machine, when it is busy


@pytest.fixture(params=["tcp", "unix socket"])
def link(request: pytest.FixtureRequest) -> Iterator[FaultyLink]:
    settings = connection.settings_dict
    with TemporaryDirectory() as folder:
        path = Path(folder) / ".s.PGSQL.5432" if request.param == "unix socket" else None
        with FaultyLink((settings["HOST"], int(settings["PORT"])), path=path) as link:
            yield link


@pytest.fixture
def other(link: FaultyLink) -> Iterator[DatabaseWrapper]:
    """A connection over the link, not yet open; the tests' own is not refused for what happens to it."""
    other = connection.copy()
    assert isinstance(other, DatabaseWrapper)
    place = {"HOST": str(link.folder), "PORT": "5432"} if link.folder else {"HOST": "127.0.0.1", "PORT": str(link.port)}
    other.settings_dict |= place
    other.settings_dict["OPTIONS"] |= {"deadline_seconds": DEADLINE_SECONDS}
    yield other
    DeadlineConnection.breaker.answered()
    other.close()


def seconds_until_given_up(action: Callable[[], object]) -> float:
    started = monotonic()
    with pytest.raises(db.OperationalError, match="did not answer in time"):
        action()
    DeadlineConnection.breaker.answered()
    return monotonic() - started


def execute(other: BaseDatabaseWrapper, statement: str) -> None:
    with other.cursor() as cursor:
        cursor.execute(statement)


def ended_while_idle(other: DatabaseWrapper) -> bool:
    """Query, which raises if the server has ended the session."""
    execute(other, "SELECT 1")
    return False


def test_a_login_that_is_not_answered_is_given_up(link: FaultyLink, other: DatabaseWrapper) -> None:
    link.hang()
    assert seconds_until_given_up(other.ensure_connection) < CONNECT_SECONDS + SCHEDULING_SECONDS


def test_a_query_that_is_not_answered_is_given_up_and_its_connection_closed(
    link: FaultyLink, other: DatabaseWrapper
) -> None:
    execute(other, "SELECT 1")
    link.hang()
    limit = DEADLINE_SECONDS + GRACE_SECONDS + SCHEDULING_SECONDS
    assert seconds_until_given_up(lambda: execute(other, "SELECT 1")) < limit
    assert other.connection.closed


def test_a_commit_that_is_not_answered_is_given_up(link: FaultyLink, other: DatabaseWrapper) -> None:
    execute(other, "SELECT 1")
    other.set_autocommit(False)
    execute(other, "SELECT 1")
    link.hang()
    assert seconds_until_given_up(other.commit) < DEADLINE_SECONDS + GRACE_SECONDS + SCHEDULING_SECONDS


def test_after_one_wait_without_an_answer_others_are_refused_at_once(link: FaultyLink, other: DatabaseWrapper) -> None:
    link.hang()
    with pytest.raises(db.OperationalError):
        other.ensure_connection()
    started = monotonic()
    with pytest.raises(db.OperationalError, match="did not answer in time"):
        other.ensure_connection()
    assert monotonic() - started < CONNECT_SECONDS / 2


def test_a_query_that_is_only_slow_is_ended_by_the_server_and_refuses_no_one_else(other: DatabaseWrapper) -> None:
    with pytest.raises(db.OperationalError, match="statement timeout"):
        execute(other, "SELECT pg_sleep(10)")
    execute(other, "SELECT 1")


def test_the_server_ends_a_transaction_whose_process_has_stopped(other: DatabaseWrapper) -> None:
    with other.cursor() as cursor:
        cursor.execute("SHOW idle_in_transaction_session_timeout")
        assert cursor.fetchone() == ("5s",)


def test_a_session_that_the_server_ended_is_answered_as_an_outage(other: DatabaseWrapper) -> None:
    execute(other, "SET idle_in_transaction_session_timeout = '1ms'")
    other.set_autocommit(False)
    with pytest.raises(db.Error) as ended:
        wait_until(lambda: ended_while_idle(other), within_seconds=5, what="the end of the session")
    assert isinstance(domain_error(ended.value), errors.ServiceUnavailable)


def test_a_server_that_became_a_standby_is_an_outage_and_its_connection_closed(other: DatabaseWrapper) -> None:
    execute(other, "SET default_transaction_read_only = on")
    with pytest.raises(db.InternalError) as refused:
        execute(other, "CREATE TABLE copied (id int)")
    assert isinstance(domain_error(refused.value), errors.ServiceUnavailable)
    assert other.connection.closed


def test_after_a_refused_connection_the_next_attempt_is_made(link: FaultyLink, other: DatabaseWrapper) -> None:
    link.refuse()
    with pytest.raises(db.OperationalError):
        other.ensure_connection()
    link.work()
    execute(other, "SELECT 1")


def test_a_kept_connection_that_was_just_used_is_used_again_without_asking(
    link: FaultyLink, other: DatabaseWrapper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines, "TRUSTED_SECONDS", 60.0)
    execute(other, "SELECT 1")
    link.hang()
    assert other.is_usable()


def test_a_kept_connection_that_rested_is_tried(
    link: FaultyLink, other: DatabaseWrapper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines, "TRUSTED_SECONDS", 0.0)
    execute(other, "SELECT 1")
    assert other.is_usable()
    link.hang()
    assert not other.is_usable()


def test_a_connection_that_the_server_ended_is_replaced_however_lately_it_was_used(
    other: DatabaseWrapper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines, "TRUSTED_SECONDS", 60.0)
    execute(other, "SELECT 1")
    execute(connection, f"SELECT pg_terminate_backend({other.connection.info.backend_pid})")
    wait_until(lambda: not other.is_usable(), within_seconds=5, what="the end of the session")
