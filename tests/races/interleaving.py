"""Runs a rival operation in another database session before any chosen statement of a first one.

A rival that has to wait for a lock of the first one is left waiting: the first one goes on, and the rival ends after
it. So a race that is won only once in a million runs happens each time.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any, Generic, TypeVar

import psycopg
from django.db import DatabaseError, connection

from sweepapi.errors import SweepApiError
from sweeps.settle import LeaseLostError

SceneT = TypeVar("SceneT")
Operation = Callable[[SceneT], Any]

LONGEST_SECONDS = 20  # far above what any operation takes; only a rival that hangs takes as long
POLL_SECONDS = 0.002
# What an operation may refuse with, and what the database stops it with; either is its result.
ERRORS = (SweepApiError, LeaseLostError, DatabaseError)


def result_of(operation: Callable[[], Any]) -> str:
    """Do it, and return what became of it: ``done``, or the name of the error that it raised."""
    try:
        operation()
    except ERRORS as error:
        return type(error).__name__
    return "done"


class Rival(Thread):
    """An operation in a database session of its own."""

    result = "hangs"

    def __init__(self, operation: Callable[[], Any]) -> None:
        super().__init__(daemon=True)
        self._operation = operation
        self._connected, self._ended = Event(), Event()
        self._backend = 0

    def run(self) -> None:
        try:
            connection.ensure_connection()
            self._backend = connection.connection.info.backend_pid
            self._connected.set()
            self.result = result_of(self._operation)
        finally:
            connection.close()
            self._connected.set()
            self._ended.set()

    def run_until_it_waits(self) -> None:
        """Start, and return once it has ended or waits for a lock."""
        self.start()
        assert self._connected.wait(LONGEST_SECONDS)
        with _monitor() as monitor:
            while not self._ended.wait(POLL_SECONDS):
                waiting = monitor.execute("SELECT 1 FROM pg_locks WHERE pid = %s AND NOT granted", [self._backend])
                if waiting.fetchone() is not None:
                    return

    def end(self) -> str:
        """Wait until it has ended, and return its result."""
        self.join(LONGEST_SECONDS)
        return self.result


@contextmanager
def _monitor() -> Iterator[psycopg.Connection[Any]]:
    """Yield a session that sees the locks of the others."""
    parameters = connection.get_connection_params()
    wanted = {name: parameters[name] for name in ("dbname", "user", "password", "host", "port") if name in parameters}
    with psycopg.connect(**wanted, autocommit=True) as monitor:
        yield monitor


@dataclass(frozen=True)
class Race(Generic[SceneT]):
    """Two operations on the same scene, and what is to be compared of it afterwards."""

    stage: Callable[[], SceneT]
    first: Operation[SceneT]
    rival: Operation[SceneT]
    outcome: Callable[[SceneT], Any]

    def one_after_the_other(self) -> list[Any]:
        """Return the outcomes of both orders, each with the results of the first and the rival."""
        return [self._in_turn(rival_goes_first=False), self._in_turn(rival_goes_first=True)]

    def _in_turn(self, *, rival_goes_first: bool) -> Any:
        scene, results = self.stage(), {}
        operations = [("first", self.first), ("rival", self.rival)]
        for name, operation in reversed(operations) if rival_goes_first else operations:
            results[name] = result_of(lambda operation=operation: operation(scene))  # type: ignore[misc]
        return results["first"], results["rival"], self.outcome(scene)

    def at_each_statement(self) -> Iterator[tuple[str, Any]]:
        """Yield every statement of the first operation, and the outcome if the rival starts just before it."""
        number = 0
        while True:
            scene = self.stage()
            statement, result, rival = self._raced(scene, number)
            if rival is None:
                return
            yield statement, (result, rival, self.outcome(scene))
            number += 1

    def _raced(self, scene: SceneT, number: int) -> tuple[str, str, str | None]:
        """Run the first operation, with the rival before its statement of this number."""
        rival = Rival(lambda: self.rival(scene))
        statements: list[str] = []

        def execute_with_rival(execute: Any, sql: str, *arguments: Any) -> Any:
            statements.append(sql)
            if len(statements) == number + 1:
                rival.run_until_it_waits()
            return execute(sql, *arguments)

        with connection.execute_wrapper(execute_with_rival):
            result = result_of(lambda: self.first(scene))
        if len(statements) <= number:
            return "", result, None
        return statements[number], result, rival.end()


def assert_serial(race: Race[Any]) -> None:
    """Assert that a rival at any point leads to what one of both orders leads to."""
    serial = race.one_after_the_other()
    points = 0
    for statement, outcome in race.at_each_statement():
        points += 1
        assert outcome in serial, f"a rival before {statement[:200]!r}"
    assert points, "the first operation makes no statement, so nothing was raced"
