"""Serves the swap API over HTTP, with tokens and prices, and misbehaves as a test requires: slow, down or hostile."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, urlsplit

from dev.processes.errors import NodeError
from dev.solana.swap_api.orders import Order, RefusedError, order_of
from dev.solana.swap_api.tokens import PRICE_PATH, TAG_PATH, priced, verified

Body: TypeAlias = dict[str, Any]
Json: TypeAlias = Any  # of an order an object, of the lists a list
Query: TypeAlias = Mapping[str, str]


@dataclass(frozen=True)
class Request:
    """What the service sent."""

    path: str
    query: list[tuple[str, str]]
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Response:
    """What it is sent; the parts of the body one by one, if a test replaces it."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    parts: Iterable[bytes] | None = None  # instead of a body of known length


BUILD_PATH = "/build"


def unaltered(_query: Query, body: Body) -> Body:
    return body


def as_is(_path: str, body: Json) -> Json:
    return body


@dataclass
class LocalSwapApi:
    """Who builds the answers, and how a test changes them."""

    build: Callable[[Order], Body]
    listed: Callable[[], Iterable[str]] = tuple  # the mints that are verified
    dollars: Callable[[str], tuple[float, int] | None] = lambda _mint: None  # the price and the decimals of a token
    url: str = ""  # set when it is served
    alter: Callable[[Query, Body], Body] = unaltered  # the body of a quote
    replace: Callable[[], Response] | None = None  # the whole response to any request
    answer: Callable[[Query], Response | None] = lambda _query: None  # the whole response to some orders
    alter_tokens: Callable[[str, Json], Json] = as_is  # the body of a list or of prices, by its path
    answer_tokens: Callable[[str], Response | None] = lambda _path: None  # the whole response instead of these
    admit: Callable[[], Mapping[str, str] | Response] = dict  # the headers of the response, or a refusal instead of it
    observe: Callable[[Request, Response | None], None] = lambda _request, _response: None  # None: a test changed it
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

    def respond(self, request: Request) -> Response:
        self._may_answer.wait()
        if self.replace is not None:
            self.observe(request, None)
            return self.replace()
        admitted = self.admit()
        if isinstance(admitted, Response):
            self.observe(request, None)
            return admitted
        query = dict(request.query)
        is_order = request.path not in (TAG_PATH, PRICE_PATH)
        answered = self.answer(query) if is_order else self.answer_tokens(request.path)
        if answered is not None:
            self.observe(request, None)
            return answered
        status, body = self._honest(request, query)
        altered = self._altered(request, query, deepcopy(body)) if status is HTTPStatus.OK else body
        response = Response(status, json.dumps(altered).encode(), admitted)
        self.observe(request, response if altered == body else None)
        return response

    def _altered(self, request: Request, query: Query, body: Json) -> Json:
        return self.alter(query, body) if request.path == BUILD_PATH else self.alter_tokens(request.path, body)

    def _honest(self, request: Request, query: Query) -> tuple[HTTPStatus, Json]:
        if request.path not in (BUILD_PATH, TAG_PATH, PRICE_PATH):
            return HTTPStatus.NOT_FOUND, {"error": "Not found"}
        if not request.headers.get("x-api-key"):
            return HTTPStatus.UNAUTHORIZED, {"error": "Unauthorized"}
        try:
            return HTTPStatus.OK, self._answered(request.path, query)
        except RefusedError as refused:
            return HTTPStatus.BAD_REQUEST, {"error": str(refused)}
        except NodeError as error:
            return HTTPStatus.INTERNAL_SERVER_ERROR, {"error": str(error)}

    def _answered(self, path: str, query: Query) -> Json:
        if path == TAG_PATH:
            return verified(query, self.listed())
        return priced(query, self.dollars) if path == PRICE_PATH else self.build(order_of(query))


def create_server(api: LocalSwapApi, port: int = 0) -> ThreadingHTTPServer:
    """Listen on the loopback interface, by default on a free port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def handle(self) -> None:
            with suppress(ConnectionError):  # a client need not wait for the end of an answer
                super().handle()

        def do_GET(self) -> None:
            url = urlsplit(self.path)
            query = parse_qsl(url.query, keep_blank_values=True)
            response = api.respond(
                Request(url.path, query, {name.lower(): value for name, value in self.headers.items()})
            )
            self.send_response(response.status)
            for name, value in response.headers.items():
                self.send_header(name, value)
            if response.parts is None:
                self.send_header("Content-Length", str(len(response.body)))
            else:
                self.close_connection = True
            self.end_headers()
            for part in [response.body] if response.parts is None else response.parts:
                self.wfile.write(part)
                self.wfile.flush()

        def log_message(self, *_arguments: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    api.url = f"http://127.0.0.1:{server.server_address[1]}"
    return server


@contextmanager
def serving(api: LocalSwapApi) -> Iterator[LocalSwapApi]:
    """Serve in a thread."""
    with create_server(api) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield api
        server.shutdown()
