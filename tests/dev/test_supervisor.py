"""Whatever ends the supervisor, nothing it started outlives it for longer than the next start."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from dev.process import identity, reap, records_of
from dev.waiting import wait_until

ROOT = Path(__file__).parents[2]
PARTS = {"postgres", "redis", "anvil", "parent", "grandchild"}
Household: TypeAlias = subprocess.Popen[str]
INTERRUPTED_ON_THE_WAY_OUT = """
import os, pathlib, signal, sys
from dev.process import Program
from dev.supervisor import Interrupted, Supervisor

with Supervisor(pathlib.Path(sys.argv[1])) as supervisor:
    print(supervisor.launch(Program(name="sleeper", argv=["/bin/sleep", "600"])).pid, flush=True)
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except Interrupted:
        for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(os.getpid(), ending)
print("stopped in order")
"""

INTERRUPTED_IN_A_FINALIZER = """
import os, pathlib, signal, sys
from dev.supervisor import Interrupted, Supervisor

class Finalized:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        str()  # the interpreter looks for signals between two calls

try:
    with Supervisor(pathlib.Path(sys.argv[1])) as supervisor:
        Finalized()
        supervisor.watch()
except Interrupted as interrupted:
    print(interrupted)
"""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[], tuple[Household, dict[str, int]]]]:
    """Start a household in the test's folder; gives the supervisor and the pids of its parts."""
    started: list[Household] = []

    def start_one() -> tuple[Household, dict[str, int]]:
        household = subprocess.Popen(
            [sys.executable, "-m", "tests.dev.household", str(tmp_path)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(household)
        assert household.stdout
        return household, json.loads(household.stdout.readline())

    yield start_one
    for household in started:
        if household.poll() is None:
            household.terminate()
        household.communicate(timeout=30)


def are_gone(pids: dict[str, int]) -> Callable[[], bool]:
    return lambda: all(identity(pid) is None for pid in pids.values())


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_no_process_is_left_after(
    ending: signal.Signals, start: Callable[[], tuple[Household, dict[str, int]]]
) -> None:
    household, pids = start()
    assert set(pids) == PARTS
    household.send_signal(ending)
    household.communicate(timeout=30)
    assert household.returncode == 0
    assert are_gone(pids)()


def test_a_second_interrupt_during_the_stop_changes_nothing(
    start: Callable[[], tuple[Household, dict[str, int]]],
) -> None:
    household, pids = start()
    for _ in range(5):
        household.send_signal(signal.SIGINT)
    household.communicate(timeout=30)
    assert are_gone(pids)()


def test_interrupts_between_the_first_and_the_stop_do_not_prevent_it(tmp_path: Path) -> None:
    script = [sys.executable, "-c", INTERRUPTED_ON_THE_WAY_OUT, str(tmp_path)]
    ended = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, timeout=30, check=True)
    pid, *rest = ended.stdout.splitlines()
    assert rest == ["stopped in order"]
    assert identity(int(pid)) is None


def test_an_interrupt_that_python_only_prints_is_heeded_at_the_next_look(tmp_path: Path) -> None:
    script = [sys.executable, "-c", INTERRUPTED_IN_A_FINALIZER, str(tmp_path)]
    ended = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, timeout=30, check=True)
    assert "Exception ignored" in ended.stderr
    assert ended.stdout == "SIGTERM\n"


def test_after_a_kill_the_next_start_ends_what_was_left_and_works(
    start: Callable[[], tuple[Household, dict[str, int]]],
) -> None:
    killed, left = start()
    killed.kill()
    killed.wait(timeout=30)
    _, pids = start()
    assert are_gone(left)()
    assert all(identity(pid) for pid in pids.values())


@pytest.mark.parametrize("part", ["postgres", "redis", "anvil", "parent"])
def test_the_death_of_a_part_is_told_and_ends_all(
    part: str, start: Callable[[], tuple[Household, dict[str, int]]]
) -> None:
    household, pids = start()
    os.kill(pids[part], signal.SIGKILL)
    _, told = household.communicate(timeout=30)
    assert household.returncode == 1
    assert f"{part} ended unexpectedly with exit code -9" in told
    assert are_gone(pids)()


def test_a_folder_in_use_is_refused_and_its_world_goes_on(
    start: Callable[[], tuple[Household, dict[str, int]]], tmp_path: Path
) -> None:
    _, pids = start()
    second = subprocess.run(
        [sys.executable, "-m", "tests.dev.household", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert second.returncode == 1
    assert "is in use by another run" in second.stderr
    assert all(identity(pid) for pid in pids.values())


def test_a_recycled_pid_is_never_killed(tmp_path: Path) -> None:
    records_of(tmp_path).mkdir()
    record = records_of(tmp_path) / "redis.json"
    with subprocess.Popen(["/bin/sleep", "600"]) as stranger:
        record.write_text(json.dumps({"pid": stranger.pid, "identity": "another time", "stopSignal": signal.SIGTERM}))
        assert reap(tmp_path) == []
        assert identity(stranger.pid)
        stranger.kill()
    assert not record.exists()


def test_a_process_left_without_its_parent_is_ended_by_its_record(tmp_path: Path) -> None:
    records_of(tmp_path).mkdir()
    with subprocess.Popen(["/bin/sleep", "600"]) as left:
        told = {"pid": left.pid, "identity": identity(left.pid), "stopSignal": signal.SIGTERM}
        (records_of(tmp_path) / "redis.json").write_text(json.dumps(told))
        assert reap(tmp_path) == ["redis"]
        wait_until(lambda: left.poll() is not None, within_seconds=5, what="the end of what was left")
        assert left.returncode == -signal.SIGTERM
