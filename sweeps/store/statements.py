"""Loads the statements that are files: each in ``sql/``, under its name."""

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "sql"


@cache
def statement(name: str) -> str:
    """Return the text of a statement."""
    return (_FOLDER / f"{name}.sql").read_text(encoding="utf-8")
