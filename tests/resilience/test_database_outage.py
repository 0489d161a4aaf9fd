"""PostgreSQL may go away: no request waits for it, and the first one after its return succeeds."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from socket import socket
from time import monotonic

import psycopg
import pytest
import requests
from django.db import connection

from dev.ports import free_port
from dev.process import Program
from dev.waiting import wait_until
from tests.resilience.conftest import Database
from tests.resilience.engines import BIN, STEP_SECONDS, Engines, connect, sessions

OK = 200
THREADS = 4
LONGEST_ANSWER_SECONDS = 1.5  # shorter than any timeout: nothing waits for a server that refuses
LONGEST_RETURN_SECONDS = 2
LONGEST_CONNECT_SECONDS = 3


@dataclass(frozen=True)
class Answer:
    status: int
    seconds: float


Ask = Callable[[], Answer]


@pytest.fixture(scope="module")
def ask(engines: Engines, database: Database) -> Ask:
    """Ask a web process of its own for something that needs the database."""
    port = free_port()
    url, headers = f"http://127.0.0.1:{port}/v2/partner", {"x-api-key": database.api_key}

    def ask() -> Answer:
        started = monotonic()
        answer = requests.get(url, headers=headers, timeout=STEP_SECONDS)
        return Answer(answer.status_code, monotonic() - started)

    def answers() -> bool:
        try:
            return ask().status == OK
        except requests.ConnectionError:
            return False

    web = Program(
        name="web",
        argv=[str(BIN / "gunicorn"), "--config", "python:config.gunicorn", "config.wsgi"],
        env={
            "DATABASE_URL": database.url,
            "BIND": f"127.0.0.1:{port}",
            "WEB_PROCESSES": "1",
            "WEB_THREADS": str(THREADS),
        },
        log=engines.folder / "web.log",
    )
    engines.start(web, ready=answers)
    return ask


@contextmanager
def requests_in_the_middle_of_a_query(ask: Ask, database: Database) -> Iterator[list[Future[Answer]]]:
    """Send as many requests as there are threads, each of which waits inside PostgreSQL until the context ends."""
    with ThreadPoolExecutor(THREADS) as clients, connect(database.url) as blocker:
        blocker.execute("LOCK TABLE partners_apikey IN ACCESS EXCLUSIVE MODE")
        asked = [clients.submit(ask) for _ in range(THREADS)]
        wait_until(
            lambda: queries_that_wait(database) == THREADS,
            within_seconds=STEP_SECONDS,
            what="a query of every thread",
        )
        yield asked


def queries_that_wait(database: Database) -> int:
    with connect(database.url) as monitor:
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        [count] = monitor.execute(waiting).fetchone() or [0]
    return int(count)


def test_the_first_requests_after_a_restart_succeed_however_many_connections_idle(
    ask: Ask, engines: Engines, database: Database
) -> None:
    with requests_in_the_middle_of_a_query(ask, database):
        pass
    assert len(sessions(database.url)) == THREADS
    engines.stop_named("postgres")
    engines.start_again("postgres")
    with ThreadPoolExecutor(THREADS) as clients:
        answers = list(clients.map(lambda _number: ask(), range(THREADS)))
    assert [answer.status for answer in answers] == [OK] * THREADS
    assert max(answer.seconds for answer in answers) < LONGEST_RETURN_SECONDS


def test_requests_whose_connections_break_are_answered_at_once(ask: Ask, database: Database) -> None:
    with requests_in_the_middle_of_a_query(ask, database) as asked, connect(database.url) as monitor:
        for pid in sessions(database.url):
            monitor.execute("SELECT pg_terminate_backend(%s)", [pid])
        answers = [request.result() for request in asked]
    assert {answer.status for answer in answers} == {503}
    assert max(answer.seconds for answer in answers) < LONGEST_ANSWER_SECONDS


def test_requests_during_an_outage_are_answered_at_once_and_the_next_after_it_succeeds(
    ask: Ask, engines: Engines
) -> None:
    assert ask().status == OK
    engines.stop_named("postgres")
    with ThreadPoolExecutor(THREADS) as clients:
        answers = list(clients.map(lambda _number: ask(), range(THREADS)))
    engines.start_again("postgres")
    assert {answer.status for answer in answers} == {503}
    assert max(answer.seconds for answer in answers) < LONGEST_ANSWER_SECONDS
    next_one = ask()
    assert next_one.status == OK
    assert next_one.seconds < LONGEST_RETURN_SECONDS


def test_a_server_that_accepts_and_never_answers_is_given_up_in_time() -> None:
    with socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        elsewhere = connection.copy()
        elsewhere.settings_dict |= {"HOST": "127.0.0.1", "PORT": silent.getsockname()[1]}
        started = monotonic()
        with pytest.raises(psycopg.OperationalError):
            elsewhere.connect()
    assert monotonic() - started < LONGEST_CONNECT_SECONDS
