"""What beat sends, and that a worker gets to it."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from celery import current_app
from celery.beat import ScheduleEntry
from celery.schedules import schedule
from django.conf import settings
from django.db import connection

from config import beat
from config.beat import MOST_WAITING, Scheduler
from sweepapi.broker_state import BrokerState
from sweeps.heartbeats import BEAT, Heart
from sweeps.models import Heartbeat
from sweeps.nudge import publish

pytestmark = pytest.mark.usefixtures("periodic")

ENTRY = ScheduleEntry(task="indexer.check_clocks", schedule=schedule(2.0), options={"queue": settings.PERIODIC_QUEUE})


@pytest.fixture
def periodic(queue: Any) -> Iterator[Any]:
    """The queue of what beat sends, empty; so is the other one."""
    periodic = current_app.amqp.queues[settings.PERIODIC_QUEUE](queue.channel)
    periodic.purge()
    yield periodic
    periodic.purge()


@pytest.fixture
def scheduler(tmp_path: Path) -> Scheduler:
    return Scheduler(current_app, schedule_filename=str(tmp_path / "beat"), lazy=True)


def test_nothing_that_beat_sends_expires_by_the_clock_of_a_worker() -> None:
    options = [entry["options"] for entry in current_app.conf.beat_schedule.values()]
    assert options == [{"queue": settings.PERIODIC_QUEUE}] * len(options)


def test_beat_sends_no_more_while_no_worker_takes_its_messages(scheduler: Scheduler) -> None:
    for _ in range(MOST_WAITING + 2):
        scheduler.apply_entry(ENTRY)
    assert BrokerState().waiting(settings.PERIODIC_QUEUE) == MOST_WAITING


@pytest.mark.django_db
def test_beat_goes_on_when_its_clock_is_set_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    true_time = current_app.now
    with monkeypatch.context() as clock:
        clock.setattr(current_app, "now", lambda: true_time() + timedelta(minutes=4))
        scheduler = Scheduler(current_app, schedule_filename=str(tmp_path / "beat"))
        scheduler.tick()
    assert scheduler.tick() <= settings.DUE_SWEEP_SECONDS
    scheduler.close()


def leave_closed() -> None:
    connection.connection.close()


def leave_in_a_transaction() -> None:
    connection.set_autocommit(False)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("leave", [leave_closed, leave_in_a_transaction])
def test_beat_writes_its_heartbeat_after_a_connection_was_left_closed_or_in_a_transaction(
    leave: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def beat_twice() -> None:
        for interrupt in (leave, connection.close):
            monkeypatch.setattr(beat, "_heart", Heart(BEAT))  # one that does not rest
            beat.write_heartbeat()
            seen_at.append(Heartbeat.objects.get().at)
            interrupt()

    seen_at: list[datetime] = []
    thread = Thread(target=beat_twice)  # with a connection of its own
    thread.start()
    thread.join()
    assert Heartbeat.objects.get().at == seen_at[1] > seen_at[0]


def test_a_worker_takes_what_beat_sent_before_the_checks_that_were_sent_earlier(
    scheduler: Scheduler, queue: Any, periodic: Any
) -> None:
    for _ in range(5):
        publish("indexer.check_batch")
    scheduler.apply_entry(ENTRY)
    taken: list[str] = []
    with current_app.connection_for_read() as connection:
        consumer = connection.Consumer([queue, periodic], callbacks=[lambda _, message: taken.append(_name(message))])
        consumer.qos(prefetch_count=2)
        with consumer:
            while len(taken) < 2:
                connection.drain_events(timeout=5)
    assert sorted(taken) == ["indexer.check_batch", ENTRY.task]


def _name(message: Any) -> str:
    message.ack()
    return str(message.headers["task"])
