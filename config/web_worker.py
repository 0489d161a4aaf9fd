"""gunicorn's worker with threads, which spreads connections over the web processes.

All of them listen on one socket, and a connection that is kept alive stays with the process that took it. One process
that woke first could take all connections of a proxy, and serve at half the speed while the other was idle.
"""

import socket
import time

from gunicorn.workers.gthread import ThreadWorker

# How long each request that a process is busy with holds back its next connection, and all of them together.
SECONDS_A_REQUEST = 0.001
MOST_SECONDS = 0.005


class WebWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """Leaves a new connection to a process that is less busy, by waiting a moment before it takes one itself."""

    def accept(self, listener: socket.socket) -> None:
        """Take a connection, unless another process did meanwhile."""
        busy = self.nr_conns - len(self.keepalived_conns) - len(self.pending_conns)
        # Below zero if gunicorn counted a connection as closed twice, which it does if it fails to wait for it.
        time.sleep(min(max(busy, 0) * SECONDS_A_REQUEST, MOST_SECONDS))
        super().accept(listener)
