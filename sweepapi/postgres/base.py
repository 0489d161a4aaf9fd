"""The module in which Django looks for a database backend."""

from typing import Any

import psycopg
from django.db.backends.postgresql import base, operations
from django.db.backends.postgresql.psycopg_any import IsolationLevel
from django.db.backends.utils import CursorWrapper

from sweepapi.postgres.connection import DeadlineConnection

# The least that a transaction may be idle before the server ends it: it holds locks, and its process may be frozen.
MIN_IDLE_SECONDS = 5.0


class PreparingCursor(psycopg.Cursor[Any]):
    """Has the server plan its statements once for each connection."""


class Operations(operations.DatabaseOperations):
    """Shows prepared statements to what logs queries, without their values, which are sent beside them."""

    def last_executed_query(self, cursor: Any, sql: str, params: Any) -> str:  # noqa: ANN401 Django's signature
        """Return the statement."""
        if isinstance(cursor, PreparingCursor):
            return sql
        shown: str = super().last_executed_query(cursor, sql, params)
        return shown


class DatabaseWrapper(base.DatabaseWrapper):
    """Passes ``OPTIONS["deadline_seconds"]`` on to the connection and the server."""

    ops_class = Operations

    def get_connection_params(self) -> dict[str, Any]:
        """Return what ``DeadlineConnection.open`` takes."""
        parameters: dict[str, Any] = super().get_connection_params()
        deadline_seconds = parameters["deadline_seconds"]
        limits = {
            "statement_timeout": deadline_seconds,
            "idle_in_transaction_session_timeout": max(deadline_seconds, MIN_IDLE_SECONDS),
        }
        options = [f"-c {name}={seconds * 1000:.0f}" for name, seconds in limits.items()]
        # Only what ``preparing_cursor`` returns prepares; the cursors of Django put values into the text of statements.
        # PostgreSQL would plan some of those statements each time, because it guesses that an array has ten values.
        options.append("-c plan_cache_mode=force_generic_plan")
        return parameters | {"options": " ".join([parameters.get("options", ""), *options]), "prepare_threshold": 0}

    def get_new_connection(self, conn_params: dict[str, Any]) -> DeadlineConnection:
        """Connect; see ``DeadlineConnection``."""
        self.isolation_level = IsolationLevel.READ_COMMITTED  # as Django does
        return DeadlineConnection.open(**conn_params)

    def preparing_cursor(self) -> CursorWrapper:
        """Return a cursor whose statements the server plans once; they are counted and wrapped as with any other."""
        self.close_if_health_check_failed()
        self.ensure_connection()
        with self.wrap_database_errors:
            cursor: CursorWrapper = self._prepare_cursor(PreparingCursor(self.connection))  # type: ignore[attr-defined]  # missing in the stubs
            return cursor

    def is_usable(self) -> bool:
        """Return whether a kept connection can be used; ask the server, which takes a round trip, only if in doubt."""
        return (self.connection is not None and self.connection.is_surely_alive()) or super().is_usable()
