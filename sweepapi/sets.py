"""Writes any number of rows of a table in one statement.

The rows travel as one parameter, a JSON array that PostgreSQL reads as rows of the table. Django's own bulk operations
render an expression for each value, which takes several times as long. Values are written as they are: what a field
would normalise or reject is left to the checks of the database.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from django.db import DatabaseError, connection, models
from django.db.models.expressions import DatabaseDefault
from psycopg.sql import SQL, Identifier

Row = Mapping[str, Any]  # by column


def insert_rows(model: type[models.Model], rows: Sequence[Row]) -> None:
    """Insert rows, all with the same columns; what is not among them is left to the database's defaults."""
    if rows:
        _execute(_insert(model, tuple(rows[0])), rows)


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


def as_json(rows: Sequence[Row]) -> str:
    """Return the rows as the array that PostgreSQL reads."""
    return json.dumps(rows, default=_text)


def _execute(statement: str, rows: Sequence[Row]) -> int:
    with connection.cursor() as cursor:
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
