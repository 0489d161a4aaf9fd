"""Copies a stored sweep with everything that belongs to it, by one statement a table, so that millions take minutes.

The n-th copy differs from the original in what must be unique: its keys, its authorization nonce and its transaction
hash. Its other columns are the same unless the caller gives an expression for them. Triggers and foreign keys are off
meanwhile, since the original passed them.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID

from django.db import connection, models, transaction
from django.db.backends.utils import CursorWrapper

from lab.bench.sweeps.identity import NONCES_APART, TRANSACTION_HASH_SQL
from ledger.models import EntryNumber, JournalEntry
from sweepapi.fields import TransactionHashField
from sweeps.models import Execution, Sweep

# The ledger refers to sweeps without foreign keys.
REFERENCES: Mapping[str, type[models.Model]] = {"sweep_ref": Sweep, "execution_ref": Execution}
OLDER_BY_MILLISECONDS = 20_000_000
# What has to be unique for each copy, by table and column.
_IDENTITY = {
    ("sweeps_execution", "execution_id"): f"(t.execution_id::numeric + {NONCES_APART} * n)::text",
    ("evm_v5_feeauthorization", "nonce"): f"t.nonce + {NONCES_APART} * n",
    ("evm_permit", "nonce"): f"t.nonce + {NONCES_APART} * n",
}
# A UUID of version 7, in the order of n, as the service would have made them one a millisecond before the original.
# One expression, which PostgreSQL puts in the place of the call.
_COPIED_UUID = f"""
CREATE OR REPLACE FUNCTION pg_temp.copied(original uuid, n bigint) RETURNS uuid LANGUAGE sql RETURN overlay(
    overlay(
        md5(original::text || n::text)
        placing lpad(to_hex(
            ('x' || left(replace(original::text, '-', ''), 12))::bit(48)::bigint - {OLDER_BY_MILLISECONDS} + n
        ), 12, '0') || '7' from 1 for 13
    )
    placing '8' from 17 for 1
)::uuid
"""

Changes = Mapping[tuple[str, str], str]  # SQL by table and column, in which ``n`` is the number of the copy


@dataclass(frozen=True)
class _Rows:
    """The rows of one table that belong to the original."""

    model: type[models.Model]
    keys: list[Any]

    @property
    def table(self) -> str:
        return str(self.model._meta.db_table)

    @property
    def span(self) -> int:
        """How many of the table's own numbers a copy takes; 0 if its keys are UUIDs, or those of another table."""
        return max(self.keys) - min(self.keys) + 1 if isinstance(self.model._meta.pk, models.BigAutoField) else 0


@dataclass(frozen=True)
class Copier:
    """Makes copies of one sweep."""

    original: UUID
    rows: Mapping[type[models.Model], _Rows]

    @classmethod
    def of(cls, original: UUID) -> Self:
        """Return what copies this sweep as it is now."""
        keys: dict[type[models.Model], list[Any]] = {
            Sweep: [original],
            JournalEntry: list(JournalEntry.objects.filter(sweep_ref=original).values_list("pk", flat=True)),
        }
        for model in tables_of_a_sweep():
            if model not in keys and model is not EntryNumber:  # see ``numbers``
                parent = next(field for field in _foreign_keys(model) if field.related_model in keys)
                owned = models.Q(**{f"{parent.name}__in": keys[parent.related_model]})
                keys[model] = list(model._default_manager.filter(owned).values_list("pk", flat=True))
        return cls(original, {model: _Rows(model, found) for model, found in keys.items() if found})

    def copy(self, numbers: range, changes: Changes) -> None:
        """Store a copy for each number."""
        with without_triggers() as cursor:
            cursor.execute(_COPIED_UUID)
            keys = {model: self._key(cursor, rows, numbers) for model, rows in self.rows.items()}
            for rows in self.rows.values():
                fields = [field for field in rows.model._meta.concrete_fields if not field.generated]
                columns = ", ".join(f'"{field.column}"' for field in fields)
                values = ", ".join(_value(field, keys, changes) for field in fields)
                key = rows.model._meta.pk.column
                cursor.execute(
                    f"INSERT INTO {rows.table} ({columns}) SELECT {values} "
                    f"FROM {rows.table} t, generate_series({numbers[0]}::bigint, {numbers[-1]}) n "
                    f"WHERE t.{key} = ANY(%s) ORDER BY n, t.{key}",
                    [rows.keys],
                )

    def ids(self, numbers: Sequence[int]) -> dict[int, UUID]:
        """Return the id of each of these copies, in the order of the numbers."""
        with connection.cursor() as cursor:
            cursor.execute(_COPIED_UUID)
            cursor.execute(
                "SELECT n, pg_temp.copied(%s, n) FROM unnest(%s::bigint[]) n", [self.original, list(numbers)]
            )
            return dict(cursor.fetchall())

    def delete_copies(self) -> None:
        """Delete every sweep but the original."""
        with without_triggers() as cursor:
            for model in tables_of_a_sweep():
                rows = self.rows.get(model)
                table, key = model._meta.db_table, model._meta.pk.column
                others = "" if rows is None else f"WHERE {key} <> ALL(%s)"
                cursor.execute(f"DELETE FROM {table} {others}", [] if rows is None else [rows.keys])

    @staticmethod
    def _key(cursor: CursorWrapper, rows: _Rows, numbers: range) -> str:
        """Return the expression of a copy's key, in which ``{column}`` has the original's; takes numbers if need be."""
        if not rows.span:
            return "pg_temp.copied({column}, n)"
        sequence = f"pg_get_serial_sequence('{rows.table}', 'id')"
        cursor.execute(f"SELECT setval({sequence}, nextval({sequence}) + {len(numbers) * rows.span})")
        ((last,),) = cursor.fetchall()
        first = last - len(numbers) * rows.span
        return f"{{column}} + {first - min(rows.keys)} + (n - {numbers[0]}) * {rows.span}"


@contextmanager
def without_triggers() -> Iterator[CursorWrapper]:
    """Write in one transaction, in which neither triggers nor foreign keys are checked."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        yield cursor
        cursor.execute("SET session_replication_role = DEFAULT")


def tables_of_a_sweep() -> list[type[models.Model]]:
    """Return the models whose rows belong to sweeps."""
    found: list[type[models.Model]] = []
    waiting: list[type[models.Model]] = [Sweep, JournalEntry]
    while waiting:
        model = waiting.pop(0)
        if model not in found:
            found.append(model)
            waiting += [relation.related_model for relation in model._meta.related_objects]
    return found


def _foreign_keys(model: type[models.Model]) -> "list[models.ForeignKey[Any, Any]]":
    return [field for field in model._meta.concrete_fields if isinstance(field, models.ForeignKey)]


def _value(field: "models.Field[Any, Any]", keys: Mapping[type[models.Model], str], changes: Changes) -> str:
    """Return the expression of a copy's column."""
    table, name = str(field.model._meta.db_table), str(field.column)
    column = f"t.{name}"
    expression = changes.get((table, name)) or _IDENTITY.get((table, name))
    if expression is not None:
        return expression
    named = field.related_model if isinstance(field, models.ForeignKey) else REFERENCES.get(name)
    if field.primary_key and named is None:
        named = field.model
    if named is not None and named in keys:
        return keys[named].format(column=column)
    if isinstance(field, TransactionHashField):
        return f"CASE WHEN {column} IS NOT NULL THEN {TRANSACTION_HASH_SQL} END"
    return column
