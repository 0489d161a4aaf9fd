"""A database that loses its last commits, as one does that is restored from a backup: what the chain shows stays."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def lost_commits() -> Iterator[None]:
    """Undo at the end what was written within the block; Django does not know it, as it would not of a restore."""
    with connection.cursor() as cursor:
        cursor.execute("SAVEPOINT backup")
        yield
        cursor.execute("ROLLBACK TO SAVEPOINT backup")
