"""How many bytes a sweep of five tokens takes on disk, and which indexes another one makes superfluous."""

from collections import defaultdict

from django.db import connection

from lab.bench.report import Section, Target
from lab.bench.scale.indexes import prefixes
from lab.bench.scale.stock import Stock
from lab.bench.sweeps.template import TOKENS

MOST_BYTES = 12_000


def measure_bytes(stock: Stock) -> Section:
    """Divide what the last load added by its sweeps."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexrelid::regclass::text, indrelid::regclass::text FROM pg_index")
        table_of = dict(cursor.fetchall())
    by_table: dict[str, list[float]] = defaultdict(lambda: [0, 0])
    for relation, size in stock.bytes_by_relation.items():
        by_table[table_of.get(relation, relation)][relation in table_of] += size / stock.last_load
    by_table["all"] = [sum(column) for column in zip(*by_table.values(), strict=True)]
    rows = [
        {"table": table, "bytes of rows": round(of_rows), "bytes of indexes": round(of_indexes)}
        for table, (of_rows, of_indexes) in by_table.items()
        if of_rows
    ]
    total = round(sum(by_table["all"]))
    return Section("Bytes of a sweep", rows, [Target(f"bytes of a sweep of {TOKENS} tokens", total, MOST_BYTES)])


def measure_indexes() -> Section:
    """List the indexes that are prefixes of others."""
    found = prefixes()
    rows = [{"index": one.name, "of": other.name} for one, other in found] or [{"index": "none", "of": ""}]
    return Section("Prefixes", rows, [Target("indexes that are prefixes of others", len(found), 0)])
