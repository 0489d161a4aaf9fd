"""A Web3Signer with the eth1 API that its OpenAPI document describes, which misbehaves as a test requires."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

from eth_keys.datatypes import PrivateKey
from eth_utils.crypto import keccak

Answer = tuple[int, str]


@dataclass
class FakeWeb3Signer:
    """The keys that it holds, and the requests that it got."""

    keys: dict[str, PrivateKey]  # by identifier: the public key in hex, without the prefix of its encoding
    url: str = ""
    alter: Callable[[Answer], Answer] = lambda answer: answer
    requests: list[str] = field(default_factory=list)
    credentials: list[str | None] = field(default_factory=list)
    may_answer: Event = field(default_factory=Event)

    def answer(self, method: str, endpoint: str, body: Any) -> Answer:
        """Return status and text for a request."""
        self.requests.append(f"{method} {endpoint}")
        self.may_answer.wait()
        return self.alter(self._answer(method, endpoint, body))

    def _answer(self, method: str, endpoint: str, body: Any) -> Answer:
        if (method, endpoint) == ("GET", "/api/v1/eth1/publicKeys"):
            return 200, json.dumps(list(self.keys))
        identifier = endpoint.removeprefix("/api/v1/eth1/sign/")
        if method != "POST" or identifier not in self.keys:
            return 404, "Resource not found"
        if re.fullmatch(r"0x([0-9a-f]{2})*", body["data"]) is None:
            return 400, "Bad Request"
        signature = self.keys[identifier].sign_msg_hash(keccak(hexstr=body["data"]))
        return 200, f"0x{signature.r:064x}{signature.s:064x}{signature.v + 27:02x}"


@contextmanager
def running(*private_keys: str) -> Iterator[FakeWeb3Signer]:
    """Serve one that holds these keys, on a free port."""
    held = [PrivateKey(bytes.fromhex(key[2:])) for key in private_keys]
    fake = FakeWeb3Signer({key.public_key.to_hex(): key for key in held})
    fake.may_answer.set()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._respond(None)

        def do_POST(self) -> None:
            self._respond(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _respond(self, body: Any) -> None:
            fake.credentials.append(self.headers["Authorization"])
            status, text = fake.answer(self.command, self.path, body)
            encoded = text.encode()
            self.send_response(status)
            self.send_header("Location", f"{fake.url}/elsewhere")  # means something with a redirect only
            self.send_header("Content-Length", str(len(encoded)))
            self.end_headers()
            self.wfile.write(encoded)

        def log_message(self, *_arguments: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        fake.url = f"http://127.0.0.1:{server.server_address[1]}"
        yield fake
        fake.may_answer.set()
        server.shutdown()
