"""Finds indexes that another one of their table makes superfluous, since it begins with the same columns."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, permutations

from django.apps import apps
from django.db import connection

_INDEXES = """
SELECT tables.relname, indexes.relname, methods.amname, indisunique, pg_get_expr(indpred, indrelid),
    array_agg(pg_get_indexdef(indexrelid, position, false) ORDER BY position),
    array_agg(indclass[position - 1] ORDER BY position),
    array_agg(indoption[position - 1] & 1 ORDER BY position)
FROM pg_index
JOIN pg_class AS indexes ON indexes.oid = indexrelid
JOIN pg_class AS tables ON tables.oid = indrelid
JOIN pg_am AS methods ON methods.oid = indexes.relam
CROSS JOIN generate_series(1, indnkeyatts) AS position
WHERE tables.relnamespace = 'public'::regnamespace
GROUP BY 1, 2, 3, 4, 5
"""


@dataclass(frozen=True)
class Index:
    """An index of a table."""

    table: str
    name: str
    method: str
    is_unique: bool
    condition: str | None  # None unless partial
    columns: Sequence[str]  # or expressions
    operator_classes: Sequence[int]
    descends: Sequence[int]  # 1 for columns in descending order

    def is_covered_by(self, other: "Index") -> bool:
        """Whether every query that this one serves is served by the other."""
        if self.method != other.method or (self.is_unique and not other._enforces(self)):
            return False
        length = len(self.columns)
        begins_alike = (self.columns, self.operator_classes) == (
            other.columns[:length],
            other.operator_classes[:length],
        )
        turned = {one ^ another for one, another in zip(self.descends, other.descends[:length], strict=False)}
        return begins_alike and len(turned) == 1 and other.condition in (None, self.condition)

    def _enforces(self, other: "Index") -> bool:
        return self.is_unique and len(self.columns) == len(other.columns) and self.condition is None


def prefixes() -> list[tuple[Index, Index]]:
    """Return each index of our tables that is a prefix of another one, with that one; libraries' tables have some."""
    of_others = {
        model._meta.db_table
        for app in apps.get_app_configs()
        if app.name.startswith(("django.", "allauth."))
        for model in app.get_models(include_auto_created=True)
    }
    by_table = defaultdict(list)
    for index in _indexes():
        if index.table not in of_others:
            by_table[index.table].append(index)
    pairs = chain.from_iterable(permutations(indexes, 2) for indexes in by_table.values())
    return [(one, other) for one, other in pairs if one.is_covered_by(other)]


def _indexes() -> Iterator[Index]:
    with connection.cursor() as cursor:
        cursor.execute(_INDEXES)
        for row in cursor.fetchall():
            yield Index(*row)
