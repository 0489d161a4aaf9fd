"""Every unique key refuses a second row by itself: no other key, trigger or check of the table has to."""

from uuid import uuid4

import pytest
from django.db import IntegrityError, connection, models, transaction
from psycopg.sql import SQL, Composed, Identifier

from sweeps.store.stored import columns_of
from tests.races.rows import store_rows
from tests.races.rules import UniqueKey, unique_keys

pytestmark = pytest.mark.django_db

COPY = """
INSERT INTO {table} ({columns}) SELECT {columns}
FROM (SELECT to_jsonb(one) AS found FROM {table} AS one WHERE {applies} LIMIT 1) AS row,
    json_populate_record(NULL::{table}, (row.found || jsonb_build_object({pk}, %s))::json) AS copy
"""


def copy(key: UniqueKey, condition: str | None) -> Composed:
    """Return the statement that copies a row to which the key applies."""
    has_values = [SQL("{} IS NOT NULL").format(Identifier(column)) for column in key.columns]
    options = key.model._meta  # noqa: SLF001 - Django documents it
    return SQL(COPY).format(
        table=Identifier(options.db_table),
        columns=SQL(", ").join(map(Identifier, columns_of(key.model))),
        pk=options.pk.column,
        applies=SQL(" AND ").join([*has_values, SQL(condition or "TRUE")]),
    )


def test_a_copy_of_a_row_is_refused_by_each_key() -> None:
    store_rows()
    connection.check_constraints()  # a table whose deferred checks are pending can't be altered
    for key in unique_keys():
        with transaction.atomic():
            assert_refuses_a_copy(key)
            transaction.set_rollback(True)


def assert_refuses_a_copy(key: UniqueKey) -> None:
    """Assert that it does so while the other keys of its table are missing."""
    name, _, condition = key.index()
    for other in unique_keys():
        if other.model is key.model and other != key:
            other.drop()
    pk = uuid4() if isinstance(key.model._meta.pk, models.UUIDField) else 10**12  # noqa: SLF001 - as above
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")  # which switches triggers off
        with pytest.raises(IntegrityError, match=f'unique constraint "{name}"'), transaction.atomic():
            cursor.execute(copy(key, condition), [str(pk)])
