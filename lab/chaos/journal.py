"""What the driver asked, got and sent, one JSON object per line: written before the next step, and never changed.

The checker reads nothing else about the driver, so its verdict can be repeated from the file.
"""

import json
import os
import time
from pathlib import Path
from threading import Lock
from typing import Any

Entry = dict[str, Any]
JOURNAL = "journal.jsonl"


class Journal:
    """An append-only file; each entry gets the next number."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        self._lock = Lock()
        self._next = 0
        self.sweeps: list[str] = []  # that builds returned

    def add(self, kind: str, **facts: Any) -> int:  # noqa: ANN401 - whatever JSON can say
        """Write an entry, and return its number."""
        with self._lock:
            number = self._next
            line = json.dumps({"n": number, "at": round(time.time(), 3), "kind": kind, **facts})
            os.write(self._file, f"{line}\n".encode())
            self._next += 1
            if kind == "built":
                self.sweeps.append(facts["sweep"])
        return number

    def close(self) -> None:
        os.close(self._file)


def read(path: Path) -> list[Entry]:
    """Return the entries in their order."""
    return [json.loads(line) for line in path.read_text().splitlines()]
