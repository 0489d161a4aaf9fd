"""The unique keys of the service's tables, and how to drop one rule from the database of the tests.

``lab.concurrency`` names a rule by its name, or by model and field where the field itself is unique.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from django.apps import apps
from django.db import connection, models
from psycopg.sql import SQL, Identifier

from lab.edited_copy import APPS


@dataclass(frozen=True)
class UniqueKey:
    """A unique constraint or index that is not the primary key."""

    rule: str
    model: type[models.Model]
    columns: tuple[str, ...]

    def index(self) -> tuple[str, bool, str | None]:
        """Return the name of its index, whether a constraint owns that, and the condition of a partial one."""
        with connection.cursor() as cursor:
            cursor.execute(_INDEX, [self.model._meta.db_table, list(self.columns)])  # noqa: SLF001 - Django documents it
            name, is_owned, condition = cursor.fetchone()
        return name, is_owned, condition

    def drop(self) -> None:
        name, is_owned, _ = self.index()
        table = Identifier(self.model._meta.db_table)  # noqa: SLF001 - as above
        owned, other = SQL("ALTER TABLE {table} DROP CONSTRAINT {name}"), SQL("DROP INDEX {name}")
        with connection.cursor() as cursor:
            cursor.execute((owned if is_owned else other).format(table=table, name=Identifier(name)))


_INDEX = """
SELECT name.relname, pg_constraint.oid IS NOT NULL, pg_get_expr(indpred, indrelid)
FROM pg_index
JOIN pg_class AS name ON name.oid = indexrelid
LEFT JOIN pg_constraint ON conindid = indexrelid AND contype = 'u'
WHERE indrelid = %s::regclass AND indisunique AND NOT indisprimary
  AND ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = indrelid AND attnum = ANY(indkey) ORDER BY 1)
    = ARRAY(SELECT unnest(%s::text[]) ORDER BY 1)
"""


def unique_keys() -> list[UniqueKey]:
    """Return those of all tables of the service."""
    ours = [model for model in apps.get_models() if model.__module__.split(".")[0] in APPS]
    return [key for model in ours if not model._meta.proxy for key in _keys_of(model)]  # noqa: SLF001 - as above


def _keys_of(model: type[models.Model]) -> Iterator[UniqueKey]:
    options = model._meta  # noqa: SLF001 - as above
    columns = {field.name: str(field.column) for field in options.local_concrete_fields}
    for constraint in options.constraints:
        if isinstance(constraint, models.UniqueConstraint):
            yield UniqueKey(constraint.name, model, tuple(columns[name] for name in constraint.fields))
    for field in options.local_concrete_fields:
        if field.unique and not field.primary_key:
            yield UniqueKey(f"{model.__name__}.{field.name}", model, (columns[field.name],))


def drop_rule(name: str) -> None:
    """Drop a unique key or a trigger."""
    by_name = {key.rule: key for key in unique_keys()}
    if name in by_name:
        by_name[name].drop()
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tgname, tgrelid::regclass::text FROM pg_trigger WHERE tgname LIKE %s", [f"pgtrigger_{name}_%"]
        )
        ((trigger, table),) = cursor.fetchall()
        cursor.execute(SQL("DROP TRIGGER {} ON {}").format(Identifier(trigger), Identifier(table)))
