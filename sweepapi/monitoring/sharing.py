"""Lets the processes of a group count into files, so that the first of them can serve the metrics of all.

A group is gunicorn with its web processes, Celery with its pool, or beat alone. Each process has a *slot*, and the
process that replaces it takes the slot over: its counters go on, and the files stay few however often processes are
replaced. Under process ids, which is the library's default, every process would leave its files behind.
"""

import fcntl
import os
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir, mkdtemp

from prometheus_client import values

PREFIX = "sweepapi-metrics-"
STARTING_SECONDS = 60.0  # in which a group has locked its folder


@dataclass
class _Process:
    slot: str = "first"
    lock: int | None = None  # an open file; the group's processes inherit it


_process = _Process()


def share() -> Path:
    """Count into files of a new folder, and return it; call this before any metric is defined, and before any fork."""
    remove_leftovers()
    folder = Path(mkdtemp(prefix=PREFIX))
    _process.lock = os.open(folder, os.O_RDONLY)
    fcntl.flock(_process.lock, fcntl.LOCK_EX)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
    values.ValueClass = values.MultiProcessValue(lambda: _process.slot)  # type: ignore[no-untyped-call]
    return folder


def use_slot(number: int) -> None:
    """Count under this number, which no other running process of the group has."""
    _process.slot = str(number)


def remove_leftovers() -> None:
    """Remove the folders of groups that ended; the kernel holds a group's lock until its last process is gone."""
    for folder in Path(gettempdir()).glob(f"{PREFIX}*"):
        with suppress(FileNotFoundError, PermissionError):  # another group removed it, or it is another user's
            if time.time() - folder.stat().st_mtime > STARTING_SECONDS and not _is_locked(folder):
                shutil.rmtree(folder)


def _is_locked(folder: Path) -> bool:
    opened = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(opened)
    return False
