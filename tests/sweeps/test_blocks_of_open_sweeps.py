"""A migration lets the completed sweeps of the release before rest on their blocks, and back."""

from importlib import import_module

import pytest
from django.db import connection
from django.utils import timezone

from sweeps.models import Sweep, WatchedBlock
from tests.factories.sweeps import SweepFactory, SweepTransactionFactory
from tests.sweeps.settle.looks import complete

pytestmark = pytest.mark.django_db

migration = import_module("sweeps.migrations.0017_blocks_of_open_sweeps")


def run(*statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def test_open_completed_sweeps_rest_on_their_blocks_after_the_migration() -> None:
    completed = [complete(SweepTransactionFactory.create()) for _ in range(2)]
    flagged = complete(SweepTransactionFactory.create(sweep__flags=["below_minimum"]))
    pending = SweepFactory.create()
    resting = Sweep.objects.filter(watched_block__isnull=False, next_check_at__isnull=True)
    before = WatchedBlock.objects.values_list("network", "number", "hash", "head_number").get()

    run(migration.WAKE)
    assert not resting.exists()
    WatchedBlock.objects.all().delete()
    run(migration.FIND, migration.WATCH, migration.REST)
    assert set(resting) == set(completed)
    assert WatchedBlock.objects.values_list("network", "number", "hash", "head_number").get() == before
    assert WatchedBlock.objects.get().due_at <= timezone.now()
    assert {sweep.next_check_at is None for sweep in Sweep.objects.filter(id__in=[flagged.id, pending.id])} == {False}
