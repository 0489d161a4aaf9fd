"""Serves /healthz, /readyz and /metrics from a thread of the first process of a group, or of a process of its own.

The answers come from memory, or from the group's files, so they take no longer while PostgreSQL, Redis or a provider is
down. ``/healthz`` says only that the process is alive.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from threading import Thread

from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from sweepapi.monitoring import readiness, sharing
from sweepapi.monitoring.readiness import Readiness

JSON = "application/json"
CLIENT_TIMEOUT_SECONDS = 5
Answer = tuple[HTTPStatus, str, bytes]  # with the content type


@dataclass(frozen=True)
class HealthSource:
    """Where the answers come from."""

    readiness: Callable[[], Readiness]
    registry: Callable[[], CollectorRegistry]


def start(bind: str) -> None:
    """Listen on ``host:port`` for a group; call this before any metric is defined, and before any fork.

    Raises ``ValueError`` if that is malformed, and ``OSError`` if it is taken.
    """
    place = _place(bind)
    folder = sharing.share()
    _serve(place, HealthSource(lambda: readiness.read(folder), lambda: _registry_of(folder)))


def start_alone(bind: str) -> None:
    """Listen for a single process, whose metrics are in its memory; raises as ``start``."""
    _serve(_place(bind), HealthSource(lambda: readiness.decide(REGISTRY.collect()), lambda: REGISTRY))


def _place(bind: str) -> tuple[str, int]:
    host, separator, port = bind.rpartition(":")
    if not separator or not port.isdecimal():
        raise ValueError(f"HEALTH_BIND is {bind!r}; it must be host:port.")
    return host, int(port)


def _registry_of(folder: Path) -> CollectorRegistry:
    registry = CollectorRegistry()
    MultiProcessCollector(registry, str(folder))  # type: ignore[no-untyped-call]
    return registry


def _serve(place: tuple[str, int], health: HealthSource) -> None:
    server = _Server(place, _handler(health))
    # A child would keep the port after its parent's end, and not answer.
    os.register_at_fork(after_in_child=server.socket.close)
    Thread(target=server.serve_forever, name="health", daemon=True).start()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def server_bind(self) -> None:
        """Bind as any server; HTTPServer would also look its own name up in the DNS."""
        TCPServer.server_bind(self)


def _healthz(_health: HealthSource) -> Answer:
    return HTTPStatus.OK, JSON, _encoded({"status": "alive"})


def _readyz(health: HealthSource) -> Answer:
    found = health.readiness()
    checks = {name: "passed" if passed else "failed" for name, passed in found.checks.items()}
    status = HTTPStatus.OK if found.is_ready else HTTPStatus.SERVICE_UNAVAILABLE
    return status, JSON, _encoded({"status": found.status, "checks": checks})


def _metrics(health: HealthSource) -> Answer:
    return HTTPStatus.OK, CONTENT_TYPE_LATEST, generate_latest(health.registry())


ENDPOINTS: dict[str, Callable[[HealthSource], Answer]] = {
    "/healthz": _healthz,
    "/readyz": _readyz,
    "/metrics": _metrics,
}


def _encoded(content: object) -> bytes:
    return json.dumps(content).encode()


def _handler(health: HealthSource) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = CLIENT_TIMEOUT_SECONDS
        server_version, sys_version = "sweepapi", ""

        def do_GET(self) -> None:
            endpoint = ENDPOINTS.get(self.path)
            if endpoint is None:
                self.send_error(HTTPStatus.NOT_FOUND)
                return
            status, content_type, body = endpoint(health)
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            """Log nothing: these requests come every few seconds."""

    return Handler
