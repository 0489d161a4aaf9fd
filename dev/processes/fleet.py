"""Processes that may be killed, frozen and started again: a supervisor that expects its children to die."""

import os
import re
import signal
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from signal import SIGCONT, SIGKILL, SIGSTOP

from dev.processes.errors import WaitTimeoutError
from dev.processes.process import Child, Program
from dev.processes.supervisor import Supervisor
from dev.processes.waiting import wait_until

STOP_SECONDS = 10
_PARENT = re.compile(r"^PPid:\t(\d+)$", re.MULTILINE)


class Fleet(Supervisor):
    """Remembers every program that was launched, to launch it again at the same place."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._programs: dict[str, Program] = {}

    def launch(self, program: Program) -> Child:
        self._programs[program.name] = program
        return super().launch(program)

    def relaunch(self, name: str, environment: Mapping[str, str] | None = None) -> None:
        """Start a program again, with changes to its environment."""
        program = self._programs[name]
        super().launch(replace(program, env={**program.env, **(environment or {})}))

    def is_running(self, name: str) -> bool:
        child = self._find(name)
        return child is not None and child.exit_code() is None

    def exited(self) -> list[str]:
        """Return the programs that ended by themselves."""
        return [child.program.name for child in self._children if child.exit_code() is not None]

    def kill(self, name: str, how: signal.Signals = SIGKILL) -> None:
        """End a program and all its descendants at once."""
        child = self._find(name)
        if child is None:
            return
        descendants = list(_descendants(child.pid))
        _signal([child.pid], how)
        if how is SIGKILL:
            _signal(descendants, how)
        else:
            with suppress(WaitTimeoutError):  # stopped below
                wait_until(lambda: child.exit_code() is not None, within_seconds=STOP_SECONDS, what=f"end of {name}")
        self.stop(child)

    def kill_one_process(self, name: str, choice: int) -> int | None:
        """Kill one of the processes that a program started; returns its id, None if there are none."""
        child = self._find(name)
        started = sorted(_descendants(child.pid)) if child is not None else []
        if not started:
            return None
        victim = started[choice % len(started)]
        _signal([victim], SIGKILL)
        return victim

    def freeze(self, name: str) -> None:
        """Stop a program and its descendants where they are."""
        self._signal_all(name, SIGSTOP)

    def thaw(self, name: str) -> None:
        self._signal_all(name, SIGCONT)

    def _signal_all(self, name: str, number: signal.Signals) -> None:
        child = self._find(name)
        if child is not None:
            _signal([child.pid, *_descendants(child.pid)], number)

    def _find(self, name: str) -> Child | None:
        return next((child for child in self._children if child.program.name == name), None)


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):  # it has exited
            os.kill(pid, number)


def _descendants(pid: int) -> Iterator[int]:
    """Yield the processes below this one; PostgreSQL's lead groups of their own, so a group's id would miss them."""
    children: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/status"):
        with suppress(FileNotFoundError, ProcessLookupError):
            parent = _PARENT.search(status.read_text())
            if parent:
                children.setdefault(int(parent[1]), []).append(int(status.parent.name))
    waiting = children.get(pid, [])
    while waiting:
        child = waiting.pop()
        yield child
        waiting += children.get(child, [])
