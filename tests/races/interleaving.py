"""Runs a rival operation in another database session at chosen points of a first one.

The points are before each statement of the first operation that locks or writes, and before each of its commits. A
rival that has to wait for a lock of the first one is left waiting: the first one goes on, and the rival ends after it.
So a race that is won only once in a million runs happens each time.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations_with_replacement
from threading import Event, Thread
from typing import Any, Generic, TypeVar

import pytest
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import QuerySet
from psycopg.sql import Composable

from ledger.errors import PayoutRefusedError
from sweepapi.errors import SweepApiError
from tests.races.staged import Staged
from tests.settling import LeaseLostError

SceneT = TypeVar("SceneT")
Operation = Callable[[SceneT], Any]  # what it returns is compared

LONGEST_SECONDS = 20  # far above what any operation takes; only a rival that hangs takes as long
POLL_SECONDS = 0.002
# What an operation may refuse with, which is a result of it.
REFUSALS = (SweepApiError, LeaseLostError, PayoutRefusedError)
_LOCKS_OR_WRITES = re.compile(r"\b(?:INSERT|UPDATE|DELETE|pg_\w*advisory\w*)\b")


def result_of(operation: Callable[[], Any]) -> Any:
    """Do it, and return its result, or the name of the error that it was refused with."""
    try:
        return operation()
    except REFUSALS as error:
        return type(error).__name__


# Sessions of rivals that ended: opening one takes longer than most of what a rival does.
_idle_sessions: list[BaseDatabaseWrapper] = []


def _keep(session: BaseDatabaseWrapper) -> None:
    if session.errors_occurred:
        session.close()  # it is opened again when it is used
    session.inc_thread_sharing()
    _idle_sessions.append(session)


def close_idle_sessions() -> None:
    """Close the sessions that rivals left, so that the database can be dropped."""
    while _idle_sessions:
        _idle_sessions.pop().close()


class Rival(Thread):
    """An operation in a database session of its own."""

    result: Any = "hangs"
    has_waited = False

    def __init__(self, operation: Callable[[], Any]) -> None:
        super().__init__(daemon=True)
        self._operation = operation
        self._connected, self._ended = Event(), Event()
        self._backend = 0

    def run(self) -> None:
        if _idle_sessions:
            connections[DEFAULT_DB_ALIAS] = _idle_sessions.pop()
        try:
            connection.ensure_connection()
            self._backend = connection.connection.info.backend_pid
            self._connected.set()
            self.result = _raced_result_of(self._operation)
        finally:
            _keep(connections[DEFAULT_DB_ALIAS])
            self._connected.set()
            self._ended.set()

    def run_until_it_waits(self) -> None:
        """Start, and return once it has ended or waits for a lock; the caller's connection has to be open."""
        self.start()
        assert self._connected.wait(LONGEST_SECONDS)
        while not self._ended.wait(POLL_SECONDS):
            # Not by a cursor of Django's, whose statements are points.
            waits = connection.connection.execute(
                "SELECT 1 FROM pg_locks WHERE pid = %s AND NOT granted", [self._backend]
            )
            if waits.fetchone() is not None:
                self.has_waited = True
                return

    def end(self) -> Any:
        """Wait until it has ended, and return its result."""
        self.join(LONGEST_SECONDS)
        return self.result


def waits_for(rows: QuerySet[Any], operation: Callable[[], Any]) -> bool:
    """Return whether an operation waits while another transaction writes these rows."""
    rival = Rival(operation)
    with transaction.atomic():
        assert list(rows.select_for_update())
        rival.run_until_it_waits()
    rival.end()
    return rival.has_waited


def _raced_result_of(operation: Callable[[], Any]) -> Any:
    """Return the result; what the database stops an operation with is never one of two that go one after the other."""
    try:
        return result_of(operation)
    except DatabaseError as error:
        return f"{type(error).__name__}: {error}"


