"""A scene that is made once and then restored, which takes a tenth of the time of making it again.

Restoring sets the tables back to what they held when the scene was made, so operations find the same ids each time.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import cached_property
from typing import Generic, TypeVar

from django.apps import apps
from django.db import connection
from psycopg.sql import SQL, Composed, Identifier, Literal

from lab.edited_copy import APPS
from sweeps.store.stored import columns_of

SceneT = TypeVar("SceneT")

_ROWS = "SELECT {name}, (SELECT json_agg(row)::text FROM {table} AS row)"
_STORE = "INSERT INTO {table} ({columns}) SELECT {columns} FROM json_populate_recordset(NULL::{table}, {rows})"
# While triggers are off, which also check foreign keys and that no row of the ledger is changed.
_RESTORE = "SET session_replication_role = replica; {changes}; SET session_replication_role = DEFAULT"


class Staged(Generic[SceneT]):
    """Makes a scene at the first call, and restores it at each one."""

    def __init__(self, stage: Callable[[], SceneT]) -> None:
        self._stage = stage

    def __call__(self) -> SceneT:
        scene, restore = self._made
        with connection.cursor() as cursor:
            cursor.execute(restore)
        return deepcopy(scene)

    @cached_property
    def _made(self) -> tuple[SceneT, Composed]:
        """Return the scene, and the statements that restore its tables."""
        return self._stage(), _restoring()


def _restoring() -> Composed:
    models = [model for model in apps.get_models() if model.__module__.split(".")[0] in APPS]
    tables = {model._meta.db_table: columns_of(model) for model in models}  # noqa: SLF001 - Django documents it
    select = SQL(" UNION ALL ").join(SQL(_ROWS).format(name=name, table=Identifier(name)) for name in tables)
    with connection.cursor() as cursor:
        cursor.execute(select)
        stored = [(name, rows) for name, rows in cursor.fetchall() if rows is not None]
    changes = [SQL("DELETE FROM {}").format(Identifier(name)) for name in tables]
    changes += [_storing(name, tables[name], rows) for name, rows in stored]
    return SQL(_RESTORE).format(changes=SQL("; ").join(changes))


def _storing(table: str, columns: Sequence[str], rows: str) -> Composed:
    names = SQL(", ").join(map(Identifier, columns))
    return SQL(_STORE).format(table=Identifier(table), columns=names, rows=Literal(rows))
