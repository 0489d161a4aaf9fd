"""Batches: one message checks many sweeps, and those that wait for a receipt are checked again by a few messages."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from celery import current_app
from django.utils import timezone

from indexer import claims, tasks, waiting
from sweeps.models import Sweep
from tests.factories.ledger import random_hash
from tests.factories.sweeps import SweepFactory, SweepTransactionFactory
from tests.partner_app import PartnerApp

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, tuple[str, ...], float]]:
    """Task, arguments and countdown of the messages that tasks sent."""
    messages: list[tuple[str, tuple[str, ...], float]] = []

    def publish(task: str, *arguments: str, countdown_seconds: float = 0.0) -> bool:
        messages.append((task, arguments, countdown_seconds))
        return len(messages) < 3

    monkeypatch.setattr(tasks, "publish", publish)
    return messages


def submitted(app: PartnerApp, *, mined: bool) -> Sweep:
    """Store a due sweep of a transaction that was reported."""
    built = app.build()
    sweep = Sweep.objects.get(id=built["sweepId"])
    SweepTransactionFactory.create(sweep=sweep, tx_hash=app.execute(built) if mined else random_hash())
    Sweep.objects.filter(id=sweep.id).update(next_check_at=timezone.now() - MINUTE)
    return sweep


def waiting_for(seconds: float, **facts: Any) -> UUID:
    """Store a sweep that waits for a receipt and is due in this many seconds."""
    at = timezone.now() + timedelta(seconds=seconds)
    return SweepTransactionFactory.create(sweep__next_check_at=at, **facts).sweep.id


def test_a_pass_sends_a_message_for_each_batch(
    sent: list[tuple[str, tuple[str, ...], float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "BATCH_ROWS", 2)
    SweepFactory.create_batch(3, next_check_at=timezone.now() - MINUTE)
    SweepFactory.create(next_check_at=timezone.now() + MINUTE)
    tasks.check_due()
    assert sent == [("indexer.check_batch", (), 0.0)] * 2


def test_a_pass_ends_when_the_broker_takes_no_messages(
    sent: list[tuple[str, tuple[str, ...], float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "BATCH_ROWS", 1)
    SweepFactory.create_batch(5, next_check_at=timezone.now() - MINUTE)
    tasks.check_due()
    assert len(sent) == 3


def test_a_batch_settles_what_was_mined_and_has_the_rest_checked_again(
    app: PartnerApp, sent: list[tuple[str, tuple[str, ...], float]]
) -> None:
    mined, unmined = submitted(app, mined=True), submitted(app, mined=False)
    tasks.check_batch()
    assert Sweep.objects.get(id=mined.id).status == "completed"
    [(task, arguments, countdown_seconds)] = sent
    assert (task, arguments) == ("indexer.check_batch", (str(unmined.id),))
    assert 1 < countdown_seconds <= 2

    Sweep.objects.filter(id=unmined.id).update(next_check_at=timezone.now())
    tasks.check_batch(*arguments)
    assert Sweep.objects.get(id=unmined.id).check_attempts == 2
    assert [message[1] for message in sent] == [arguments] * 2


def test_a_sweep_that_another_task_checked_meanwhile_is_left_to_it(
    app: PartnerApp, sent: list[tuple[str, tuple[str, ...], float]]
) -> None:
    sweep = submitted(app, mined=False)
    tasks.check_batch()
    tasks.check_batch(str(sweep.id))
    assert Sweep.objects.get().check_attempts == 1
    assert len(sent) == 1


def test_sweeps_are_checked_again_together_if_their_delays_are_alike() -> None:
    delays = (2.5, 3.5, 5, 7, 100)
    ids = [waiting_for(seconds) for seconds in delays]
    found = sorted(waiting.appointments(ids), key=lambda one: one.delay)
    assert [set(one.sweep_ids) for one in found] == [set(ids[:2]), set(ids[2:4]), set(ids[4:])]
    for appointment, seconds in zip(found, (3.5, 7, 100), strict=True):
        assert seconds - 1 < appointment.delay.total_seconds() <= seconds


@pytest.mark.parametrize(
    "facts",
    [
        {"status": "reverted", "block_number": 1, "block_hash": random_hash()},
        {"sweep__lease_token": UUID(int=1), "sweep__lease_until": timezone.now() + MINUTE},
    ],
    ids=["its transaction is known", "another check holds it"],
)
def test_a_sweep_that_waits_for_nothing_gets_no_message(facts: dict[str, Any]) -> None:
    assert waiting.appointments([waiting_for(5, **facts)]) == []


def test_the_tasks_have_the_names_that_beat_uses() -> None:
    scheduled = {entry["task"] for entry in current_app.conf.beat_schedule.values()}
    assert {"indexer.check_due", "indexer.check_clocks"} <= scheduled <= set(current_app.tasks)
