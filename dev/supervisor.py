"""Starts the parts of the local world, watches them, and stops all of them whatever happens.

Ctrl-C, SIGTERM and SIGHUP end in an orderly stop. After a SIGKILL the kernel tells the children, and the next
supervisor of the same folder ends what is still there before it starts anything.
"""

import fcntl
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import NoReturn, Self

from dev.errors import ChildDiedError, FolderInUseError
from dev.process import ENDING_SIGNALS, Child, Program, ending_signals_held, reap, records_of
from dev.strays import end_strays
from dev.waiting import POLL_SECONDS, wait_until

START_SECONDS = 120
LOG_LINES_SHOWN = 25


class Interrupted(BaseException):
    """A signal asked for the end; like KeyboardInterrupt no error, so nothing that handles errors swallows it."""


class Supervisor:
    """Owns one state folder and the processes in it, from entering the context to leaving it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self._children: list[Child] = []
        self._interrupted_by: str | None = None

    def __enter__(self) -> Self:
        records_of(self.folder).mkdir(parents=True, exist_ok=True, mode=0o755)
        self._lock = (self.folder / "lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise FolderInUseError(f"{self.folder} is in use by another run") from error
        _set_for_ending_signals(self._interrupt)
        for name in reap(self.folder):
            say(f"ended {name}, left by a run that was killed")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _set_for_ending_signals(signal.SIG_IGN)
        for child in reversed(self._children):
            child.stop()
        end_strays(self.folder)
        _set_for_ending_signals(signal.SIG_DFL)
        self._lock.close()

    def launch(self, program: Program) -> Child:
        """Start a program without waiting for anything; it is watched from now on."""
        with ending_signals_held():
            child = Child(program, self.folder)
            self._children.append(child)
        return child

    def start(self, program: Program, *, ready: Callable[[], bool]) -> Child:
        """Start a program and return when it is ready.

        Raises ChildDiedError if it, or another child, ended meanwhile, WaitedTooLongError if it was not ready in time.
        """
        child = self.launch(program)
        self.wait(ready, within_seconds=START_SECONDS, what=f"start of {program.name}")
        return child

    def wait(self, condition: Callable[[], bool], *, within_seconds: float, what: str) -> None:
        """Wait on a condition, but no longer than all children live; raises as `start` does."""

        def alive_and_true() -> bool:
            self._check()
            return condition()

        wait_until(alive_and_true, within_seconds=within_seconds, what=what)

    def stop(self, child: Child) -> None:
        """Stop one child on purpose; the others go on."""
        with ending_signals_held():
            self._children.remove(child)
            child.stop()

    def run(self, program: Program) -> int:
        """Run a program to its end beside the others; returns its exit code, 128 + n where signal n ended it.

        Raises ChildDiedError if one of the others ended before it did.
        """
        task = self.launch(program)
        while (code := task.exit_code()) is None:
            self._check(except_for=task)
            time.sleep(POLL_SECONDS)
        self.stop(task)
        return code if code >= 0 else 128 - code

    def watch(self) -> NoReturn:
        """Sit by the children until a signal ends us or one of them dies, which raises ChildDiedError."""
        while True:
            self._check()
            time.sleep(POLL_SECONDS)

    def _check(self, *, except_for: Child | None = None) -> None:
        if self._interrupted_by is not None:  # raised once already, where Python only prints it: in a finalizer
            raise Interrupted(self._interrupted_by)
        for child in self._children:
            if child is not except_for and child.exit_code() is not None:
                raise ChildDiedError(_obituary(child))

    def _interrupt(self, number: int, _frame: FrameType | None) -> None:
        # One is enough: the stop has deadlines of its own, and a second one raised on the way to it would prevent it.
        _set_for_ending_signals(signal.SIG_IGN)
        self._interrupted_by = signal.Signals(number).name
        raise Interrupted(self._interrupted_by)


def say(sentence: str) -> None:
    """Tell the person at the terminal, beside whatever the program prints."""
    print(sentence, file=sys.stderr, flush=True)


def _set_for_ending_signals(handler: Callable[[int, FrameType | None], None] | signal.Handlers) -> None:
    for ending in ENDING_SIGNALS:
        signal.signal(ending, handler)


def _obituary(child: Child) -> str:
    program = child.program
    told = f"{program.name} ended unexpectedly with exit code {child.exit_code()}"
    if not program.log:
        return told
    last = program.log.read_text(errors="replace").splitlines()[-LOG_LINES_SHOWN:]
    return "\n".join([f"{told}; the end of {program.log}:", *last])
