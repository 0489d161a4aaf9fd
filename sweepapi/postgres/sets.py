"""Writes any number of rows of some tables in one statement, and makes instances of rows that a statement returns.

The rows of a table travel as one parameter, a JSON array that PostgreSQL reads as rows of the table. Django's own bulk
operations render an expression for each value, which takes several times as long, as do its queries. Values are written
as they are: what a field would normalise or reject is left to the checks of the database.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from typing import Any, ClassVar, NamedTuple, TypeVar
from uuid import UUID

from django.db import DatabaseError, connection, models
from django.db.models.expressions import DatabaseDefault
from psycopg.sql import SQL, Composed, Identifier

Row = Mapping[str, Any]  # by column
M = TypeVar("M", bound=models.Model)


class _Form(NamedTuple):
    """What the text of a statement depends on."""

    is_update: bool
    model: type[models.Model]
    columns: tuple[str, ...]
    returned: tuple[str, ...]  # columns of the written rows; empty where their number is enough


@dataclass(frozen=True)
class Insert:
    """New rows of a table, all with the same columns; what is not among them is left to the database's defaults."""

    returned: ClassVar[tuple[str, ...]] = ()
    model: type[models.Model]
    rows: Sequence[Row]

    def accept(self, count: int) -> None:
        """Take what the statement answered; an insert that does not insert all its rows is an error by itself."""


@dataclass(frozen=True)
class InsertNew:
    """Instances that have no key yet, which they get; the columns of ``identity`` tell the rows apart."""

    model: type[models.Model]
    instances: Sequence[models.Model]
    identity: tuple[str, ...]

    @property
    def rows(self) -> Sequence[Row]:
        return [as_row(instance) for instance in self.instances]

    @property
    def returned(self) -> tuple[str, ...]:
        return ("id", *self.identity)

    def accept(self, returned: Sequence[Row]) -> None:
        """Set the keys."""
        keys = {tuple(row[column] for column in self.identity): row["id"] for row in returned}
        for instance in self.instances:
            instance.pk = keys[tuple(_plain(getattr(instance, column)) for column in self.identity)]


@dataclass(frozen=True)
class Update:
    """Changed rows of a table by their id, with the same columns of all."""

    returned: ClassVar[tuple[str, ...]] = ()
    model: type[models.Model]
    rows: Sequence[Row]

    def accept(self, count: int) -> None:
        """Raise ``DatabaseError`` unless all of the rows exist."""
        if count != len(self.rows):
            raise DatabaseError(f"{count} of {len(self.rows)} rows of {self.model.__name__} were updated")


def write(*sets: Insert | InsertNew | Update) -> None:
    """Write all these rows by one statement; raises ``DatabaseError`` if one that should change does not exist.

    PostgreSQL checks foreign keys, and calls triggers that run after a change, when everything is written. A trigger
    that runs before must not depend on rows of other tables that are written with its own.
    """
    filled = [(one, rows) for one in sets if (rows := one.rows)]
    if not filled:
        return
    forms = (_Form(isinstance(one, Update), one.model, tuple(rows[0]), one.returned) for one, rows in filled)
    single_rows = all(len(rows) == 1 for one, rows in filled if isinstance(one, Update))
    statement = _statement(tuple(forms), updates_single_rows=single_rows)
    with connection.preparing_cursor() as cursor:  # type: ignore[attr-defined]  # of our own backend
        cursor.execute(statement, [as_json(rows) for _, rows in filled])
        (answers,) = cursor.fetchone()
    for (one, _), answer in zip(filled, answers, strict=True):
        one.accept(answer)


def as_row(instance: models.Model) -> Row:
    """Return the row of an instance that is not stored yet, without what the database sets."""
    fields = type(instance)._meta.concrete_fields  # noqa: SLF001 - Django documents it
    columns = [field.attname for field in fields if not field.generated]
    values = {column: getattr(instance, column) for column in columns}
    is_set = {"id"} if instance.pk is None else set()
    return {
        column: value
        for column, value in values.items()
        if column not in is_set and not isinstance(value, DatabaseDefault)
    }


def instance_of(model: type[M], row: Row, *, database: str) -> M:
    """Return the instance of a row as ``row_to_json`` gives it, as of a database with this name."""
    names, decoders = _columns(model)
    values = [None if (value := row[column]) is None else decode(value) for column, decode in decoders]
    return model.from_db(database, names, values)


def as_json(rows: Sequence[Row]) -> str:
    """Return the rows as the array that PostgreSQL reads."""
    return json.dumps(rows, default=_text)


def _text(value: object) -> str:
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no form as JSON")


def _plain(value: object) -> object:
    return str(value) if isinstance(value, UUID) else value


@cache
def _columns(model: type[models.Model]) -> tuple[Sequence[str], Sequence[tuple[str, Callable[[Any], Any]]]]:
    """Return the names of an instance's values, and for each its column and what makes it of JSON."""
    fields = model._meta.concrete_fields  # noqa: SLF001 - Django documents it
    return [field.attname for field in fields], [(str(field.column), _decoder(field)) for field in fields]


def _decoder(field: "models.Field[Any, Any]") -> Callable[[Any], Any]:
    if isinstance(field, models.ForeignKey):
        return _decoder(field.target_field)
    if isinstance(field, models.GeneratedField) and field.output_field is not None:
        return _decoder(field.output_field)
    if isinstance(field, models.UUIDField):
        return UUID
    return datetime.fromisoformat if isinstance(field, models.DateTimeField) else _unchanged


def _unchanged(value: object) -> object:
    return value


@lru_cache(maxsize=512)  # the changed columns vary
def _statement(forms: tuple[_Form, ...], *, updates_single_rows: bool) -> str:
    changes = [_change(form, updates_single_rows=updates_single_rows) for form in forms]
    sets = [SQL("set_{} AS ({})").format(SQL(str(i)), change) for i, change in enumerate(changes)]
    answers = [
        SQL("(SELECT {} FROM set_{} AS one)").format(SQL("json_agg(one)" if form.returned else "count(*)"), SQL(str(i)))
        for i, form in enumerate(forms)
    ]
    joined = SQL(", ").join(sets), SQL(", ").join(answers)
    return SQL("WITH {} SELECT json_build_array({})").format(*joined).as_string()


def _change(form: _Form, *, updates_single_rows: bool) -> Composed:
    table = _table(form.model)
    rows = SQL("json_populate_recordset(NULL::{table}, %s)").format(table=table)
    returned = SQL(", ").join(map(Identifier, form.returned)) if form.returned else SQL("1")
    if form.is_update:
        changed = (Identifier(column) for column in form.columns if column != "id")
        changes = [SQL("{column} = new.{column}").format(column=column) for column in changed]
        if updates_single_rows:  # PostgreSQL expects a hundred rows of any JSON, and for these reads the whole table
            rows = SQL("(SELECT * FROM {rows} LIMIT 1)").format(rows=rows)
        text = SQL("UPDATE {table} SET {changes} FROM {rows} AS new WHERE {table}.id = new.id RETURNING {returned}")
        return text.format(table=table, changes=SQL(", ").join(changes), rows=rows, returned=returned)
    names = SQL(", ").join(map(Identifier, form.columns))
    text = SQL("INSERT INTO {table} ({names}) SELECT {names} FROM {rows} RETURNING {returned}")
    return text.format(table=table, names=names, rows=rows, returned=returned)


def _table(model: type[models.Model]) -> Identifier:
    return Identifier(model._meta.db_table)  # noqa: SLF001 - Django documents it
