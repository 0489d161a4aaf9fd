"""Every statement of the store, and of what is shown, fits the tables as they are migrated."""

import re
from pathlib import Path

import pytest
from django.db import connection

from sweeps.shown.reading import SNAPSHOT_OF_PARTNER, SNAPSHOTS, SUMMARIES
from sweeps.store import statements
from sweeps.store.reading import read_statement
from sweeps.store.statements import statement

FILES = sorted(path.stem for path in (Path(statements.__file__).parent / "sql").glob("*.sql"))
STATEMENTS = {name: statement(name) for name in FILES} | {
    "read_sweeps": read_statement(),
    "snapshot_of_partner": SNAPSHOT_OF_PARTNER,
    "snapshots": SNAPSHOTS,
    "summaries": SUMMARIES,
}


def prepared(text: str) -> str:
    """Return a statement with the parameters of PostgreSQL instead of Python's."""
    names: dict[str, int] = {}
    return re.sub(r"%\((\w+)\)s|%s", lambda found: f"${names.setdefault(found[0], len(names) + 1)}", text)


@pytest.mark.django_db
@pytest.mark.parametrize("text", STATEMENTS.values(), ids=STATEMENTS.keys())
def test_the_database_accepts_it(text: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"PREPARE this AS {prepared(text)}")
        cursor.execute("DEALLOCATE this")
