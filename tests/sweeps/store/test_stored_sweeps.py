"""A sweep is read whole by one statement, and what changed of it is written, whatever the column; all else raises."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.postgres.fields import ArrayField
from django.db import connection, models, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.connection import ConnectionDoesNotExist

from sweepapi.fields import TransactionHashField
from sweeps.models import Execution, Sweep, SweepTransaction
from sweeps.store.reading import lock_one, read
from sweeps.store.stored import FixedColumnError, StoredSweep
from sweeps.store.writing import write
from tests.factories.ledger import random_hash
from tests.factories.solana_sweeps import SolanaExecutionFactory, SolanaSweepFactory
from tests.factories.sweeps import SweepTransactionFactory

pytestmark = pytest.mark.django_db

SET_BY_DATABASE = "version"
FIXED = [(model, name) for model in (Sweep, Execution, SweepTransaction) for name in sorted(model.FIXED)]
CHANGEABLE = [
    (model, field.attname)
    for model in (Sweep, Execution, SweepTransaction)
    for field in model._meta.concrete_fields  # noqa: SLF001 - Django documents it
    if not field.generated and field.attname not in {*model.FIXED, SET_BY_DATABASE}
]


def rows_of(stored: StoredSweep) -> dict[type[models.Model], models.Model]:
    return {Sweep: stored.sweep, Execution: stored.executions[0], SweepTransaction: stored.candidates[0]}


def another(instance: models.Model, name: str) -> Any:
    """Return another value for a column, with nothing that it refers to."""
    field, value = type(instance)._meta.get_field(name), getattr(instance, name)  # noqa: SLF001 - Django documents it
    if isinstance(field, models.ForeignKey):
        field = field.target_field
    if isinstance(field, ArrayField):
        return ["below_minimum"]
    if isinstance(field, models.DateTimeField):
        return (value or timezone.now()) + timedelta(minutes=1)
    if isinstance(field, models.UUIDField):
        return uuid4()
    if isinstance(field, TransactionHashField):
        return random_hash()
    if isinstance(field, models.CharField | models.TextField):
        return f"{value or ''}x"
    return not value if isinstance(field, models.BooleanField) else (value or 0) + 1


@pytest.fixture
def stored() -> StoredSweep:
    """A sweep with a candidate, in tables that take any value."""
    sweep_id = SweepTransactionFactory.create().sweep_id
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for model in (Sweep, Execution, SweepTransaction):
            table = model._meta  # noqa: SLF001 - Django documents it
            checks = [one.name for one in table.constraints if isinstance(one, models.CheckConstraint)]
            for check in checks:
                cursor.execute(f"ALTER TABLE {table.db_table} DROP CONSTRAINT {check}")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
    return lock_one(sweep_id)


@pytest.mark.parametrize(("model", "name"), CHANGEABLE, ids=[f"{one.__name__}.{name}" for one, name in CHANGEABLE])
def test_every_column_that_changes_is_written(stored: StoredSweep, model: type[models.Model], name: str) -> None:
    changed = rows_of(stored)[model]
    value = another(changed, name)
    setattr(changed, name, value)
    stored.sweep.last_event += name != "last_event"  # a trigger demands it for a status
    with transaction.atomic():
        write([stored])
        written = rows_of(read([stored.id])[stored.id])[model]
        assert getattr(written, name) == value
        transaction.set_rollback(True)  # other tables are not asked for what it refers to


@pytest.mark.parametrize(("model", "name"), FIXED, ids=[f"{one.__name__}.{name}" for one, name in FIXED])
def test_what_the_build_fixed_is_not_written_over(stored: StoredSweep, model: type[models.Model], name: str) -> None:
    changed = rows_of(stored)[model]
    setattr(changed, name, another(changed, name))
    with pytest.raises(FixedColumnError, match=f"{model.__name__} .*: {name}$"):
        write([stored])


def test_a_token_is_never_written_over(stored: StoredSweep) -> None:
    stored.tokens[0].amount += 1
    with pytest.raises(FixedColumnError, match=r"SweepToken .*: amount$"):
        write([stored])


def test_only_what_changed_is_written(stored: StoredSweep) -> None:
    stored.candidates[0].reason = "why"
    changes = [(type(one.instance).__name__, one.columns) for one in stored.changes()]
    assert changes == [("Sweep", ["version"]), ("SweepTransaction", ["reason"])]
    stored.candidates[0].reason = ""
    assert list(stored.changes()) == []
    with CaptureQueriesContext(connection) as statements:
        write([stored])
    assert len(statements) == 0


def test_whatever_changes_of_a_sweep_raises_its_version(stored: StoredSweep) -> None:
    stored.candidates[0].reason = "why"
    write([stored])
    assert read([stored.id])[stored.id].sweep.version == stored.sweep.version + 1


def test_one_statement_reads_any_number_of_sweeps_whole() -> None:
    sweeps = [SweepTransactionFactory.create().sweep for _ in range(3)]
    with CaptureQueriesContext(connection) as statements:
        found = read([sweep.id for sweep in sweeps])
        for sweep in sweeps:
            stored = found[sweep.id]
            assert (stored.sweep, stored.sweep.partner, stored.sweep.permit.sweep_id) == (
                sweep,
                sweep.partner,
                sweep.id,
            )
            assert (len(stored.executions), len(stored.candidates), len(stored.tokens)) == (1, 1, 1)
            assert stored.candidates[0].execution is stored.executions[0]
    assert len(statements) == 1


def test_candidates_are_read_with_the_newest_last() -> None:
    first = SweepTransactionFactory.create()
    second = SweepTransactionFactory.create(sweep=first.sweep)
    assert read([first.sweep_id])[first.sweep_id].candidates == [first, second]


def test_executions_are_read_by_position_whichever_was_stored_first() -> None:
    sweep = SolanaSweepFactory.create(execution=None)
    second, first = (SolanaExecutionFactory.create(sweep=sweep, position=position) for position in (1, 0))
    assert read([sweep.id])[sweep.id].executions == [first, second]


UNREAD: list[Callable[[StoredSweep], object]] = [
    lambda stored: list(stored.sweep.offers.all()),
    lambda stored: stored.sweep.events.first(),
    lambda stored: stored.sweep.executions.get(),
    lambda stored: stored.sweep.watched_block,
    lambda stored: stored.executions[0].ledger_entry,
    lambda stored: stored.tokens[0].execution,
    lambda stored: stored.sweep.partner.api_keys.exists(),
    lambda stored: stored.sweep.refresh_from_db(),
    lambda stored: stored.sweep.save(),
]


@pytest.mark.parametrize("reach", UNREAD)
def test_to_reach_for_what_was_not_read_raises(stored: StoredSweep, reach: Callable[[StoredSweep], object]) -> None:
    stored.sweep.watched_block_id, stored.executions[0].ledger_entry_id = 1, uuid4()
    with pytest.raises(ConnectionDoesNotExist, match="what_the_store_did_not_read"):
        reach(stored)
