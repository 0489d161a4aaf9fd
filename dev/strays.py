"""Ends processes that descend from our children but outlived them: a worker's worker, a daemon that a command started.

Every child's environment names the supervisor's folder and is inherited by whatever it starts. The environment that a
process was born with stands in /proc, so a stray is known without trusting a pid that somebody wrote down.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

MARKER = "DEV_SUPERVISOR_FOLDER"


def end_strays(folder: Path) -> None:
    """Kill whatever bears the folder's mark; where there is no /proc, nothing is found."""
    for pid in _marked(folder):
        with suppress(ProcessLookupError):  # it ended by itself meanwhile
            os.kill(pid, signal.SIGKILL)


def _marked(folder: Path) -> Iterator[int]:
    mark = f"{MARKER}={folder}".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(FileNotFoundError, ProcessLookupError, PermissionError):  # gone, or not ours
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                yield int(entry.name)
