"""Kills processes that outlived the child that started them: a worker's worker, a daemon started by a command.

Every child's environment names the supervisor's folder, and whatever the child starts inherits it. /proc shows the
environment that a process started with, so an orphan is found without trusting a recorded pid.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

MARKER = "DEV_SUPERVISOR_FOLDER"


def kill_orphans(folder: Path) -> None:
    """Kill every process whose environment names the folder; without /proc it finds none."""
    for pid in _marked(folder):
        with suppress(ProcessLookupError):  # it has exited
            os.kill(pid, signal.SIGKILL)


def _marked(folder: Path) -> Iterator[int]:
    mark = f"{MARKER}={folder}".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(FileNotFoundError, ProcessLookupError, PermissionError):  # it has exited, or is not ours
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                yield int(entry.name)
