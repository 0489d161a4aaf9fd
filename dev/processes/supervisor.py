"""Starts the child processes of the local world, watches them, and stops every one of them on any exit.

Ctrl-C, SIGTERM and SIGHUP stop them in order. If the supervisor is killed, the kernel signals the children, and the
next supervisor of the same folder stops what still runs before it starts anything.
"""

import fcntl
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import NoReturn, Self

from dev.processes.errors import ChildExitedError, FolderInUseError
from dev.processes.orphans import kill_orphans
from dev.processes.process import TERMINATION_SIGNALS, Child, Program, reap, records_folder, termination_signals_blocked
from dev.processes.waiting import POLL_SECONDS, wait_until

START_SECONDS = 120
LOG_LINES_SHOWN = 25


class Interrupted(BaseException):
    """A signal asked us to stop; a BaseException like KeyboardInterrupt, so that no error handler swallows it."""


class Supervisor:
    """Owns one state folder and its processes while the context is open."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self._children: list[Child] = []
        self._interrupted_by: str | None = None

    def __enter__(self) -> Self:
        records_folder(self.folder).mkdir(parents=True, exist_ok=True, mode=0o755)
        self._lock = (self.folder / "lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise FolderInUseError(f"{self.folder} is in use by another run") from error
        _set_termination_handler(self._interrupt)
        for name in reap(self.folder):
            say(f"stopped {name}, left over from a run that was killed")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _set_termination_handler(signal.SIG_IGN)
        for child in reversed(self._children):
            child.stop()
        kill_orphans(self.folder)
        _set_termination_handler(signal.SIG_DFL)
        self._lock.close()

    def launch(self, program: Program) -> Child:
        """Start a program and watch it, without waiting until it is ready."""
        with termination_signals_blocked():
            child = Child(program, self.folder)
            self._children.append(child)
        return child

    def start(self, program: Program, *, ready: Callable[[], bool]) -> Child:
        """Start a program and return when it is ready.

        Raises ChildExitedError if any child exits first, and WaitTimeoutError if it is not ready in time.
        """
        child = self.launch(program)
        self.wait(ready, within_seconds=START_SECONDS, what=f"start of {program.name}")
        return child

    def wait(self, condition: Callable[[], bool], *, within_seconds: float, what: str) -> None:
        """Wait for a condition while all children run; raises as `start` does."""

        def alive_and_true() -> bool:
            self._check()
            return condition()

        wait_until(alive_and_true, within_seconds=within_seconds, what=what)

    def stop(self, child: Child) -> None:
        """Stop one child; the others keep running."""
        with termination_signals_blocked():
            self._children.remove(child)
            child.stop()

    def run(self, program: Program) -> int:
        """Run a program to completion; returns its exit code, 128 + n if signal n ended it.

        Raises ChildExitedError if another child exits first.
        """
        task = self.launch(program)
        while (code := task.exit_code()) is None:
            self._check(except_for=task)
            time.sleep(POLL_SECONDS)
        self.stop(task)
        return code if code >= 0 else 128 - code

    def watch(self) -> NoReturn:
        """Watch the children until a signal stops us or one of them exits, which raises ChildExitedError."""
        while True:
            self._check()
            time.sleep(POLL_SECONDS)

    def _check(self, *, except_for: Child | None = None) -> None:
        if self._interrupted_by is not None:  # it was raised in a finalizer, where Python only prints it
            raise Interrupted(self._interrupted_by)
        for child in [one for one in self._children if one is not except_for and one.exit_code() is not None]:
            if not child.program.restarts:
                raise ChildExitedError(_exit_report(child))
            say(f"{child.program.name} exited with code {child.exit_code()}, and is started again")
            self.stop(child)
            self.launch(child.program)

    def _interrupt(self, number: int, _frame: FrameType | None) -> None:
        # Ignore further signals: stopping has its own deadlines, and a second exception on the way would prevent it.
        _set_termination_handler(signal.SIG_IGN)
        self._interrupted_by = signal.Signals(number).name
        raise Interrupted(self._interrupted_by)


def say(sentence: str) -> None:
    """Print to standard error, apart from the program's own output."""
    print(sentence, file=sys.stderr, flush=True)


def _set_termination_handler(handler: Callable[[int, FrameType | None], None] | signal.Handlers) -> None:
    for number in TERMINATION_SIGNALS:
        signal.signal(number, handler)


def _exit_report(child: Child) -> str:
    program = child.program
    report = f"{program.name} exited unexpectedly with code {child.exit_code()}"
    if not program.log:
        return report
    last = program.log.read_text(errors="replace").splitlines()[-LOG_LINES_SHOWN:]
    return "\n".join([f"{report}; the end of {program.log}:", *last])
