"""Messages alone finish a sweep, and so do beat alone and the loop alone: none needs what the broker had."""

import os
from collections.abc import Callable, Iterator
from signal import SIGKILL
from typing import Any
from urllib.parse import urlsplit

import pytest
from celery import current_app
from django.db import connection
from pytest_django import Settings
from redis import Redis

from dev.processes.process import Program
from sweeps.models import Sweep
from sweeps.wake import CHECK_TASK
from tests.partner_app import PartnerApp
from tests.resilience.engines import BIN, Engines

pytestmark = pytest.mark.django_db(transaction=True)

Runs = Callable[[str], int]  # of a task

PACE = {
    "FIRST_CHECK_SECONDS": "1",
    "MAX_CHECK_DELAY_SECONDS": "2",
    "DUE_SWEEP_SECONDS": "0.5",
    "FOLLOW_SECONDS": "0",  # which finds executions without any due row
}


@pytest.fixture
def environment(redis_url: str, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The variables of worker and beat, which share database and broker with the API of this test."""
    database = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}")
    monkeypatch.setattr(current_app.conf, "broker_write_url", redis_url)
    settings.FIRST_CHECK_SECONDS = int(PACE["FIRST_CHECK_SECONDS"])
    return {"REDIS_URL": redis_url, "DATABASE_URL": database.geturl(), **PACE}


@pytest.fixture
def start_worker(engines: Engines, environment: dict[str, str]) -> Iterator[Callable[[], Runs]]:
    """Start a worker, which stops when the test ends; returns what counts the tasks that it ran."""

    def start() -> Runs:
        log = engines.folder / "worker.log"
        before = len(log.read_text()) if log.exists() else 0
        engines.start_worker(environment)
        return lambda task: log.read_text()[before:].count(f"Task {task}[") // 2  # received, and succeeded

    yield start
    engines.stop_named("worker")


@pytest.fixture
def start_beat(engines: Engines, environment: dict[str, str]) -> Iterator[Callable[[str], None]]:
    """Start a beat of this name, which stops when the test ends."""
    names = []

    def start(name: str) -> None:
        log = engines.folder / f"{name}.log"
        celery = [str(BIN / "celery"), "--app", "config.celery", "beat", "--loglevel", "INFO"]
        argv = [*celery, "--schedule", str(engines.folder / f"{name}-schedule"), "--pidfile", ""]
        beat = Program(name=name, argv=argv, env=environment, stop_signal=SIGKILL, log=log)
        engines.start(beat, ready=lambda: "Sending due task" in log.read_text())
        names.append(name)

    yield start
    for name in names:
        engines.stop_named(name)


@pytest.fixture
def reported(app: PartnerApp, environment: dict[str, str]) -> Iterator[dict[str, Any]]:  # noqa: ARG001 messages go there
    """A sweep whose transaction was reported and is not mined before the test asks for it."""
    built = app.build()
    app.approve(built)
    with app.chain.mining_paused():
        app.confirm(built, app.chain.sign_and_send(app.user, built), status=202)
        yield built


def is_completed(built: dict[str, Any]) -> bool:
    return Sweep.objects.get(id=built["sweepId"]).status == "completed"


def test_without_beat_the_messages_finish_a_sweep(
    engines: Engines, start_worker: Callable[[], Runs], app: PartnerApp, reported: dict[str, Any]
) -> None:
    runs = start_worker()
    engines.wait_for(lambda: Sweep.objects.get().check_attempts > 2, "checks before it is mined")
    app.chain.mine()
    engines.wait_for(lambda: is_completed(reported), "the check that finds it")
    assert runs(CHECK_TASK) > 1


def test_without_the_broker_the_loop_finishes_a_sweep(
    engines: Engines, environment: dict[str, str], app: PartnerApp, reported: dict[str, Any]
) -> None:
    engines.start_loop(environment | {"REDIS_URL": "redis://127.0.0.1:1"})
    engines.wait_for(lambda: Sweep.objects.get().check_attempts > 2, "checks before it is mined")
    app.chain.mine()
    engines.wait_for(lambda: is_completed(reported), "the check that finds it")
    engines.stop_named("work")


def test_after_the_broker_lost_everything_beats_finish_a_sweep_however_many_there_are(
    engines: Engines,
    start_worker: Callable[[], Runs],
    start_beat: Callable[[str], None],
    app: PartnerApp,
    reported: dict[str, Any],
) -> None:
    Redis.from_url(current_app.conf.broker_write_url).flushall()
    runs = start_worker()
    start_beat("beat-1")
    start_beat("beat-2")
    app.chain.mine()
    engines.wait_for(lambda: is_completed(reported), "the check that finds it")
    assert runs(CHECK_TASK) == 0
    changes = Sweep.objects.get().events.filter(kind="status").order_by("sequence")
    assert [change.to_status for change in changes] == ["pending", "completed"]
