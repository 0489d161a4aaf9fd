"""The service behind the alerts' routes: it counts what Alertmanager sends to each."""

import json
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from dev.ports import free_port

ROUTES = PAGE, TICKET, HEARTBEAT = "page", "ticket", "heartbeat"


@dataclass(frozen=True)
class Notification:
    """One message of Alertmanager; it is about one rule, because messages are grouped by that."""

    route: str
    alert: str
    is_firing: bool
    at: float  # monotonic seconds
    summary: str
    runbook: str


@dataclass
class Receiver:
    """What came so far."""

    url: str = field(default_factory=lambda: f"http://127.0.0.1:{free_port()}")
    got: list[Notification] = field(default_factory=list)

    def serve(self) -> None:
        """Answer in a thread, until the process ends."""
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.take(self.path.strip("/"), json.loads(body))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_arguments: object) -> None:
                """Log nothing: the receiver remembers it."""

        server = ThreadingHTTPServer(("127.0.0.1", int(self.url.rpartition(":")[2])), Handler)
        Thread(target=server.serve_forever, daemon=True).start()

    def take(self, route: str, message: dict[str, Any]) -> None:
        """Remember a message of Alertmanager's webhook, version 4."""
        alerts = message["alerts"]
        firing = [one for one in alerts if one["status"] == "firing"]
        shown = (firing or alerts)[0]
        said = shown["annotations"]
        self.got.append(
            Notification(
                route, shown["labels"]["alertname"], bool(firing), time.monotonic(), said["summary"], said["runbook"]
            )
        )

    def since(self, moment: float, *routes: str) -> list[Notification]:
        """Return what came on some routes after a moment."""
        return [one for one in self.got if one.at >= moment and one.route in (routes or (PAGE, TICKET))]

    def open_alerts(self, ignored: Collection[str] = ()) -> set[str]:
        """Return the alerts that fired and did not end yet."""
        last = {one.alert: one.is_firing for one in self.got if one.route != HEARTBEAT}
        return {alert for alert, is_firing in last.items() if is_firing} - set(ignored)
