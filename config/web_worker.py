"""gunicorn's worker with threads, which reads whole requests before a thread gets them, and spreads connections.

A thread that waits for the rest of a request serves no one: gunicorn's own worker reads in its threads, so that as many
sockets as it has threads could stop it. Here one loop reads all connections, and a head and a body have so many seconds
each in all. A thread only waits for its answer to be taken, in all as long.

All processes listen on one socket, and a connection that is kept alive stays with the process that took it. One process
that woke first could take all connections of a proxy, and serve at half the speed while the other was idle.
"""

import errno
import json
import selectors
import socket
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from itertools import takewhile
from typing import Any

from gunicorn.http import get_parser
from gunicorn.http.unreader import Unreader
from gunicorn.workers.gthread import TConn, ThreadWorker
from uuid_utils.compat import uuid7

from config.incoming import MAX_HEAD_BYTES, Incoming, RequestTooLargeError
from sweepapi import errors
from sweepapi.api.errors.error_table import ERROR_TABLE

# How long each request that a process is busy with holds back its next connection, and all of them together.
SECONDS_A_REQUEST = 0.001
MOST_SECONDS = 0.005
PIECE_BYTES = 64 * 1024
# Of requests that are not whole, in one process.
MAX_KEPT_BYTES = 64 * 1024 * 1024
# How long a caller may take to close a connection whose end it was told.
LINGER_SECONDS = 2.0
_NOT_NOW = (errno.EAGAIN, errno.ECONNABORTED, errno.EWOULDBLOCK)


class OneRequest(Unreader):  # type: ignore[misc]  # gunicorn has no types
    """The bytes of one request, for gunicorn's parser."""

    def __init__(self, received: bytes) -> None:
        super().__init__()
        self.buf.write(received)

    def chunk(self, size_hint: int | None = None) -> bytes:  # noqa: ARG002 - gunicorn's signature
        """Return nothing: the connection is not read here."""
        return b""


class BoundedSocket(socket.socket):
    """A connection on which no thread waits longer than this for its answer to be taken."""

    seconds: float

    def setblocking(self, flag: bool, /) -> None:  # noqa: FBT001 - the socket's signature
        """Wait within the bound, where gunicorn would wait without one."""
        self.settimeout(self.seconds if flag else 0.0)


class Connection(TConn):  # type: ignore[misc]  # as above
    """A connection with its next request."""

    def __init__(self, *arguments: Any) -> None:  # noqa: ANN401 - gunicorn's
        super().__init__(*arguments)
        self.incoming = Incoming()
        self.initialized = True  # what gunicorn does in a thread to read

    def parse(self) -> None:
        """Let gunicorn's parser read the request that is whole."""
        self.parser = get_parser(self.cfg, self.sock, self.client)
        self.parser.unreader = OneRequest(self.incoming.take())


