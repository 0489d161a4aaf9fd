"""What is sent or logged about a change happens once it is committed, and not if it is rolled back."""

from collections.abc import Callable
from threading import Thread
from typing import Any

import pytest
from django.db import connection, transaction
from kombu import Producer
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from sweeps.models import Sweep
from tests.races import scenes
from tests.races.interleaving import Operation
from tests.races.scenes import Scene

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("unreachable_chain")]

# An operation on a scene, and what the message or line about it promises.
ANNOUNCED: list[tuple[Callable[[], Scene], Operation[Scene], Callable[[Sweep], bool]]] = [
    (scenes.reported, scenes.made_due, scenes.is_due),
    (scenes.closed, scenes.reopened, lambda sweep: sweep.is_open),
]


def read_by_another_session(sweep: Sweep) -> Sweep:
    found: list[Sweep] = []

    def read() -> None:
        found.append(Sweep.objects.get(id=sweep.id))
        connection.close()

    thread = Thread(target=read)
    thread.start()
    thread.join()
    return found[0]


@pytest.fixture
def when_sent(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """What is called whenever a message is sent."""
    calls: list[Callable[[], None]] = []
    publish = Producer.publish

    def publish_later(*args: Any, **kwargs: Any) -> Any:
        for call in calls:
            call()
        return publish(*args, **kwargs)

    monkeypatch.setattr(Producer, "publish", publish_later)
    return calls


@pytest.mark.parametrize(("stage", "operation", "is_promised"), ANNOUNCED)
def test_when_a_message_is_sent_every_session_sees_the_change(
    stage: Callable[[], Scene],
    operation: Operation[Scene],
    is_promised: Callable[[Sweep], bool],
    when_sent: list[Callable[[], None]],
    queue: Any,
) -> None:
    scene, seen = stage(), []
    when_sent.append(lambda: seen.append(is_promised(read_by_another_session(scene.sweep))))
    operation(scene)
    assert seen == [True]
    assert queue.get(no_ack=True) is not None


@pytest.mark.parametrize(("stage", "operation", "is_promised"), ANNOUNCED)
def test_nothing_is_sent_about_a_change_that_is_rolled_back(
    stage: Callable[[], Scene], operation: Operation[Scene], is_promised: Callable[[Sweep], bool], queue: Any
) -> None:
    scene = stage()
    with transaction.atomic():
        operation(scene)
        assert is_promised(Sweep.objects.get(id=scene.sweep.id))
        transaction.set_rollback(True)
    assert queue.get(no_ack=True) is None


@pytest.mark.parametrize(("stage", "operation"), [(scenes.reported, scenes.executed), (scenes.built, scenes.voided)])
def test_a_change_of_status_is_logged_when_it_is_committed(
    stage: Callable[[], Scene], operation: Operation[Scene]
) -> None:
    scene = stage()
    with capture_logs() as lines, transaction.atomic():
        operation(scene)
        assert lines == []
        transaction.set_rollback(True)
    assert lines == []
    with capture_logs() as lines:
        operation(scene)
    assert [line["event"] for line in lines] == ["sweep_status_changed"]


def acceptances() -> float:
    return REGISTRY.get_sample_value("sweepapi_acceptance_seconds_count") or 0


def test_an_acceptance_is_measured_when_it_is_committed() -> None:
    scene, before = scenes.reported(), acceptances()
    with transaction.atomic():
        scenes.executed(scene)
        transaction.set_rollback(True)
    assert acceptances() == before
    scenes.executed(scene)
    assert acceptances() == before + 1
