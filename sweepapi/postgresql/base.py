"""PostgreSQL behind a pool that replaces all its connections as soon as it meets a dead one.

After a restart of the server every idle connection is dead. psycopg's own check, which CONN_HEALTH_CHECKS would turn
on, meets them one by one and pauses ever longer, from the second one on for a second: where three idle, a request fails
although the server is back.
"""

from typing import Any

from django.db.backends.postgresql import base
from psycopg import Connection, OperationalError


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's, for settings with a pool."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Connection:
        """Take a connection that works from the pool."""
        connection: Connection = super().get_new_connection(conn_params)
        try:
            self.pool.check_connection(connection)
        except OperationalError:
            self.pool.putconn(connection)
            self.pool.drain()
            connection = self.pool.getconn()
        return connection
