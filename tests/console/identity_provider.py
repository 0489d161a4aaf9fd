"""An identity provider (OpenID Connect) that knows one person, with the three answers that a login asks for."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@dataclass
class IdentityProvider:
    """What it says about the person; tests change it."""

    url: str
    person: dict[str, Any] = field(default_factory=dict)

    @property
    def answers(self) -> dict[str, Any]:
        """What each path answers."""
        endpoints = {"authorization_endpoint": "authorize", "token_endpoint": "token", "userinfo_endpoint": "person"}
        found = {name: f"{self.url}/{path}" for name, path in endpoints.items()}
        configuration = {**found, "issuer": self.url, "jwks_uri": f"{self.url}/keys"}
        token = {"access_token": "one", "token_type": "Bearer"}
        return {"/.well-known/openid-configuration": configuration, "/token": token, "/person": self.person}


@contextmanager
def running() -> Iterator[IdentityProvider]:
    """Serve it on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(provider.answers[self.path.partition("?")[0]]).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.do_GET()

        def log_message(self, *_arguments: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        provider = IdentityProvider(f"http://127.0.0.1:{server.server_address[1]}")
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield provider
        server.shutdown()
