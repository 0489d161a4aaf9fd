"""The benchmark of the API: its HTTP connections, which parse little of what a server answers."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from dev.bench_api.connections import HOST, Answered, Request, closed_loop, open_loop, run

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\ncontent-length: 5\r\n\r\nhello"
FAILED = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"


@contextmanager
def serving(*answers: list[bytes]) -> Iterator[int]:
    """Give the pieces of each answer to one request; after an empty one, close the connection. Yields the port."""
    waiting = iter(answers)
    with socket.create_server((HOST, 0)) as listener:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection:
                        answer(connection)

        def answer(connection: socket.socket) -> None:
            while connection.recv(65_536):
                pieces = next(waiting, [OK])
                for piece in pieces:
                    connection.sendall(piece)
                if not pieces:
                    return

        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]


def asked(port: int, *requests: Request) -> list[Answered]:
    return run(lambda: closed_loop(port, iter(requests), connections=1))


def test_an_answer_has_its_status_and_its_body_in_whatever_pieces_it_comes() -> None:
    with serving([OK[:20], OK[20:-3], OK[-3:]], [FAILED]) as port:
        answers = asked(port, Request("read", b"first"), Request("read", b"second"))
    assert [(answered.status, answered.body) for answered in answers] == [(200, b"hello"), (503, b"")]


def test_what_is_repeatable_is_sent_again_if_the_connection_was_closed() -> None:
    with serving([OK], []) as port:
        answers = asked(port, Request("read", b"first"), Request("read", b"second"))
    assert [answered.status for answered in answers] == [200, 200]


def test_what_is_not_repeatable_is_sent_once() -> None:
    with serving([]) as port:
        (answered,) = asked(port, Request("build", b"once", is_repeatable=False))
    assert (answered.status, answered.body) == (0, b"")


def test_an_open_loop_sends_at_its_rate_and_counts_from_when_a_request_was_due() -> None:
    with serving() as port:
        requests = (Request("read", b"request") for _ in range(100))
        answers = run(lambda: open_loop(port, requests, a_second=50, seconds=0.2))
    assert [answered.status for answered in answers] == [200] * 10
    assert all(answered.seconds > 0 for answered in answers)
