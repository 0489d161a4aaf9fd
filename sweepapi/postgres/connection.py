"""A connection of psycopg that never waits for its server without a deadline.

libpq has none for reading, and those of TCP do not apply to unix sockets, nor to a server that is frozen: its kernel
goes on acknowledging. The server's own ``statement_timeout`` ends what is only slow a moment earlier, so a deadline
that passes means that the server is silent. What it was asked for, such as a commit, may or may not have happened.
"""

import select
from time import monotonic
from typing import Any, Self

import psycopg
from psycopg.abc import RV, PQGen, PQGenConn
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow

from sweepapi.postgres.breaker import Breaker

# For each address of the server; psycopg's own timeout is two seconds at least.
CONNECT_SECONDS = 1.0
# How much longer than ``statement_timeout`` the client waits, so that a server that works answers first.
GRACE_SECONDS = 0.25
# How long an answer shows that the server can be reached, even if the network forgot the connection since.
TRUSTED_SECONDS = 1.0


class ServerSilentError(psycopg.OperationalError):
    """The outcome of what was asked is unknown."""

    def __init__(self, message: str = "The database did not answer in time.") -> None:
        super().__init__(message)


class DeadlineConnection(psycopg.Connection[TupleRow]):
    """Closes itself when a wait takes longer than its deadline."""

    breaker = Breaker()  # a process has one database
    deadline_seconds: float
    answered_at: float  # monotonic seconds

    @classmethod
    def open(cls, *, deadline_seconds: float, **parameters: Any) -> Self:  # noqa: ANN401 psycopg's own
        """Connect, with ``statement_timeout`` set on the server; ``parameters`` are those of ``connect``."""
        cls._require_admission(CONNECT_SECONDS)
        try:
            connection = cls.connect(**parameters)
        except ServerSilentError:
            cls.breaker.silent()
            raise
        except psycopg.Error:
            cls.breaker.answered()
            raise
        cls.breaker.answered()
        connection.deadline_seconds = deadline_seconds + GRACE_SECONDS
        connection.answered_at = monotonic()
        return connection

    def is_surely_alive(self) -> bool:
        """Return whether the server answered within the last second, and did not end the connection since then."""
        is_idle = self.pgconn.transaction_status == TransactionStatus.IDLE  # not closed, nor in a failed transaction
        if not is_idle or monotonic() - self.answered_at > TRUSTED_SECONDS:
            return False
        unread = select.poll()
        unread.register(self.pgconn.socket, select.POLLIN)
        return not unread.poll(0)  # what a server sends unasked, as when it is shut down

    @classmethod
    def _connect_gen(cls, conninfo: str = "") -> PQGenConn[Self]:
        deadline = monotonic() + CONNECT_SECONDS
        steps = super()._connect_gen(conninfo)
        try:
            waits_for = next(steps)
            while True:
                ready = yield waits_for
                if monotonic() > deadline:
                    raise ServerSilentError
                waits_for = steps.send(ready)
        except StopIteration as connected:
            connection: Self = connected.value
            return connection

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        """Do what psycopg does, within the deadline."""
        self._require_admission(self.deadline_seconds)
        try:
            result = super().wait(gen, interval, timeout or self.deadline_seconds)
        except psycopg.errors.ReadOnlySqlTransaction:  # the server became a standby
            self.close()
            raise
        except psycopg.OperationalError as error:
            if self.pgconn.transaction_status != TransactionStatus.ACTIVE:  # the server's own error
                self.breaker.answered()
                raise
            self.close()
            self.breaker.silent()
            raise ServerSilentError from error
        self.breaker.answered()
        self.answered_at = monotonic()
        return result

    @classmethod
    def _require_admission(cls, deadline_seconds: float) -> None:
        if not cls.breaker.admits(deadline_seconds=deadline_seconds):
            raise ServerSilentError
