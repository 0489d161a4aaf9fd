"""The loop repeats its jobs whatever fails, and ends its process only if a job stands still while engines answer."""

import time
from collections.abc import Callable
from threading import Event

import pytest
from django.conf import settings
from django.db import OperationalError, connection

from dev.processes.waiting import wait_until
from indexer import runner
from indexer.runner import DATABASE_DEADLINE_SECONDS, STALLED, Job, Runner
from sweepapi import networks
from sweepapi.evm.encoding import responses
from sweepapi.rpc import Call
from sweeps.heartbeats import WORKER
from sweeps.models import Heartbeat
from tests.running_loop import running

pytestmark = pytest.mark.django_db(transaction=True)


class Counted:
    """A round that counts its calls, and fails in the first ones."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.calls = 0

    def __call__(self) -> None:
        self.calls += 1
        if self.failures:
            raise self.failures.pop(0)


def wait_for(condition: Callable[[], bool]) -> None:
    wait_until(condition, within_seconds=10, what="the loop")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "PAUSE_AFTER_FAILURE_SECONDS", 0.01)
    monkeypatch.setattr(runner, "PROGRESS_CHECK_SECONDS", 0.01)


@pytest.mark.parametrize("error", [ValueError("a bug"), OperationalError("the database is gone")], ids=repr)
def test_a_job_that_fails_is_repeated_and_keeps_no_other_from_its_turn(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    failing, other = Counted(error), Counted()
    with running(Job("failing", 0.01, failing), Job("other", 0.01, other)):
        wait_for(lambda: failing.calls > 1 and other.calls > 1)
    assert "job_failed" in caplog.text


def test_the_process_shows_that_a_job_is_at_work() -> None:
    with running(Job("sweeps", 0.01, Counted(), heart=WORKER)):
        wait_for(Heartbeat.objects.filter(name=WORKER).exists)


def test_a_job_that_stands_still_while_the_database_answers_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "STALLED_SECONDS", -DATABASE_DEADLINE_SECONDS - 100)
    released, ended = Event(), list[int]()
    with running(Job("hanging", 0.01, released.wait), exit_with=ended.append) as loop:
        wait_for(lambda: STALLED in ended)
        ended.clear()
        loop.stopping.set()
        wait_for(lambda: STALLED in ended)  # a stop does not wait for it either
        released.set()


def query_the_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def query_a_provider() -> None:
    (chain, *_) = networks.current().enabled
    networks.current().pool(chain.network).batch([Call("eth_blockNumber", (), responses.counter)])


@pytest.mark.parametrize("query", [query_the_database, query_a_provider])
def test_a_long_round_whose_waits_end_is_not_taken_for_one_that_stands_still(
    query: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "STALLED_SECONDS", 1.0 - max(settings.RPC_TIMEOUT_SECONDS, DATABASE_DEADLINE_SECONDS))
    released, steps, ended = Event(), list[int](), list[int]()

    def long_round() -> None:
        while not released.wait(0.05):
            query()
            steps.append(1)

    with running(Job("long", 0.01, long_round), exit_with=ended.append):
        wait_for(lambda: len(steps) > 40)  # twice the time after which a job without progress ends the process here
        released.set()
    assert ended == []


def test_a_job_that_stands_still_while_the_database_is_gone_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "STALLED_SECONDS", -DATABASE_DEADLINE_SECONDS - 100)
    loop, ended = Runner([], Event()), list[int]()
    loop.exit = ended.append
    loop._progress["hanging"] = 0.0  # noqa: SLF001 - as its thread would
    monkeypatch.setattr(runner, "_database_answers", lambda: False)
    loop.check_progress()
    assert ended == []


def test_a_process_that_was_frozen_has_time_to_go_on() -> None:
    loop, ended = Runner([], Event()), list[int]()
    loop.exit = ended.append
    loop._checked_at = loop._progress["sweeps"] = time.monotonic() - 120  # noqa: SLF001 - as after a freeze
    loop.check_progress()
    loop.check_progress()
    assert ended == []


def test_a_stop_lets_a_round_end_and_has_what_is_under_way_recorded() -> None:
    begun, released, recorded = Event(), Event(), list[str]()

    def long_round() -> None:
        begun.set()
        released.wait(10)
        recorded.append("round")

    with running(Job("webhooks", 0.0, long_round, end=lambda: recorded.append("end"))) as loop:
        assert begun.wait(10)
        loop.stopping.set()
        released.set()
    assert recorded == ["round", "end"]
