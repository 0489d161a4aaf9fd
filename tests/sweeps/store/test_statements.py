"""Every statement of the store, and of what is shown, fits the tables as they are migrated."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from django.db import connection

from sweeps import shown, store

ROOMS = (store, shown)
SETTING = "SET "  # of a transaction, which reads no table


def statements() -> Iterator[tuple[str, str]]:
    """Yield the files of the rooms, and what else their modules give to a cursor, each with a name."""
    for room in ROOMS:
        for path in sorted(Path(*room.__path__).rglob("*.sql")):
            yield path.stem, path.read_text()
        for path in sorted(Path(*room.__path__).glob("*.py")):
            yield from executed_by(path, of=f"{room.__name__}.{path.stem}")


def executed_by(path: Path, *, of: str) -> Iterator[tuple[str, str]]:
    """Yield the statements of a module, named or written out where they are executed; files are left out."""
    names = vars(import_module(of))
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Call(args=[ast.Call(func=ast.Name("statement")), *_]):
                pass
            case ast.Call(func=ast.Attribute(attr="execute" | "raw") | ast.Name("fetch_json"), args=[text, *_]):
                found = eval(ast.unparse(text), names)  # noqa: S307 - of our own source
                if not found.startswith(SETTING):
                    yield f"{path.stem}.{ast.unparse(text)}", found


STATEMENTS = dict(statements())


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
