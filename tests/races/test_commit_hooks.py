"""What is sent or logged about a change happens once it is committed, and not if it is rolled back."""

from collections.abc import Callable
from threading import Thread
from typing import Any, TypeVar

import pytest
from django.db import connection, transaction
from django.utils import timezone
from kombu import Producer
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from partners.webhooks import outbox
from sweeps.models import Sweep, SweepTransaction
from sweeps.rails.evm.follow.followed import ONE_WORD_AFTER
from tests.factories.sweeps import LOCAL
from tests.races import scenes
from tests.races.interleaving import Operation
from tests.races.scenes import Scene

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("unreachable_chain")]

ResultT = TypeVar("ResultT")

# An operation on a scene, and what the message or line about it promises.
ANNOUNCED: list[tuple[Callable[[], Scene], Operation[Scene], Callable[[Sweep], bool]]] = [
    (scenes.reported, scenes.made_due, scenes.is_due),
    (scenes.closed, scenes.reopened, lambda sweep: sweep.is_open),
]


def by_another_session(operation: Callable[[], ResultT]) -> ResultT:
    results: list[ResultT] = []

    def operate() -> None:
        results.append(operation())
        connection.close()

    thread = Thread(target=operate)
    thread.start()
    thread.join()
    return results[0]


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
    when_sent.append(lambda: seen.append(is_promised(by_another_session(lambda: Sweep.objects.get(id=scene.sweep.id)))))
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


@pytest.mark.parametrize(("stage", "operation"), [(scenes.reported, scenes.executed), (scenes.built, scenes.voided)])
def test_no_session_dispatches_a_message_before_its_change_is_committed(
    stage: Callable[[], Scene], operation: Operation[Scene]
) -> None:
    scene = stage()
    with transaction.atomic():
        operation(scene)
        assert by_another_session(outbox.dispatch) == 0
    assert outbox.dispatch() == 1


def on_one_word() -> float:
    return REGISTRY.get_sample_value("sweepapi_acceptances_on_one_word_total", {"network": LOCAL}) or 0


def test_an_acceptance_on_one_word_is_counted_when_it_is_committed() -> None:
    scene, before = scenes.reported(), on_one_word()
    SweepTransaction.objects.update(awaits="agreement", shown_since=timezone.now() - ONE_WORD_AFTER)
    with transaction.atomic():
        scenes.executed_on_one_word(scene)
        transaction.set_rollback(True)
    assert on_one_word() == before
    scenes.executed_on_one_word(scene)
    assert on_one_word() == before + 1


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
