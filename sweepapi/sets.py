"""Writes any number of rows of a table in one statement, and makes instances of rows that a statement returns.

The rows travel as one parameter, a JSON array that PostgreSQL reads as rows of the table. Django's own bulk operations
render an expression for each value, which takes several times as long, as do its queries. Values are written as they
are: what a field would normalise or reject is left to the checks of the database.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, TypeVar
from uuid import UUID

from django.db import DatabaseError, connection, models
from django.db.models.expressions import DatabaseDefault
from psycopg.sql import SQL, Identifier

Row = Mapping[str, Any]  # by column
M = TypeVar("M", bound=models.Model)


def insert_rows(model: type[models.Model], rows: Sequence[Row]) -> None:
    """Insert rows, all with the same columns; what is not among them is left to the database's defaults."""
    if rows:
        _execute(_insert(model, tuple(rows[0])), rows)


def insert_new(model: type[models.Model], instances: Sequence[models.Model], *, identity: Sequence[str]) -> None:
    """Insert instances that have no key yet, and set their keys; these columns tell the rows apart."""
    if not instances:
        return
    rows = [as_row(instance) for instance in instances]
    statement = f"{_insert(model, tuple(rows[0]))} RETURNING id, {', '.join(identity)}"
    with connection.preparing_cursor() as cursor:  # type: ignore[attr-defined]  # of our own backend
        cursor.execute(statement, [as_json(rows)])
        keys = {tuple(values): key for key, *values in cursor.fetchall()}
    for instance in instances:
        instance.pk = keys[tuple(getattr(instance, column) for column in identity)]


def update_rows(model: type[models.Model], rows: Sequence[Row]) -> None:
    """Update rows by their id, in the same columns of all; raises ``DatabaseError`` unless all of them exist."""
    if not rows:
        return
    count = _execute(_update(model, tuple(rows[0])), rows)
    if count != len(rows):
        raise DatabaseError(f"{count} of {len(rows)} rows of {model.__name__} were updated")


def as_row(instance: models.Model) -> Row:
    """Return the row of an instance that is not stored yet, without what the database sets."""
    columns = [field.attname for field in type(instance)._meta.concrete_fields]  # noqa: SLF001 - Django documents it
    values = {column: getattr(instance, column) for column in columns}
    is_set = {"id"} if instance.pk is None else set()
    return {
        column: value
        for column, value in values.items()
        if column not in is_set and not isinstance(value, DatabaseDefault)
    }


def instance_of(model: type[M], row: Row) -> M:
    """Return the stored instance of a row as ``row_to_json`` gives it."""
    names, decoders = _columns(model)
    values = [None if (value := row[column]) is None else decode(value) for column, decode in decoders]
    return model.from_db(connection.alias, names, values)


def as_json(rows: Sequence[Row]) -> str:
    """Return the rows as the array that PostgreSQL reads."""
    return json.dumps(rows, default=_text)


def _execute(statement: str, rows: Sequence[Row]) -> int:
    with connection.preparing_cursor() as cursor:  # type: ignore[attr-defined]  # of our own backend
        cursor.execute(statement, [as_json(rows)])
        count: int = cursor.rowcount
        return count


def _text(value: object) -> str:
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no form as JSON")


@cache
def _columns(model: type[models.Model]) -> tuple[Sequence[str], Sequence[tuple[str, Callable[[Any], Any]]]]:
    """Return the names of an instance's values, and for each its column and what makes it of JSON."""
    fields = model._meta.concrete_fields  # noqa: SLF001 - Django documents it
    return [field.attname for field in fields], [(str(field.column), _decoder(field)) for field in fields]


def _decoder(field: "models.Field[Any, Any]") -> Callable[[Any], Any]:
    if isinstance(field, models.ForeignKey):
        return _decoder(field.target_field)
    if isinstance(field, models.UUIDField):
        return UUID
    return datetime.fromisoformat if isinstance(field, models.DateTimeField) else _unchanged


def _unchanged(value: object) -> object:
    return value


@cache
def _insert(model: type[models.Model], columns: tuple[str, ...]) -> str:
    names = SQL(", ").join(map(Identifier, columns))
    statement = SQL("INSERT INTO {table} ({names}) SELECT {names} FROM json_populate_recordset(NULL::{table}, %s)")
    return statement.format(table=_table(model), names=names).as_string()


@cache
def _update(model: type[models.Model], columns: tuple[str, ...]) -> str:
    changes = [SQL("{column} = new.{column}").format(column=Identifier(column)) for column in columns if column != "id"]
    statement = SQL(
        "UPDATE {table} SET {changes} FROM json_populate_recordset(NULL::{table}, %s) AS new WHERE {table}.id = new.id"
    )
    return statement.format(table=_table(model), changes=SQL(", ").join(changes)).as_string()


def _table(model: type[models.Model]) -> Identifier:
    return Identifier(model._meta.db_table)  # noqa: SLF001 - Django documents it
