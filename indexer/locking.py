"""Locks that let one run of a task work at a time, whatever the number of workers."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def only_one(name: str) -> Iterator[bool]:
    """Hold the lock of this name, and yield whether no other holds it; PostgreSQL releases that of a process that died.

    It belongs to the session, because a run waits for providers, which no transaction may do.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", [name])
        (is_mine,) = cursor.fetchone()
    try:
        yield is_mine
    finally:
        if is_mine:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(hashtextextended(%s, 0))", [name])
