"""A link to an engine that a test can break: it passes bytes on, late, or not at all, or closes connections."""

import socket
import threading
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from types import TracebackType
from typing import Self

CHUNK_BYTES = 65_536


class End(Enum):
    """How a connection ends in the middle of an exchange."""

    UNDELIVERED = auto()
    UNANSWERED = auto()  # the engine has done what it was asked for, and the connection closes
    SILENT = auto()  # the same, and the connection stays open


@dataclass
class Cut:
    """Ends the connection whose client sends these bytes, after so many that pass."""

    marker: bytes
    passes: int
    end: End


class FaultyLink:
    """Listens on a loopback port, or on a unix socket if ``path`` is given, and connects each client to the target."""

    def __init__(self, target: tuple[str, int], *, path: Path | None = None) -> None:
        self._target = target
        self.folder = path.parent if path else None
        self._listener = socket.socket(socket.AF_UNIX) if path else socket.socket()
        self._listener.bind(str(path) if path else ("127.0.0.1", 0))
        self._listener.listen(100)
        self._open = threading.Event()
        self._open.set()
        self._closing = threading.Event()
        self._sockets = set[socket.socket]()
        self._lost = set[socket.socket]()
        self._unanswered = set[socket.socket]()
        self._refuses = False
        self._delay_seconds = 0.0
        self._held = set[socket.socket]()
        self._cut: Cut | None = None

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._open.set()
        self._listener.shutdown(socket.SHUT_RDWR)  # which ends the wait of `accept`
        self._listener.close()
        self._close(*self._sockets)

    @property
    def port(self) -> int:
        port: int = self._listener.getsockname()[1]
        return port

    @property
    def held(self) -> int:
        """The number of connections with bytes that are not passed on."""
        return len(self._held)

    @property
    def has_cut(self) -> bool:
        """Whether the cut that was asked for has happened."""
        return self._cut is None

    def work(self) -> None:
        """End every fault; what was held back is passed on."""
        self._refuses, self._delay_seconds, self._cut = False, 0.0, None
        self._open.set()

    def hang(self) -> None:
        """Accept connections and bytes, and pass nothing on."""
        self._open.clear()

    def refuse(self) -> None:
        """Close all connections, and each new one at once."""
        self._refuses = True
        self._close(*self._sockets)

    def delay(self, seconds: float) -> None:
        """Pass on each piece this much later."""
        self._delay_seconds = seconds

    def lose(self) -> None:
        """Pass nothing on any more for those who are connected, and say nothing; new connections work."""
        self._lost |= self._sockets

    def cut(self, marker: bytes, *, passes: int, end: End) -> None:
        """End one connection, see ``Cut``."""
        self._cut = Cut(marker, passes, end)

    def _close(self, *sockets: socket.socket) -> None:
        for each in sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        for known in (self._sockets, self._lost, self._unanswered):
            known.difference_update(sockets)

    def _accept(self) -> None:
        while not self._closing.is_set():
            with suppress(OSError):  # the listener was closed, or the engine is away
                client, _ = self._listener.accept()
                if self._refuses:
                    client.close()
                else:
                    self._connect(client)

    def _connect(self, client: socket.socket) -> None:
        try:
            engine = socket.create_connection(self._target)
        except OSError:
            client.close()
            raise
        self._sockets |= {client, engine}
        for source, sink in ((client, engine), (engine, client)):
            threading.Thread(target=self._pump, args=(source, sink, source is client), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket, is_client: bool) -> None:  # noqa: FBT001 a thread's arguments
        with suppress(OSError):  # either side was closed
            while data := source.recv(CHUNK_BYTES):
                self._closing.wait(self._delay_seconds)
                self._held.add(source)
                self._open.wait()
                self._held.discard(source)
                if is_client and self._is_cut(data):
                    self._end(data, source, sink)
                elif source in self._unanswered:
                    break
                elif source not in self._lost:
                    sink.sendall(data)
        self._close(source, sink)

    def _is_cut(self, data: bytes) -> bool:
        if self._cut is None or self._cut.marker not in data:
            return False
        self._cut.passes -= 1
        return self._cut.passes < 0

    def _end(self, data: bytes, client: socket.socket, engine: socket.socket) -> None:
        cut, self._cut = self._cut, None
        assert cut is not None
        match cut.end:
            case End.UNDELIVERED:
                self._close(client, engine)
            case End.UNANSWERED:
                self._unanswered.add(engine)
                engine.sendall(data)
            case End.SILENT:
                self._lost |= {client, engine}
                engine.sendall(data)
