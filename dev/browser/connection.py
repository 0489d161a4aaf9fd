"""The DevTools protocol over a pair of pipes: commands, their answers, and the events that come between them."""

import json
import os
import select
import time
from collections.abc import Callable
from itertools import count
from typing import Any

from dev.processes.errors import ChildExitedError, LocalWorldError, WaitTimeoutError

SECONDS = 30  # within which the browser answers
_END = b"\0"  # of a message
_CHUNK = 2**20


class ProtocolError(LocalWorldError):
    """The browser refused a command."""


class Connection:
    """Commands to the browser, or to the page that a session is attached to."""

    def __init__(self, commands: int, messages: int) -> None:
        self._commands, self._messages = os.fdopen(commands, "wb"), messages
        self._numbers = count(1)
        self._received = b""
        self._answers: dict[int, dict[str, Any]] = {}
        self.listeners: dict[str, Callable[[str, dict[str, Any]], None]] = {}  # by session, of a method and parameters

    def close(self) -> None:
        """Close the pipes, on which Chromium exits."""
        self._commands.close()
        os.close(self._messages)

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
        """Send a command and return its result."""
        number = next(self._numbers)
        of_page = {"sessionId": session} if session else {}
        command = {"id": number, "method": method, "params": parameters, **of_page}
        self._commands.write(json.dumps(command).encode() + _END)
        self._commands.flush()
        self.receive_until(lambda: number in self._answers, what=method)
        answer = self._answers.pop(number)
        if "error" in answer:
            raise ProtocolError(f"{method}: {answer['error']['message']}")
        result: dict[str, Any] = answer["result"]
        return result

    def receive_until(self, condition: Callable[[], bool], *, what: str) -> None:
        """Take messages until the condition holds."""
        deadline = time.monotonic() + SECONDS
        while not condition():
            ready, _, _ = select.select([self._messages], [], [], max(deadline - time.monotonic(), 0))
            if not ready:
                raise WaitTimeoutError(f"{what}: not within {SECONDS} seconds")
            self._receive()

    def _receive(self) -> None:
        chunk = os.read(self._messages, _CHUNK)
        if not chunk:
            raise ChildExitedError("Chromium exited; var/chromium.log has its last words")
        *messages, self._received = (self._received + chunk).split(_END)
        for message in map(json.loads, messages):
            if "id" in message:
                self._answers[message["id"]] = message
            elif message.get("sessionId") in self.listeners:
                self.listeners[message["sessionId"]](message["method"], message["params"])