@dataclass
class _Points:
    """The points of the first operation so far, and the rival that starts at one of them."""

    rival: Rival
    starts_at: int
    passed: list[str] = field(default_factory=list)
    transactions: list[int] = field(default_factory=list)  # the number of that of each point

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Watch what this session does."""
        commit = connection.commit

        def commit_with_rival() -> None:
            self._pass("COMMIT")
            commit()
            self._transaction += 1

        with pytest.MonkeyPatch.context() as patched, connection.execute_wrapper(self._execute):
            patched.setattr(connection, "commit", commit_with_rival)
            yield

    _transaction = 0

    def _execute(self, execute: Any, sql: str | Composable, *arguments: Any) -> Any:
        text = sql if isinstance(sql, str) else sql.as_string(None)
        if _LOCKS_OR_WRITES.search(text):
            self._transaction += not connection.in_atomic_block
            self._pass(text)
        return execute(sql, *arguments)

    def _pass(self, point: str) -> None:
        self.passed.append(point)
        self.transactions.append(self._transaction)
        if len(self.passed) == self.starts_at + 1:
            self.rival.run_until_it_waits()

    def next_start(self) -> int:
        """Return the next point to start at.

        A rival that waited holds what it could lock. At a later point of the same transaction it would only wait for
        the same lock, so that the next one is in the next transaction.
        """
        if not self.rival.has_waited:
            return self.starts_at + 1
        here = self.transactions[self.starts_at]
        later = (number for number, transaction in enumerate(self.transactions) if transaction > here)
        return next(later, len(self.passed))


@dataclass(frozen=True)
class Race(Generic[SceneT]):
    """Two operations on the same scene, and what is to be compared of it afterwards."""

    stage: Callable[[], SceneT]
    one: Operation[SceneT]
    other: Operation[SceneT]
    outcome: Callable[[SceneT], Any]
    is_restored: bool = True  # False if the scene is more than rows, so that it has to be made for each run

    def in_turn(self) -> Any:
        """Return the outcome if they go one after the other, with what each returned."""
        scene = self.stage()
        results = [result_of(partial(operation, scene)) for operation in (self.one, self.other)]
        return *results, self.outcome(scene)

    def at_each_point(self) -> Iterator[tuple[str, Any]]:
        """Yield points of the one operation, and the outcome if the other one starts there."""
        number = 0
        while True:
            scene = self.stage()
            points = _Points(Rival(partial(self.other, scene)), number)
            with points.watched():
                result = _raced_result_of(partial(self.one, scene))
            if len(points.passed) <= number:
                return
            yield points.passed[number], (result, points.rival.end(), self.outcome(scene))
            number = points.next_start()

    def turned(self) -> "Race[SceneT]":
        """Return the race in which the other operation is the first one."""
        return replace(self, one=self.other, other=self.one)


def assert_serial(race: Race[Any], *, also: Any = None) -> None:
    """Assert that each, started at any point of the other, leads to what one of both orders leads to.

    ``also`` is another outcome that is right, for an operation that gives up if it was interrupted.
    """
    _assert_serial(replace(race, stage=Staged(race.stage)) if race.is_restored else race, also=also)


def assert_all_serial(
    stage: Callable[[], SceneT], outcome: Callable[[SceneT], Any], operations: Sequence[Operation[SceneT]]
) -> None:
    """Assert that each pair of these operations, also each with itself, ends like one after the other."""
    staged = Staged(stage)
    for one, other in combinations_with_replacement(operations, 2):
        _assert_serial(Race(staged, one, other, outcome))


def _assert_serial(race: Race[Any], *, also: Any = None) -> None:
    turned, is_same = race.turned(), race.one is race.other
    in_turn = race.in_turn()
    other, one, outcome = in_turn if is_same else turned.in_turn()
    serial = [in_turn, (one, other, outcome), *([also] if also else [])]
    points = _assert_each_in(race, serial)
    if not is_same:
        points += _assert_each_in(turned, [(other, one, outcome) for one, other, outcome in serial])
    assert points, "neither operation locks or writes, so nothing was raced"


def _assert_each_in(race: Race[Any], serial: Sequence[Any]) -> int:
    """Return the number of points."""
    points = 0
    for point, outcome in race.at_each_point():
        points += 1
        assert outcome in serial, f"{_name(race.other)} started before {point[:200]!r} of {_name(race.one)}"
    return points


def _name(operation: Operation[Any]) -> str:
    return getattr(operation, "__name__", repr(operation))
