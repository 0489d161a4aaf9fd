"""Runs work in other database sessions, at the same time or at an exact point of a transaction."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import IntegrityError, connection

from ledger.errors import PayoutRefusedError


class Session(threading.Thread):
    """Does its work in a database session of its own."""

    refused: BaseException | None = None

    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__()
        self._work = work
        self.start()

    def run(self) -> None:
        try:
            self._work()
        except (IntegrityError, PayoutRefusedError) as error:
            self.refused = error
        finally:
            connection.close()


def at_once(work: Callable[[], Any], *, sessions: int) -> list[BaseException | None]:
    """Run the work in several database sessions at the same time; return what each was refused for."""
    start = threading.Barrier(sessions)

    def run() -> None:
        connection.ensure_connection()
        start.wait()
        work()

    started = [Session(run) for _ in range(sessions)]
    for session in started:
        session.join()
    return [session.refused for session in started]


@contextmanager
def rival_at_the_lock(work: Callable[[], Any], *, is_first: bool) -> Iterator[list[Session]]:
    """Run the work in another session when this one locks a partner: to its end before that, or starting after it.

    Yields a list that contains the session once it was started; it has ended when the `with` block has.
    """
    rivals: list[Session] = []

    def execute_with_rival(execute: Any, sql: str, *arguments: Any) -> Any:
        if "FOR NO KEY UPDATE" not in sql or rivals:
            return execute(sql, *arguments)
        if is_first:
            rivals.append(Session(work))
            rivals[0].join()
            return execute(sql, *arguments)
        result = execute(sql, *arguments)
        rivals.append(Session(work))
        return result

    with connection.execute_wrapper(execute_with_rival):
        yield rivals
    for rival in rivals:
        rival.join()


@contextmanager
def rival_after_query(work: Callable[[], Any], *, number: int) -> Iterator[None]:
    """Run the work in another session, to its end, after this session's query of this number, counted from 1."""
    queries: list[str] = []

    def execute_with_rival(execute: Any, sql: str, *arguments: Any) -> Any:
        result = execute(sql, *arguments)
        queries.append(sql)
        if len(queries) == number:
            Session(work).join()
        return result

    with connection.execute_wrapper(execute_with_rival):
        yield
    assert len(queries) >= number
