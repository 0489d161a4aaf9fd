"""A node that forwards requests to the local chain and misbehaves as a test requires: slow, wrong, malformed responses.

Providers of public chains do all of this; the local node does not.
"""

import gzip
import json
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import requests

# Maps method, parameters and the real result to the result that the node returns.
Alter = Callable[[str, list[Any], Any], Any]


def unaltered(_method: str, _params: list[Any], result: Any) -> Any:
    return result


def hiding_logs(method: str, _params: list[Any], result: Any) -> Any:
    return [] if method == "eth_getLogs" else result


def without_simulation(method: str, params: list[Any], result: Any) -> Any:
    """Neither simulate, nor respect another code of the sender: without code it returns nothing when it is called."""
    if method == "eth_call" and params[0].get("from") == params[0]["to"]:
        return "0x"
    return "nonsense" if method == "eth_simulateV1" else result


def lagging(blocks: int) -> Alter:
    """Have a final block that many blocks lower."""
    return lambda method, params, result: (
        result | {"number": hex(max(int(result["number"], 16) - blocks, 0))}
        if (method, params[:1]) == ("eth_getBlockByNumber", ["finalized"])
        else result
    )


@dataclass
class FakeNode:
    """The node's behaviour, and the methods of every batch it received."""

    upstream: str
    url: str = ""
    alter: Alter = unaltered
    raw: Callable[[list[dict[str, Any]]], tuple[int, bytes]] | None = None  # replaces HTTP status and body
    refuse: Callable[[list[dict[str, Any]]], bool] = lambda _batch: False  # batches to refuse with HTTP 413
    lacks: Collection[str] = ()  # methods that it answers with an error
    lacks_blocks: Collection[str] = ()  # the tags of blocks that it answers with an error
    swallow: str = ""  # a method that it does not forward; the result is 32 zero bytes
    asked: list[list[str]] = field(default_factory=list)
    connections: int = 0  # that it accepted
    gzips: bool = False
    truncates: bool = False  # it closes the connection in the middle of the body
    headers: dict[str, str] = field(default_factory=dict)  # in addition to the usual ones
    _may_answer: Event = field(default_factory=Event)

    def __post_init__(self) -> None:
        self._may_answer.set()

    @contextmanager
    def hung(self) -> Iterator[None]:
        """Accept requests, and answer them only after the `with` block."""
        self._may_answer.clear()
        try:
            yield
        finally:
            self._may_answer.set()

    def answer(self, body: bytes) -> tuple[int, bytes]:
        """Return HTTP status and body for a JSON-RPC batch, or for a call that is not in one."""
        asked = json.loads(body)
        batch = asked if isinstance(asked, list) else [asked]
        self._may_answer.wait()
        self.asked.append([request["method"] for request in batch])
        if self.refuse(batch):
            return 413, b""
        if self.raw is not None:
            return self.raw(batch)
        forwarded = [request for request in batch if request["method"] != self.swallow]
        answers: dict[int, Any] = {
            request["id"]: {"id": request["id"], "result": "0x" + "00" * 32}
            for request in batch
            if request not in forwarded
        }
        if forwarded:
            real_answers = requests.post(self.upstream, json=forwarded, timeout=10).json()
            answers |= {answer["id"]: answer for answer in real_answers}
        for request in batch:
            answer = answers[request["id"]]
            if request["method"] == "eth_getBlockByNumber" and request["params"][0] in self.lacks_blocks:
                answer.pop("result", None)
                answer["error"] = {"code": -39001, "message": "Unknown block"}
            if request["method"] in self.lacks:
                answer.pop("result", None)
                answer["error"] = {"code": -32601, "message": "the method does not exist/is not available"}
            if "result" in answer:
                answer["result"] = self.alter(request["method"], request["params"], answer["result"])
        return 200, json.dumps(list(answers.values()) if batch is asked else answers[asked["id"]]).encode()


@contextmanager
def _serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@contextmanager
def running(upstream: str) -> Iterator[FakeNode]:
    """Serve a fake node on a free port."""
    node = FakeNode(upstream)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # which would hold back the body for 40 ms

        def setup(self) -> None:
            super().setup()
            node.connections += 1

        def do_POST(self) -> None:
            status, body = node.answer(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(status)
            if node.gzips:
                body = gzip.compress(body)
                self.send_header("Content-Encoding", "gzip")
            for name, value in node.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if node.truncates else body)
            self.close_connection = node.truncates

        def log_message(self, *_arguments: object) -> None:
            """Log nothing."""

    with _serving(Handler) as node.url:
        yield node


@contextmanager
def trickling() -> Iterator[str]:
    """Serve a response that arrives one byte at a time and never ends; yields the URL."""
    done = Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Length", "1000000")
            self.end_headers()
            with suppress(ConnectionError):
                while not done.wait(0.02):
                    self.wfile.write(b" ")
                    self.wfile.flush()

        def log_message(self, *_arguments: object) -> None:
            """Log nothing."""

    with _serving(Handler) as url:
        yield url
        done.set()
