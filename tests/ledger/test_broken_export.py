"""An export that fails while the client reads ends without its last chunk, on a real gunicorn."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection, IncompleteRead

import pytest

ANSWER_SECONDS = 60


@pytest.fixture
def port() -> Iterator[int]:
    """The port of a gunicorn as in production; connections wait in its backlog until it is up."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        bind = f"fd://{listening.fileno()}"
        command = [sys.executable, "-m", "gunicorn", "--config", "python:config.gunicorn", "--workers", "1"]
        server = subprocess.Popen(
            [*command, "--bind", bind, "tests.ledger.broken_export_wsgi"],
            pass_fds=[listening.fileno()],
            env={**os.environ, "PYTHONPATH": "."},
        )
        yield listening.getsockname()[1]
        server.terminate()
        assert server.wait() == 0


def test_a_client_reports_a_file_that_was_cut_off_and_the_next_export_has_a_place(port: int) -> None:
    for _ in range(3):
        connection = HTTPConnection("127.0.0.1", port, timeout=ANSWER_SECONDS)
        connection.request("GET", "/export", headers={"Host": "localhost"})
        response = connection.getresponse()
        assert (response.status, response.headers["Transfer-Encoding"]) == (200, "chunked")
        with pytest.raises(IncompleteRead) as cut:
            response.read()
        assert cut.value.partial.startswith(b"id,entryId,")
        connection.close()