class WebWorker(ThreadWorker):  # type: ignore[misc]  # as above
    """Hands threads whole requests, and leaves a new connection to a process that is less busy."""

    # For a head, for a body, and for an answer to be taken.
    request_seconds = 5.0

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401 - as above
        super().__init__(*arguments, **named)
        # When their time is up, the first first, because all have the same time.
        self._reading: dict[Connection, float] = {}
        self._lingering: dict[Connection, float] = {}

    def accept(self, listener: socket.socket) -> None:
        """Take a connection, unless another process did while this one waited, a moment for each of its requests."""
        busy = self.nr_conns - len(self.keepalived_conns) - len(self._reading) - len(self._lingering)
        # Below zero if gunicorn counted a connection as closed twice, which it does if it fails to wait for it.
        time.sleep(min(max(busy, 0) * SECONDS_A_REQUEST, MOST_SECONDS))
        try:
            accepted, client = listener.accept()
        except OSError as error:
            if error.errno not in _NOT_NOW:
                raise
            return
        self.nr_conns += 1
        bounded = BoundedSocket(fileno=accepted.detach())
        bounded.seconds = self.request_seconds
        connection = Connection(self.cfg, bounded, client, listener.getsockname())
        self.poller.register(bounded, selectors.EVENT_READ, partial(self._receive, connection))
        self._reading[connection] = self._due()
        self._receive(connection, bounded)

    def on_client_socket_readable(self, conn: Connection, client: socket.socket) -> None:
        """Read the next request of a connection that was kept alive."""
        self._begin(conn)
        self._receive(conn, client)

    def finish_request(self, conn: Connection, fs: "Future[bool]") -> None:
        """Wait for the next request, or for the caller to close the connection."""
        if conn.sock.fileno() < 0:  # closed by gunicorn, in the middle of an answer
            self.nr_conns -= 1
            return
        if fs.cancelled() or fs.exception() is not None or not fs.result() or conn.incoming.is_last:
            self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._discard, conn))
            self._linger(conn)
            return
        conn.sock.settimeout(0)
        conn.set_timeout()
        self.keepalived_conns.append(conn)
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(self.on_client_socket_readable, conn))
        if not conn.incoming.is_empty:  # sent before the answer, so the socket need not become readable
            self._begin(conn)
            self._add(conn, b"")

    def murder_pending(self) -> None:
        """Refuse requests whose time is up; gunicorn calls this every second at least."""
        for connection in list(_expired(self._reading)):
            self._refuse(connection, errors.RequestTimeout())
        for connection in list(_expired(self._lingering)):
            self._close(connection)

    def _keepalive_after(self, _conn: Connection, keepalive: bool) -> bool:  # noqa: FBT001 - gunicorn's signature
        return keepalive  # what a view left of the body was read from the connection all the same

    def _begin(self, connection: Connection) -> None:
        self.keepalived_conns.remove(connection)
        self.poller.modify(connection.sock, selectors.EVENT_READ, partial(self._receive, connection))
        self._reading[connection] = self._due()

    def _due(self) -> float:
        return time.monotonic() + self.request_seconds

    def _receive(self, connection: Connection, _socket: socket.socket) -> None:
        try:
            data = connection.sock.recv(PIECE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            self._close(connection)
            return
        if data:
            self._add(connection, data)
        elif connection.incoming.has_head:
            connection.incoming.end()
            self._hand_over(connection)
        else:
            self._close(connection)

    def _add(self, connection: Connection, data: bytes) -> None:
        incoming, had_head = connection.incoming, connection.incoming.has_head
        try:
            incoming.feed(data)
        except RequestTooLargeError:
            long_head = errors.InvalidRequest(f"The head of the request is longer than {MAX_HEAD_BYTES // 1024} KiB.")
            self._refuse(connection, errors.PayloadTooLarge() if incoming.has_head else long_head)
            return
        if incoming.is_whole:
            self._hand_over(connection)
        elif incoming.kept_bytes > PIECE_BYTES and self._keeps_too_much():
            self._refuse(connection, errors.ServiceUnavailable())
        elif incoming.has_head and not had_head:
            del self._reading[connection]  # and last again
            self._reading[connection] = self._due()
            if incoming.awaits_continue:
                _send(connection, b"HTTP/1.1 100 Continue\r\n\r\n")

    def _keeps_too_much(self) -> bool:
        return sum(one.incoming.kept_bytes for one in self._reading) > MAX_KEPT_BYTES

    def _hand_over(self, connection: Connection) -> None:
        del self._reading[connection]
        self.poller.unregister(connection.sock)
        connection.parse()
        self.enqueue_req(connection)

    def _refuse(self, connection: Connection, error: errors.SweepApiError) -> None:
        del self._reading[connection]
        if connection.incoming.is_empty:
            self._close(connection)
            return
        _send(connection, _answer(error))
        self.poller.modify(connection.sock, selectors.EVENT_READ, partial(self._discard, connection))
        self._linger(connection)

    def _linger(self, connection: Connection) -> None:
        """Tell the caller that nothing follows: a connection with unread bytes that is closed at once loses answers."""
        self._lingering[connection] = time.monotonic() + LINGER_SECONDS
        try:
            connection.sock.settimeout(0)
            connection.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._close(connection)

    def _discard(self, connection: Connection, _socket: socket.socket) -> None:
        try:
            is_open = bool(connection.sock.recv(PIECE_BYTES))
        except BlockingIOError:
            return
        except OSError:
            is_open = False
        if not is_open:
            self._close(connection)

    def _close(self, connection: Connection) -> None:
        self._reading.pop(connection, None)
        self._lingering.pop(connection, None)
        self.poller.unregister(connection.sock)
        self.nr_conns -= 1
        connection.close()


def _expired(connections: dict[Connection, float]) -> Iterator[Connection]:
    now = time.monotonic()
    return takewhile(lambda connection: connections[connection] <= now, connections)


def _send(connection: Connection, data: bytes) -> None:
    with suppress(OSError):  # its caller is gone, or takes nothing
        connection.sock.send(data)


def _answer(error: errors.SweepApiError) -> bytes:
    """Return the response in the API's envelope: nothing else has read the request."""
    row = ERROR_TABLE[type(error)]
    facts = {
        "code": row.code,
        "message": error.message,
        "details": [],
        "retryable": row.retryable,
        "requestId": str(uuid7()),
        "docUrl": f"/docs/errors#{row.code}",
    }
    body = json.dumps({"ok": False, "error": facts}).encode()
    status = HTTPStatus(row.status)
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nX-Request-Id: {facts['requestId']}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
