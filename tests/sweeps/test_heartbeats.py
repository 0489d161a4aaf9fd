"""Worker and beat show that they are at work, by the database's clock, and are away when they no longer do."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.db.models import F
from pytest_django import DjangoAssertNumQueries, Settings
from structlog.testing import capture_logs

from sweeps import heartbeats
from sweeps.heartbeats import BEAT, UNSEEN, WORKER, Heart
from sweeps.models import Heartbeat

pytestmark = pytest.mark.django_db


def grow_older(name: str, seconds: float) -> None:
    Heartbeat.objects.filter(name=name).update(at=F("at") - timedelta(seconds=seconds))


def test_a_process_that_beats_is_at_work() -> None:
    Heart(WORKER).beat()
    worker = heartbeats.worker_presence()
    assert (worker.is_at_work, worker.away_since) == (True, None)
    assert worker.last_seen_at is not None


def test_a_process_whose_heart_stopped_is_away_since_its_last_beat(settings: Settings) -> None:
    settings.DUE_SWEEP_SECONDS = 5.0
    Heart(WORKER).beat()
    grow_older(WORKER, 14)
    assert heartbeats.worker_presence().is_at_work
    grow_older(WORKER, 2)
    away = heartbeats.worker_presence()
    assert (away.is_at_work, away.away_since) == (False, Heartbeat.objects.get(name=WORKER).at)


def test_a_process_that_was_never_seen_is_away() -> None:
    Heart(BEAT).beat()
    assert heartbeats.worker_presence() == UNSEEN


def test_each_beat_replaces_the_one_before() -> None:
    Heart(WORKER).beat()
    grow_older(WORKER, 3600)
    Heart(WORKER).beat()
    assert heartbeats.worker_presence().is_at_work
    assert Heartbeat.objects.count() == 1


def test_a_heart_that_beat_just_now_leaves_the_database_alone(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    heart = Heart(WORKER)
    heart.beat()
    with django_assert_num_queries(0):
        heart.beat()


@pytest.fixture
def lose_database() -> Callable[..., object]:
    """Let every statement within the block fail as if the server were gone."""

    def fail(*_arguments: object) -> None:
        raise OperationalError("server closed the connection: a secret")

    return lambda: connection.execute_wrapper(fail)


def test_a_beat_without_the_database_is_logged_without_what_the_driver_said(
    lose_database: Callable[..., object],
) -> None:
    heart = Heart(BEAT)
    with lose_database(), capture_logs() as lines:  # type: ignore[attr-defined]
        heart.beat()
        heart.beat()
    assert lines == [{"event": "heartbeat_lost", "log_level": "warning", "name": BEAT, "error": "OperationalError"}]


def test_without_the_database_the_worker_is_away(lose_database: Callable[..., object]) -> None:
    Heart(WORKER).beat()
    with lose_database():  # type: ignore[attr-defined]
        assert heartbeats.worker_presence() == UNSEEN
