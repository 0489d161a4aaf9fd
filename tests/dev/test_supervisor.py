"""However the supervisor ends, its processes end with it, or at the next start in its folder at the latest."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from dev.processes.process import identity, reap, records_folder
from dev.processes.waiting import wait_until

ROOT = Path(__file__).parents[2]
PARTS = {"postgres", "redis", "anvil", "parent", "grandchild"}
World: TypeAlias = subprocess.Popen[str]
INTERRUPTED_WHILE_UNWINDING = """
import os, pathlib, signal, sys
from dev.processes.process import Program
from dev.processes.supervisor import Interrupted, Supervisor

with Supervisor(pathlib.Path(sys.argv[1])) as supervisor:
    print(supervisor.launch(Program(name="sleeper", argv=["/bin/sleep", "600"])).pid, flush=True)
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except Interrupted:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(os.getpid(), number)
print("stopped in order")
"""

INTERRUPTED_IN_A_FINALIZER = """
import os, pathlib, signal, sys
from dev.processes.supervisor import Interrupted, Supervisor

class Finalized:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        str()  # the interpreter handles signals between calls

try:
    with Supervisor(pathlib.Path(sys.argv[1])) as supervisor:
        Finalized()
        supervisor.watch()
except Interrupted as interrupted:
    print(interrupted)
"""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[], tuple[World, dict[str, int]]]]:
    """Start a world in the test's folder; returns its supervisor and the pids of its processes."""
    started: list[World] = []

    def start_one() -> tuple[World, dict[str, int]]:
        world = subprocess.Popen(
            [sys.executable, "-m", "tests.dev.supervised_world", str(tmp_path)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(world)
        assert world.stdout
        return world, json.loads(world.stdout.readline())

    yield start_one
    for world in started:
        if world.poll() is None:
            world.terminate()
        world.communicate(timeout=30)


def have_exited(pids: dict[str, int]) -> Callable[[], bool]:
    return lambda: all(identity(pid) is None for pid in pids.values())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_termination_signal_stops_every_process(
    number: signal.Signals, start: Callable[[], tuple[World, dict[str, int]]]
) -> None:
    world, pids = start()
    assert set(pids) == PARTS
    world.send_signal(number)
    world.communicate(timeout=30)
    assert world.returncode == 0
    assert have_exited(pids)()


def test_further_interrupts_during_the_stop_are_ignored(
    start: Callable[[], tuple[World, dict[str, int]]],
) -> None:
    world, pids = start()
    for _ in range(5):
        world.send_signal(signal.SIGINT)
    world.communicate(timeout=30)
    assert have_exited(pids)()


def test_further_interrupts_before_the_stop_do_not_prevent_it(tmp_path: Path) -> None:
    script = [sys.executable, "-c", INTERRUPTED_WHILE_UNWINDING, str(tmp_path)]
    ended = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, timeout=30, check=True)
    pid, *rest = ended.stdout.splitlines()
    assert rest == ["stopped in order"]
    assert identity(int(pid)) is None


def test_an_interrupt_swallowed_by_a_finalizer_is_raised_again(tmp_path: Path) -> None:
    script = [sys.executable, "-c", INTERRUPTED_IN_A_FINALIZER, str(tmp_path)]
    ended = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, timeout=30, check=True)
    assert "Exception ignored" in ended.stderr
    assert ended.stdout == "SIGTERM\n"


def test_after_a_kill_the_next_start_stops_the_leftovers(
    start: Callable[[], tuple[World, dict[str, int]]],
) -> None:
    killed, leftovers = start()
    killed.kill()
    killed.wait(timeout=30)
    _, pids = start()
    assert have_exited(leftovers)()
    assert all(identity(pid) for pid in pids.values())


@pytest.mark.parametrize("part", ["postgres", "redis", "anvil", "parent"])
def test_a_child_that_dies_is_reported_and_stops_the_others(
    part: str, start: Callable[[], tuple[World, dict[str, int]]]
) -> None:
    world, pids = start()
    os.kill(pids[part], signal.SIGKILL)
    _, errors = world.communicate(timeout=30)
    assert world.returncode == 1
    assert f"{part} exited unexpectedly with code -9" in errors
    assert have_exited(pids)()


def test_a_folder_in_use_is_refused_and_its_world_keeps_running(
    start: Callable[[], tuple[World, dict[str, int]]], tmp_path: Path
) -> None:
    _, pids = start()
    second = subprocess.run(
        [sys.executable, "-m", "tests.dev.supervised_world", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert second.returncode == 1
    assert "is in use by another run" in second.stderr
    assert all(identity(pid) for pid in pids.values())


def test_a_reused_pid_is_never_killed(tmp_path: Path) -> None:
    records_folder(tmp_path).mkdir()
    record = records_folder(tmp_path) / "redis.json"
    with subprocess.Popen(["/bin/sleep", "600"]) as other:
        record.write_text(json.dumps({"pid": other.pid, "identity": "another time", "stopSignal": signal.SIGTERM}))
        assert reap(tmp_path) == []
        assert identity(other.pid)
        other.kill()
    assert not record.exists()


def test_a_leftover_process_is_stopped_by_its_record(tmp_path: Path) -> None:
    records_folder(tmp_path).mkdir()
    with subprocess.Popen(["/bin/sleep", "600"]) as leftover:
        record = {"pid": leftover.pid, "identity": identity(leftover.pid), "stopSignal": signal.SIGTERM}
        (records_folder(tmp_path) / "redis.json").write_text(json.dumps(record))
        assert reap(tmp_path) == ["redis"]
        wait_until(lambda: leftover.poll() is not None, within_seconds=5, what="exit of the leftover process")
        assert leftover.returncode == -signal.SIGTERM
