"""At web's own port requests that come slowly are cut, and take no thread meanwhile; a real gunicorn has one here."""

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPConnection, HTTPResponse

import pytest

ANSWER_SECONDS = 60
COMMAND = [sys.executable, "-m", "gunicorn", "--config", "python:config.gunicorn", "--workers", "1", "--threads", "1"]
WAITING = 40
HEAD = b"POST /v2/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
BODY_TO_COME = HEAD + b"Content-Length: 10\r\n\r\n"
PARTS = {
    "a part of the head": HEAD,
    "a head": BODY_TO_COME,
    "a part of the body": BODY_TO_COME + b'{"a',
    "a chunk": HEAD + b'Transfer-Encoding: chunked\r\n\r\n3\r\n{"a\r\n',
    "a part of a chunk": HEAD + b"Transfer-Encoding: chunked\r\n\r\n9\r\n{",
    "a large body without its end": HEAD + b"Content-Length: 300002\r\n\r\n" + b" " * 300_001,
}


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    yield from serving("tests.config.hasty_worker.HastyWorker")


@pytest.fixture(scope="module")
def patient_port() -> Iterator[int]:
    yield from serving("config.web_worker.WebWorker")


def serving(worker: str) -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        bind = f"fd://{listening.fileno()}"
        server = subprocess.Popen(
            [*COMMAND, "--worker-class", worker, "--bind", bind, "tests.sweepapi.api.strict_wsgi"],
            pass_fds=[listening.fileno()],
            env={**os.environ, "PYTHONPATH": "."},
        )
        yield listening.getsockname()[1]
        server.terminate()
        assert server.wait() == 0


def send(port: int, sent: bytes) -> socket.socket:
    caller = socket.create_connection(("127.0.0.1", port), timeout=ANSWER_SECONDS)
    caller.sendall(sent)
    return caller


def error_of(caller: socket.socket) -> tuple[int, str]:
    """Return the answer of a request, after which the connection ends."""
    with HTTPResponse(caller) as response:
        response.begin()
        answer = response.status, json.load(response)["error"]["code"]
    assert caller.recv(1) == b""
    return answer


def ask(port: int) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=ANSWER_SECONDS)
    connection.request("POST", "/v2/echo", b"{}", {"Content-Type": "application/json"})
    status = connection.getresponse().status
    connection.close()
    return status


@pytest.mark.parametrize("sent", PARTS.values(), ids=PARTS)
def test_a_request_that_does_not_arrive_in_time_is_cut(port: int, sent: bytes) -> None:
    with send(port, sent) as caller:
        assert error_of(caller) == (408, "request_timeout")


def test_a_head_and_a_body_that_never_stop_have_their_time_in_all(port: int) -> None:
    for start, piece in ((HEAD, b"X-More: 1\r\n"), (HEAD + b"Content-Length: 9999999\r\n\r\n", b" ")):
        with send(port, start) as caller:
            caller.settimeout(0.01)
            answer = b""
            while not answer:
                try:
                    caller.sendall(piece)
                    answer = caller.recv(1000)
                except TimeoutError:
                    continue
        assert answer.startswith(b"HTTP/1.1 408 ")


def test_a_connection_without_a_request_is_closed_without_an_answer(port: int) -> None:
    with send(port, b"") as caller:
        assert caller.recv(1) == b""


@pytest.mark.parametrize("sent", PARTS.values(), ids=PARTS)
def test_a_process_whose_callers_all_stall_serves_others_meanwhile(patient_port: int, sent: bytes) -> None:
    with ExitStack() as stalled:
        callers = [stalled.enter_context(send(patient_port, sent)) for _ in range(WAITING)]
        assert ask(patient_port) == 200
        for caller in callers:
            caller.settimeout(0)
            with pytest.raises(BlockingIOError):
                caller.recv(1)


def test_a_process_whose_callers_do_not_close_serves_others_meanwhile(patient_port: int) -> None:
    request = HEAD + b"Connection: close\r\nContent-Length: 2\r\n\r\n{}"
    with ExitStack() as stalled:
        for _ in range(WAITING):
            HTTPResponse(stalled.enter_context(send(patient_port, request))).begin()
        assert ask(patient_port) == 200


def test_a_caller_that_waits_to_be_told_sends_its_body_then(port: int) -> None:
    with send(port, HEAD + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n") as caller:
        assert caller.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        caller.sendall(b"{}")
        assert caller.recv(1000).startswith(b"HTTP/1.1 200 OK\r\n")


def test_requests_that_are_sent_at_once_are_answered_one_after_the_other(port: int) -> None:
    request = HEAD + b"Content-Length: 2\r\n\r\n{}"
    with send(port, request * 3 + HEAD) as caller:
        # All at once, because an HTTPResponse may read more than its own answer.
        answers = caller.makefile("rb").read()
    assert re.findall(rb"HTTP/1.1 (\d+)", answers) == [b"200", b"200", b"200", b"408"]
    assert answers.endswith(b"}")


def test_a_head_that_is_too_long_is_refused(port: int) -> None:
    with send(port, HEAD + b"X: " + b"x" * 70_000) as caller:
        assert error_of(caller) == (400, "invalid_request")
