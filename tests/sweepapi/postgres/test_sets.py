"""Rows are written in sets exactly as they are, and a write that misses a row is an error."""

from typing import Any

import pytest
from django.db import DatabaseError, DataError, IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from partners.models import Partner
from sweepapi.fields import UINT256_MAX
from sweepapi.postgres.prepared import fetch_json
from sweepapi.postgres.sets import Insert, InsertNew, Update, as_row, instance_of, write
from sweeps.models import EventKind, Execution, Sweep, SweepEvent, SweepToken, SweepTransaction
from sweeps.rails.evm.models import Permit
from tests.factories.sweeps import SweepFactory, SweepTransactionFactory, note

pytestmark = pytest.mark.django_db

AWKWARD = 'it\'s "quoted", 100 %, \\ and {é}'


def event(sweep: Sweep, sequence: int, **facts: object) -> dict[str, object]:
    row = SweepEvent(sweep=sweep, sequence=sequence, kind="closed", at=timezone.now(), facts=facts)
    return dict(as_row(row))


def test_rows_are_inserted_in_their_order_by_one_statement() -> None:
    sweep = SweepFactory.create()
    rows = [event(sweep, sequence, reason=AWKWARD, block=UINT256_MAX) for sequence in (3, 2, 5)]
    with CaptureQueriesContext(connection) as statements:
        write(Insert(SweepEvent, rows))
    assert len(statements) == 1
    stored = list(SweepEvent.objects.order_by("id"))
    assert [one.sequence for one in stored] == [3, 2, 5]
    assert [one.at for one in stored] == [row["at"] for row in rows]
    assert stored[0].facts == {"reason": AWKWARD, "block": UINT256_MAX}


def test_what_the_database_sets_is_left_to_it() -> None:
    tx = SweepTransactionFactory.build(sweep=SweepFactory.create())
    row = as_row(tx)
    assert "id" not in row
    write(Insert(SweepTransaction, [row]))
    assert SweepTransaction.objects.get().tx_hash == tx.tx_hash


def test_new_instances_are_inserted_by_one_statement_and_get_their_keys() -> None:
    sweep = SweepFactory.create()
    new = SweepTransactionFactory.build_batch(3, sweep=sweep, execution=sweep.executions.get())
    with CaptureQueriesContext(connection) as statements:
        write(InsertNew(SweepTransaction, new, ("execution_id", "tx_hash")))
    assert len(statements) == 1
    assert {tx.pk: tx.tx_hash for tx in new} == dict(SweepTransaction.objects.values_list("pk", "tx_hash"))


@pytest.mark.parametrize(
    ("model", "table"),
    [
        (Partner, "partners_partner"),
        (Sweep, "sweeps_sweep"),
        (Execution, "sweeps_execution"),
        (SweepToken, "sweeps_sweeptoken"),
        (SweepTransaction, "sweeps_sweeptransaction"),
        (Permit, "evm_permit"),
        (SweepEvent, "sweeps_sweepevent"),
    ],
)
def test_an_instance_of_a_row_has_the_values_that_a_query_gives(model: type[Any], table: str) -> None:
    facts = {"flags": ["partial"], "last_checked_at": timezone.now(), "client_reference": AWKWARD}
    tx = SweepTransactionFactory.create(sweep=SweepFactory.create(**facts), block_number=2**62)
    note(tx.sweep, EventKind.REJECTED, tx_hash=tx.tx_hash, reason=AWKWARD)
    row = fetch_json(f"SELECT row_to_json(one) FROM {table} AS one", {})  # noqa: S608 - a table
    instance = instance_of(model, row, database="default")
    stored = model.objects.get()
    assert instance == stored
    assert values_of(instance) == values_of(stored)


def values_of(instance: Any) -> dict[str, tuple[type, object]]:
    return {name: (type(value), value) for name, value in vars(instance).items() if name != "_state"}


def test_each_row_is_updated_to_its_own_values() -> None:
    first, second = SweepFactory.create(), SweepFactory.create()
    changed = [
        {"id": first.id, "flags": ["partial", AWKWARD[:32]], "last_error": AWKWARD, "voided_at": None},
        {"id": second.id, "flags": [], "last_error": "", "voided_at": timezone.now()},
    ]
    write(Update(Sweep, changed))
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.flags, first.last_error, first.voided_at) == (["partial", AWKWARD[:32]], AWKWARD, None)
    assert (second.flags, second.last_error, second.voided_at is None) == ([], "", False)


