"""A pass checks everything that is due, batch by batch; beat asks for one, and the loop makes one every few seconds."""

from datetime import timedelta

import pytest
from celery import current_app
from django.utils import timezone

from indexer import claims, tasks
from sweeps.models import Sweep
from sweeps.wake import CHECK_TASK
from tests.factories.ledger import random_hash
from tests.factories.sweeps import SweepFactory, SweepTransactionFactory
from tests.partner_app import PartnerApp

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)


def submitted(app: PartnerApp, *, mined: bool) -> Sweep:
    """Store a due sweep of a transaction that was reported."""
    built = app.build()
    sweep = Sweep.objects.get(id=built["sweepId"])
    SweepTransactionFactory.create(sweep=sweep, tx_hash=app.execute(built) if mined else random_hash())
    Sweep.objects.filter(id=sweep.id).update(next_check_at=timezone.now() - MINUTE)
    return sweep


def test_a_pass_checks_what_is_due_however_many_batches_that_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "BATCH_ROWS", 2)
    SweepFactory.create_batch(3, next_check_at=timezone.now() - MINUTE)
    later = SweepFactory.create(next_check_at=timezone.now() + MINUTE)
    tasks.check_due()
    assert set(Sweep.objects.filter(check_attempts=0)) == {later}


def test_a_pass_settles_what_was_mined_and_leaves_the_rest_to_a_later_one(app: PartnerApp) -> None:
    mined, unmined = submitted(app, mined=True), submitted(app, mined=False)
    tasks.check_due()
    assert Sweep.objects.get(id=mined.id).status == "completed"
    later = Sweep.objects.get(id=unmined.id)
    assert (later.status, later.check_attempts, later.lease_token) == ("pending", 1, None)
    assert later.next_check_at is not None
    assert later.next_check_at > timezone.now()


def test_beat_asks_for_a_pass_by_the_name_of_its_task() -> None:
    assert {entry["task"] for entry in current_app.conf.beat_schedule.values()} == {tasks.DUE_TASK}
    assert {tasks.DUE_TASK, CHECK_TASK} <= set(current_app.tasks)
