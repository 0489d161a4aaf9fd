"""Reads sweeps whole, any number of them by one statement, and locks them."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from operator import itemgetter
from typing import TypeVar
from uuid import UUID

from django.db import connection, models
from psycopg.sql import SQL, Identifier, Literal

from partners.models import Partner
from sweepapi.postgres.prepared import fetch_json
from sweepapi.postgres.sets import instance_of
from sweeps.models import Execution, Offer, SkippedToken, Sweep, SweepToken, SweepTransaction
from sweeps.store.stored import NOT_READ, StoredSweep

ModelT = TypeVar("ModelT", bound=models.Model)

_LOCK = """
SELECT id, version, lease_token, lease_until, clock_timestamp() FROM sweeps_sweep
WHERE id = ANY(%s) ORDER BY id FOR UPDATE
"""
_LOCK_AWAITING_FINALITY = """
SELECT id FROM sweeps_sweep
WHERE watched_block_id = ANY(%(blocks)s) AND next_check_at IS NULL AND id > %(after)s
ORDER BY id LIMIT %(rows)s FOR UPDATE
"""
# How the rows of a table belong to the sweeps.
_BELONGS = {
    "self": "one.id = ANY(%(sweep_ids)s)",
    "partner": "one.id IN (SELECT partner_id FROM sweeps_sweep WHERE id = ANY(%(sweep_ids)s))",
    "sweep": "one.sweep_id = ANY(%(sweep_ids)s)",
    "execution": "one.execution_id IN (SELECT id FROM sweeps_execution WHERE sweep_id = ANY(%(sweep_ids)s))",
}
_TABLES: dict[type[models.Model], str] = {
    Sweep: "self",
    Offer: "sweep",
    Partner: "partner",
    Execution: "sweep",
    SweepTransaction: "sweep",
    SweepToken: "sweep",
    SkippedToken: "execution",
}
_OF_RAILS: dict[type[models.Model], str] = {}


def read_with_sweeps(model: type[ModelT]) -> type[ModelT]:
    """Have the rows of a rail's table read with each sweep, or each execution, of which they have one at most."""
    _OF_RAILS[model] = "sweep" if hasattr(model, "sweep") else "execution"
    return model


@dataclass(frozen=True)
class ReadMark:
    """What shows whether a sweep is still as it was read."""

    version: int
    lease: UUID | None

    @classmethod
    def of(cls, sweep: Sweep) -> "ReadMark":
        return cls(sweep.version, sweep.lease_token)


@dataclass(frozen=True)
class Locked:
    """What the lock of a sweep showed."""

    mark: ReadMark
    lease_until: datetime | None
    at: datetime


def lock(sweep_ids: Collection[UUID]) -> Mapping[UUID, Locked]:
    """Lock those of these sweeps that exist, in the order of their ids, until the transaction ends."""
    with connection.preparing_cursor() as cursor:  # type: ignore[attr-defined]  # of our own backend
        cursor.execute(_LOCK, [list(sweep_ids)])
        return {
            one: Locked(ReadMark(version, lease), until, at) for one, version, lease, until, at in cursor.fetchall()
        }


def lock_one(sweep_id: UUID) -> StoredSweep:
    """Lock a sweep, and read it under the lock; raises ``Sweep.DoesNotExist``."""
    if not lock([sweep_id]):
        raise Sweep.DoesNotExist
    return read([sweep_id])[sweep_id]


def lock_awaiting_finality(block_ids: Collection[int], *, after: UUID, rows: int) -> Collection[StoredSweep]:
    """Lock and read so many sweeps that await these blocks, in the order of their ids and above this one."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_AWAITING_FINALITY, {"blocks": list(block_ids), "after": after, "rows": rows})
        sweep_ids = [sweep_id for (sweep_id,) in cursor.fetchall()]
    return read(sweep_ids).values()


def read(sweep_ids: Iterable[UUID]) -> dict[UUID, StoredSweep]:
    """Return those of these sweeps that exist, as they are now, in the order of their ids.

    Unless they were locked before, what is to be written is compared with their ``ReadMark`` under a lock.
    """
    ids = list(sweep_ids)
    if not ids:
        return {}
    rows = fetch_json(read_statement(), {"sweep_ids": ids})
    now = datetime.fromisoformat(rows["now"])
    partners = {UUID(row["id"]): instance_of(Partner, row, database=NOT_READ) for row in rows[_name(Partner)]}
    found = sorted(rows[_name(Sweep)], key=itemgetter("id"))
    sweeps = {UUID(row["id"]): StoredSweep.of(row, partners[UUID(row["partner_id"])], now) for row in found}
    for row in sorted(rows[_name(Offer)], key=itemgetter("sequence")):
        of = sweeps[UUID(row["sweep_id"])]
        of.offers.append(of.make(Offer, row))
    executions = {}
    for row in sorted(rows[_name(Execution)], key=itemgetter("position")):
        of = sweeps[UUID(row["sweep_id"])]
        execution = executions[row["id"]] = of.make(Execution, row)
        execution.sweep = of.sweep
        of.executions.append(execution)
    for row in sorted(rows[_name(SweepTransaction)], key=itemgetter("id")):
        of = sweeps[UUID(row["sweep_id"])]
        tx = of.make(SweepTransaction, row)
        tx.sweep, tx.execution = of.sweep, executions[row["execution_id"]]
        of.candidates.append(tx)
    for row in sorted(rows[_name(SweepToken)], key=itemgetter("position")):
        of = sweeps[UUID(row["sweep_id"])]
        of.tokens.append(of.make(SweepToken, row))
    for row in sorted(rows[_name(SkippedToken)], key=itemgetter("id")):
        of = sweeps[executions[row["execution_id"]].sweep_id]
        of.skipped.append(of.make(SkippedToken, row))
    for model, owner in _OF_RAILS.items():
        for row in rows[_name(model)]:
            whose = sweeps[UUID(row["sweep_id"])].sweep if owner == "sweep" else executions[row["execution_id"]]
            setattr(instance_of(model, row, database=NOT_READ), owner, whose)  # it is set on its owner, too
    return sweeps


@cache
def read_statement() -> str:
    """Return the statement that reads sweeps; it has one column of JSON, each kind of rows in an array."""
    arrays = [
        SQL("{name}, (SELECT COALESCE(json_agg(one), '[]') FROM {table} AS one WHERE {condition})").format(
            name=Literal(_name(model)), table=Identifier(_name(model)), condition=SQL(_BELONGS[owner])
        )
        for model, owner in (_TABLES | _OF_RAILS).items()
    ]
    return SQL("SELECT json_build_object('now', clock_timestamp(), {})").format(SQL(", ").join(arrays)).as_string()


def _name(model: type[models.Model]) -> str:
    return model._meta.db_table  # noqa: SLF001 - Django documents it
