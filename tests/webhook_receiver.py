"""A partner's server that receives webhooks and behaves as a test says."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Barrier, Event, Lock, Thread
from typing import Any

MOVED = 302


@dataclass(frozen=True)
class Received:
    """One request."""

    path: str
    headers: dict[str, str]  # by their names in lower case
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Behaviour = Callable[[BaseHTTPRequestHandler], None]


def answers(status: int) -> Behaviour:
    """Answer with a status, and if it is a redirect, to another path of the same server."""

    def behave(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        if status == MOVED:
            handler.send_header("Location", "/elsewhere")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return behave


@dataclass
class Receiver:
    """What arrived, and how to answer. Requests hang until ``released`` while ``hangs``."""

    url: str
    received: list[Received] = field(default_factory=list)
    behave: Behaviour = field(default_factory=lambda: answers(204))
    released: Event = field(default_factory=Event)
    most_at_once: int = 0
    _at_once: int = 0
    _lock: Any = field(default_factory=Lock)

    def hang(self, _handler: BaseHTTPRequestHandler) -> None:
        """Answer nothing until the test ends."""
        self.released.wait()

    def gather(self, parties: int) -> Behaviour:
        """Answer once so many requests are here at the same time."""
        barrier = Barrier(parties)

        def behave(handler: BaseHTTPRequestHandler) -> None:
            barrier.wait(10)
            answers(204)(handler)

        return behave

    def take(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("Content-Length", 0))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        with self._lock:
            self.received.append(Received(handler.path, headers, handler.rfile.read(length)))
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            self.behave(handler)
        finally:
            with self._lock:
                self._at_once -= 1


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_arguments: object) -> None:
        """Say nothing about callers who hang up."""


@contextmanager
def running() -> Iterator[Receiver]:
    """Listen on a port of this host until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            receiver.take(self)

        do_GET = do_POST  # noqa: N815 - http.server's own name

        def log_message(self, *_arguments: object) -> None:
            """Log nothing."""

    server = _Server(("127.0.0.1", 0), Handler)
    receiver = Receiver(f"http://127.0.0.1:{server.server_address[1]}/hooks?source=sweeps")
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield receiver
    finally:
        receiver.released.set()
        server.shutdown()
        server.server_close()
