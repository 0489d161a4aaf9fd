"""A caller whose body is refused unread can still write all of it and then read the answer, on a real gunicorn."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse

import pytest

from config.incoming import MAX_BODY_BYTES

LARGE = b" " * 10_000_000  # more than the kernel buffers, so that the caller still writes at the refusal
PIECE_BYTES = 16 * 1024
ANSWER_SECONDS = 60
FRAMINGS = ("Content-Length", "Transfer-Encoding")
REFUSALS = [
    ("/v2/echo", "application/json", (413, "payload_too_large")),
    ("/v2/echo", "text/plain", (415, "unsupported_media_type")),
    ("/v2/partner", "application/json", (401, "missing_api_key")),
    ("/v2/nothing", "application/json", (404, "not_found")),
]


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The port of a gunicorn as in production; connections wait in its backlog until it is up."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        bind = f"fd://{listening.fileno()}"
        command = [sys.executable, "-m", "gunicorn", "--config", "python:config.gunicorn", "--workers", "1"]
        server = subprocess.Popen(
            [*command, "--bind", bind, "tests.sweepapi.api.strict_wsgi"],
            pass_fds=[listening.fileno()],
            env={**os.environ, "PYTHONPATH": "."},
        )
        yield listening.getsockname()[1]
        server.terminate()
        assert server.wait() == 0


@pytest.fixture
def connection(port: int) -> Iterator[HTTPConnection]:
    opened = HTTPConnection("127.0.0.1", port, timeout=ANSWER_SECONDS)
    yield opened
    opened.close()


def write(connection: HTTPConnection, path: str, body: bytes, framing: str, **headers: str) -> None:
    """Write a whole request, its body in pieces, before anything is read."""
    length = str(len(body)) if framing == "Content-Length" else "chunked"
    pieces = (body[start : start + PIECE_BYTES] for start in range(0, len(body), PIECE_BYTES))
    connection.request("POST", path, pieces, {framing: length, **headers}, encode_chunked=length == "chunked")


def error_of(response: HTTPResponse) -> tuple[int, str]:
    return response.status, json.load(response)["error"]["code"]


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize(("path", "content_type", "expected"), REFUSALS)
def test_a_caller_reads_the_refusal_and_keeps_the_connection(
    connection: HTTPConnection, path: str, content_type: str, expected: tuple[int, str], framing: str
) -> None:
    write(connection, path, LARGE, framing, **{"Content-Type": content_type})
    own_socket = connection.sock
    assert error_of(connection.getresponse()) == expected
    write(connection, "/v2/echo", b"{}", framing, **{"Content-Type": "application/json"})
    assert connection.getresponse().status == 200
    assert connection.sock is own_socket


@pytest.mark.parametrize("framing", FRAMINGS)
def test_a_caller_that_closes_afterwards_reads_the_refusal_without_a_reset(
    connection: HTTPConnection, framing: str
) -> None:
    write(connection, "/v2/nothing", LARGE, framing, Connection="close")
    with connection.sock.dup() as own_socket:
        assert error_of(connection.getresponse()) == (404, "not_found")
        assert own_socket.recv(1) == b""


@pytest.mark.parametrize("body", [b"not-a-size\r\n", b"5\r\nabc", b"5\r\nabcdefgh\r\n", b"0\r\nbad trailer\r\n\r\n"])
def test_a_chunked_body_that_is_malformed_or_cut_off_is_an_invalid_request(port: int, body: bytes) -> None:
    head = b"POST /v2/echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=ANSWER_SECONDS) as caller:
        caller.sendall(head + body)
        caller.shutdown(socket.SHUT_WR)
        response = HTTPResponse(caller)
        response.begin()
        assert error_of(response) == (400, "invalid_request")


def test_a_body_above_the_bound_is_refused_before_it_ends(port: int) -> None:
    head = b"POST /v2/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=ANSWER_SECONDS) as caller:
        caller.sendall(head + b" " * (MAX_BODY_BYTES + 1))
        response = HTTPResponse(caller)
        response.begin()
        assert error_of(response) == (413, "payload_too_large")
        assert response.read() == b""
