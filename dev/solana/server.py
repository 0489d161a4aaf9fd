"""Serves the local cluster over HTTP: JSON-RPC 2.0, single requests and batches."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from dev.solana.errors import InvalidRequestError, MethodNotFoundError, ParseError, RpcError
from dev.solana.methods import METHODS
from dev.solana.node import Node
from dev.solana.params import Params


def answer(node: Node, body: bytes) -> bytes:
    """Return the response body for a request body."""
    try:
        request = json.loads(body)
    except ValueError:
        return _encode(_failure(None, ParseError("Parse error")))
    if isinstance(request, list):
        if not request:
            return _encode(_failure(None, InvalidRequestError("Invalid request")))
        return _encode([_answer_one(node, each) for each in request])
    return _encode(_answer_one(node, request))


def call(node: Node, method: str, params: object) -> object:
    """Call a method and return its result; raises RpcError."""
    if method not in METHODS:
        raise MethodNotFoundError("Method not found")
    with node.bank.lock:
        return METHODS[method](node, Params(params))


def _answer_one(node: Node, request: object) -> dict[str, Any]:
    match request:
        case {"jsonrpc": "2.0", "id": int() | str() as identifier, "method": str(method), **rest}:
            try:
                result = call(node, method, rest.get("params", []))
            except RpcError as error:
                return _failure(identifier, error)
            return {"jsonrpc": "2.0", "result": result, "id": identifier}
    return _failure(None, InvalidRequestError("Invalid request"))


def _failure(identifier: int | str | None, error: RpcError) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "error": error.describe(), "id": identifier}


def _encode(content: object) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode()


def create_server(node: Node, port: int = 0) -> ThreadingHTTPServer:
    """Listen on the loopback interface, by default on a free port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = answer(node, self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    return server


@contextmanager
def serving(node: Node) -> Iterator[str]:
    """Serve a node in a thread; yields its URL."""
    with create_server(node) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
