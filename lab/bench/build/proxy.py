"""A proxy of the local node that answers as late as a distant one, and keeps what it was asked."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BufferedIOBase
from socket import create_connection
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread
from urllib.parse import urlsplit

CONTENT_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)\r\n", re.IGNORECASE)


@dataclass
class Proxy:
    """Forwards each request after a delay; ``asked`` has the bodies, one per round trip."""

    upstream: str
    delay_seconds: float
    url: str = ""
    asked: list[bytes] = field(default_factory=list)


@contextmanager
def running(upstream: str, *, delay_seconds: float) -> Iterator[Proxy]:
    """Serve a proxy on a free port."""
    proxy = Proxy(upstream, delay_seconds)
    node = urlsplit(upstream)

    class Handler(StreamRequestHandler):
        """Passes messages on as they are: what a proxy does with them would count as time of the service."""

        disable_nagle_algorithm = True

        def handle(self) -> None:
            with create_connection((node.hostname, node.port)) as connection, connection.makefile("rb") as answers:
                while (asked := _message(self.rfile)) is not None:
                    proxy.asked.append(asked[1])
                    time.sleep(proxy.delay_seconds)
                    connection.sendall(b"".join(asked))
                    self.wfile.write(b"".join(_message(answers) or ()))

    class Server(ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        proxy.url = f"http://127.0.0.1:{server.server_address[1]}"
        yield proxy
        server.shutdown()


def _message(stream: BufferedIOBase) -> tuple[bytes, bytes] | None:
    """Return the next head and body; None at the end of the stream."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        line = stream.readline()
        if not line:
            return None
        head += line
    length = CONTENT_LENGTH.search(head)
    return head, b"" if length is None else stream.read(int(length[1]))
