"""The processes of a group count into shared files, in which a replaced process does not start from zero."""

import fcntl
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from sweepapi.monitoring import sharing

COUNT = """
import os, sys
from sweepapi.monitoring import sharing
folder = sharing.share()
from sweepapi.monitoring import metrics, readiness
from prometheus_client.multiprocess import MultiProcessCollector

def run(slot):
    if os.fork() == 0:
        sharing.use_slot(slot)
        metrics.BUILDS.labels("eip155:1", "built").inc()
        os._exit(0)
    os.wait()

for slot in (0, 1, 0, 0):
    run(slot)
[builds] = MultiProcessCollector.merge(map(str, folder.glob("counter_*.db")))
print(builds.samples[0].value, len(list(folder.glob("counter_?.db"))))
"""


def test_a_process_that_replaces_another_counts_on_in_its_file() -> None:
    counted = subprocess.run([sys.executable, "-c", COUNT], stdout=subprocess.PIPE, text=True, check=True)
    assert counted.stdout.split() == ["4.0", "2"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a group that started long ago."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = tmp_path / f"{sharing.PREFIX}old"
    folder.mkdir()
    os.utime(folder, (0, 0))
    return folder


def test_what_a_group_that_ended_left_behind_is_removed(folder: Path) -> None:
    sharing.remove_leftovers()
    assert not folder.exists()


def test_the_files_of_a_running_group_are_kept(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY)
    fcntl.flock(opened, fcntl.LOCK_EX)
    sharing.remove_leftovers()
    assert folder.exists()
    os.close(opened)


def test_the_files_of_a_group_that_is_just_starting_are_kept(folder: Path) -> None:
    os.utime(folder)
    sharing.remove_leftovers()
    assert folder.exists()
