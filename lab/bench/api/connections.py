"""HTTP connections that take little of the machine which they share with the server: no headers are parsed but two."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

HOST = "127.0.0.1"
NO_ANSWER = 0
_END_OF_HEAD = b"\r\n\r\n"
_LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)", re.IGNORECASE)
_STATUS = slice(9, 12)  # of "HTTP/1.1 200 OK"


class Request(NamedTuple):
    """What to send, and the name under which it is counted."""

    kind: str
    sent: bytes
    is_repeatable: bool = True
    reference: str = ""  # the partner's own, of a build


class Answered(NamedTuple):
    """What became of a request; the status is ``NO_ANSWER`` if the connection ended before one."""

    request: Request
    status: int
    seconds: float
    body: bytes


class Connection(asyncio.Protocol):
    """A connection that is kept alive, for one request at a time."""

    def __init__(self) -> None:
        self._received = bytearray()
        self._waiting: asyncio.Future[tuple[int, bytes]] | None = None
        self._transport: asyncio.Transport | None = None
        self.is_closed = False

    @classmethod
    async def open(cls, port: int) -> "Connection":
        _, connection = await asyncio.get_running_loop().create_connection(cls, HOST, port)
        return connection

    async def ask(self, sent: bytes) -> tuple[int, bytes]:
        """Return status and body; raises ConnectionError if the connection ends first."""
        if self.is_closed or self._transport is None:
            raise ConnectionResetError
        self._waiting = asyncio.get_running_loop().create_future()
        self._transport.write(sent)
        return await self._waiting

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # a socket's

    def data_received(self, data: bytes) -> None:
        """Answer the request that waits once its response is whole."""
        self._received += data
        end = self._received.find(_END_OF_HEAD)
        if end < 0:
            return
        length = _LENGTH.search(self._received, 0, end)
        start = end + len(_END_OF_HEAD)
        if length is None:
            self.close()  # a response of unknown length, which no endpoint here has
            return
        stop = start + int(length[1])
        if len(self._received) >= stop and self._waiting is not None:
            answer = int(self._received[_STATUS]), bytes(self._received[start:stop])
            del self._received[:stop]
            self._waiting.set_result(answer)

    def connection_lost(self, _error: Exception | None) -> None:
        self.is_closed = True
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(ConnectionResetError())


@dataclass
class Asker:
    """Asks on one connection after the other: a server may close one that is kept alive, as gunicorn does now and then.

    What is repeatable is then sent again, as HTTP allows.
    """

    port: int
    connection: Connection | None = None

    async def ask(self, request: Request, *, since: float | None = None) -> Answered:
        """Return the answer, timed from ``since`` by the loop's clock, or from now."""
        started = time.monotonic() if since is None else since
        for attempt in range(2):
            if self.connection is None or self.connection.is_closed:
                self.connection = await Connection.open(self.port)
            try:
                status, body = await self.connection.ask(request.sent)
            except ConnectionError:
                if attempt or not request.is_repeatable:
                    break
            else:
                return Answered(request, status, time.monotonic() - started, body)
        return Answered(request, NO_ANSWER, time.monotonic() - started, b"")

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()


async def closed_loop(port: int, requests: Iterator[Request], *, connections: int) -> list[Answered]:
    """Send these requests over that many connections, each the next one as soon as it has an answer."""
    answers: list[Answered] = []

    async def work(asker: Asker) -> None:
        answers.extend([await asker.ask(request) for request in requests])
        asker.close()

    await asyncio.gather(*(work(Asker(port)) for _ in range(connections)))
    return answers


async def open_loop(port: int, requests: Iterator[Request], *, a_second: float, seconds: float) -> list[Answered]:
    """Send requests at a fixed rate, however far the server is, each timed from when it was due."""
    free: list[Asker] = []
    tasks: list[asyncio.Task[Answered]] = []

    async def send(request: Request, due: float) -> Answered:
        asker = free.pop() if free else Asker(port)
        answered = await asker.ask(request, since=due)
        free.append(asker)
        return answered

    started = time.monotonic()
    due_times = (started + number / a_second for number in range(int(a_second * seconds)))
    for due, request in zip(due_times, requests, strict=False):
        await asyncio.sleep(max(due - time.monotonic(), 0))
        tasks.append(asyncio.create_task(send(request, due)))
    answers = await asyncio.gather(*tasks)
    for asker in free:
        asker.close()
    return list(answers)


def run(work: Callable[[], Awaitable[list[Answered]]]) -> list[Answered]:
    """Run a loop to its end."""

    async def main() -> list[Answered]:
        return await work()

    return asyncio.run(main())
