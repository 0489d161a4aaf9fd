"""A provider that can be told to hang: it takes requests, and answers none."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import requests


class Switch:
    """Forwards to the local node, unless it hangs."""

    def __init__(self, upstream: str) -> None:
        self.upstream, self.url = upstream, ""
        self._may_answer = Event()
        self._may_answer.set()

    @contextmanager
    def hanging(self) -> Iterator[None]:
        self._may_answer.clear()
        yield
        self._may_answer.set()

    def answer(self, body: bytes) -> bytes:
        self._may_answer.wait()
        return requests.post(self.upstream, body, headers={"Content-Type": "application/json"}, timeout=30).content


@contextmanager
def running(upstream: str) -> Iterator[Switch]:
    """Serve it on a free port."""
    switch = Switch(upstream)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            answer = switch.answer(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_arguments: object) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        request_queue_size = 128

        def handle_error(self, *_arguments: object) -> None:
            """Say nothing: callers that gave up are what this is for."""

    with Server(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        switch.url = f"http://127.0.0.1:{server.server_address[1]}"
        yield switch
        server.shutdown()
