"""Removes the files of the benchmark's database, which no later run would find: there may be 50 GB of them."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Reads until our end of the pipe closes, which the kernel does if we are killed; the database may still write files.
_REMOVE = 'cat; until rm -rf -- "$1"; do sleep 1; done'


@contextmanager
def removed_afterwards(folder: Path) -> Iterator[None]:
    """Remove a folder when the block or this process ends, whatever ends it."""
    folder.mkdir(parents=True, exist_ok=True)
    remover = subprocess.Popen(
        ["/bin/sh", "-c", _REMOVE, "sh", str(folder)], stdin=subprocess.PIPE, start_new_session=True
    )
    try:
        yield
    finally:
        remover.communicate()
