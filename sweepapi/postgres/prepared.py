"""Runs statements that the server plans once for each connection, because planning them takes longer than running them.

Django's own cursors put the values into the text of a statement, so the server parses and plans it each time.
"""

from collections.abc import Mapping
from typing import Any

from django.db import connection


def fetch_json(statement: str, parameters: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
    """Return what the statement selects, one column of JSON in at most one row; None without a row.

    One column of one type, because a prepared statement fails once a migration changes the types of its result.
    """
    with connection.preparing_cursor() as cursor:  # type: ignore[attr-defined]  # of our own backend
        cursor.execute(statement, parameters)
        row = cursor.fetchone()
    return None if row is None else row[0]