def test_all_rows_are_updated_if_another_table_has_only_one() -> None:
    sweeps = [SweepFactory.create(), SweepFactory.create()]
    execution = sweeps[0].executions.get()
    write(
        Update(Execution, [{"id": execution.id, "min_gross": UINT256_MAX}]),
        Update(Sweep, [{"id": sweep.id, "last_error": AWKWARD} for sweep in sweeps]),
    )
    assert Execution.objects.get(id=execution.id).min_gross == UINT256_MAX
    assert Sweep.objects.filter(last_error=AWKWARD).count() == len(sweeps)


def test_a_single_row_is_looked_up_by_its_key_in_a_table_of_a_few_pages() -> None:
    sweep = SweepFactory.create()
    stored = SweepTransactionFactory.build_batch(1_000, sweep=sweep, execution=sweep.executions.get())
    write(InsertNew(SweepTransaction, stored, ("execution_id", "tx_hash")))
    with CaptureQueriesContext(connection) as statements:
        write(Update(SweepTransaction, [{"id": stored[0].id, "reason": "why"}]))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE sweeps_sweeptransaction")
        cursor.execute("EXPLAIN (GENERIC_PLAN) " + statements[0]["sql"].replace("%s", "$1"))
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "Index Scan using sweeps_sweeptransaction_pkey" in plan
    assert "Seq Scan" not in plan


def test_amounts_keep_every_digit() -> None:
    execution = SweepFactory.create().executions.get()
    write(Update(Execution, [{"id": execution.id, "min_gross": UINT256_MAX}]))
    assert Execution.objects.get().min_gross == UINT256_MAX


def test_rows_of_several_tables_are_written_by_one_statement() -> None:
    sweep = SweepFactory.create()
    tx = SweepTransactionFactory.build(sweep=sweep, execution=sweep.executions.get())
    with CaptureQueriesContext(connection) as statements:
        write(
            Update(Sweep, [{"id": sweep.id, "last_error": AWKWARD}]),
            InsertNew(SweepTransaction, [tx], ("execution_id", "tx_hash")),
            Insert(SweepEvent, [event(sweep, 2)]),
        )
    assert len(statements) == 1
    assert (Sweep.objects.get().last_error, SweepTransaction.objects.get()) == (AWKWARD, tx)
    assert sweep.events.filter(sequence=2).exists()


def test_a_missing_row_of_one_table_is_an_error_beside_others() -> None:
    sweep, missing = SweepFactory.create(), SweepFactory.build(partner=None)
    changes = Update(Sweep, [{"id": missing.id, "last_error": "why"}])
    with pytest.raises(DatabaseError, match="0 of 1 rows of Sweep were updated"), transaction.atomic():
        write(Insert(SweepEvent, [event(sweep, 2)]), changes)
    assert not sweep.events.filter(sequence=2).exists()


def test_no_rows_need_no_statement() -> None:
    with CaptureQueriesContext(connection) as statements:
        write(Insert(SweepEvent, []), InsertNew(SweepTransaction, [], ("tx_hash",)), Update(Sweep, []))
    assert len(statements) == 0


def test_an_update_of_a_row_that_does_not_exist_is_an_error() -> None:
    sweep, missing = SweepFactory.create(), SweepFactory.build(partner=None)
    with pytest.raises(DatabaseError, match="1 of 2 rows of Sweep were updated"):
        write(Update(Sweep, [{"id": one.id, "last_error": "why"} for one in (sweep, missing)]))


def test_a_value_that_the_database_refuses_is_an_error() -> None:
    sweep = SweepFactory.create()
    with pytest.raises(DataError), transaction.atomic():
        write(Insert(SweepEvent, [event(sweep, 2) | {"tx_hash": "\x00"}]))
    with pytest.raises(IntegrityError), transaction.atomic():
        write(Insert(SweepEvent, [event(sweep, 2) | {"tx_hash": "0xAB"}]))
    with pytest.raises(TypeError, match="object has no form as JSON"):
        write(Insert(SweepEvent, [event(sweep, 2, reason=object())]))
