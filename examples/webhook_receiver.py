"""A receiver of webhooks: it verifies each message, handles it once, and keeps the newest one about each sweep.

    SWEEP_WEBHOOK_SECRET=whsec_… python webhook_receiver.py 8081

It needs only Python's standard library; a library of standardwebhooks.com verifies as well. Put a server with TLS in
front of it. Messages arrive at least once and in any order: so store what this keeps in memory in your database, in one
transaction with what you do about a message, and answer only then. An answer other than 2xx has it sent again.
"""

import base64
import hmac
import json
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any

MAX_AGE_SECONDS = 300
MAX_BODY_BYTES = 1024 * 1024


def is_genuine(secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    """Return whether we signed this body, as it arrived, within the last minutes."""
    sent_at, signatures = headers.get("webhook-timestamp", ""), headers.get("webhook-signature", "")
    if not sent_at.isdecimal() or abs(time.time() - int(sent_at)) > MAX_AGE_SECONDS:
        return False
    content = f"{headers.get('webhook-id', '')}.{sent_at}.".encode() + body
    mac = hmac.digest(base64.b64decode(secret.removeprefix("whsec_")), content, "sha256")
    expected = "v1," + base64.b64encode(mac).decode()
    # After a rotation of the secret there are two, of which one has to match.
    return any(hmac.compare_digest(expected.encode(), one.encode()) for one in signatures.split(" "))


@dataclass
class Inbox:
    """What arrived: the ids of all messages, and the newest message about each sweep."""

    seen: set[str] = field(default_factory=set)
    newest: dict[str, dict[str, Any]] = field(default_factory=dict)  # by the ids of sweeps
    _lock: Any = field(default_factory=Lock)

    def take(self, message_id: str, message: dict[str, Any]) -> None:
        """Keep a message, unless it arrived before or a later one about its sweep did."""
        with self._lock:
            if message_id in self.seen:
                return
            self.seen.add(message_id)
            data = message["data"]
            if "sweepId" not in data:  # such as a ping
                return
            known = self.newest.get(data["sweepId"])
            if known is None or known["sequence"] < data["sequence"]:
                self.newest[data["sweepId"]] = data
                # `final` says that nothing reverses this; ship goods then, and show the rest to your users.
                print(data["sweepId"], message["type"], "final" if data["final"] else "for now", flush=True)


def serve(port: int, secret: str) -> None:
    """Receive until the process is stopped."""
    inbox = Inbox()

    class Handler(BaseHTTPRequestHandler):
        timeout = 10

        def do_POST(self) -> None:
            length = self.headers.get("Content-Length", "")
            is_read = length.isdecimal() and int(length) <= MAX_BODY_BYTES
            body = self.rfile.read(int(length)) if is_read else b""
            if is_read and is_genuine(secret, self.headers, body):
                inbox.take(self.headers["webhook-id"], json.loads(body))
                self.send_response(204)
            else:
                self.send_response(400)
            self.end_headers()

    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[1]), os.environ["SWEEP_WEBHOOK_SECRET"])
