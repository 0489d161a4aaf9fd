"""One child process of the local world: it dies with its parent, and stopping it stops its whole process group.

Each child leads its own session, so Ctrl-C reaches only the supervisor, which stops the children in order. A record on
disk (pid and start time) lets the next run find what a killed supervisor left behind; the start time tells our process
from another that got its pid later.
"""

import ctypes
import json
import os
import pwd
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from dev.processes.errors import WaitTimeoutError
from dev.processes.orphans import MARKER, kill_orphans
from dev.processes.waiting import wait_until

STOP_SECONDS = 10
TERMINATION_SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
_PR_SET_PDEATHSIG = 1  # prctl(2): the kernel sends this signal to the child when its parent dies
_LIBC = ctypes.CDLL(None)  # loaded before any fork


@dataclass(frozen=True, kw_only=True)
class Program:
    """What to run and how to stop it."""

    name: str
    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)  # added to our own
    user: str | None = None  # another system user, for a program that refuses to run as root
    stop_signal: signal.Signals = signal.SIGTERM
    log: Path | None = None  # None: writes to our terminal
    restarts: bool = False  # whether the supervisor starts it again when it exits


class Child:
    """A running program and its record on disk."""

    def __init__(self, program: Program, folder: Path) -> None:
        self.program = program
        self._process = _spawn(program, folder)
        self._record = records_folder(folder) / f"{program.name}.json"
        self._record.write_text(
            json.dumps({"pid": self.pid, "identity": identity(self.pid), "stopSignal": int(program.stop_signal)})
        )

    @property
    def pid(self) -> int:
        """The process id, which is also the id of the group that the child leads."""
        return self._process.pid

    def exit_code(self) -> int | None:
        """Return None while it runs, and a negative number if a signal ended it, as in subprocess.

        It does not reap the zombie: until `stop` does, the kernel cannot reuse the group's id.
        """
        if self._process.returncode is not None:
            return self._process.returncode
        ended = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is None:
            return None
        return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status

    def stop(self) -> None:
        """Signal it, kill it if it does not exit, kill the rest of its group, and delete the record."""
        if self.exit_code() is None:
            os.kill(self.pid, self.program.stop_signal)
            with suppress(WaitTimeoutError):  # killed below
                wait_until(lambda: self.exit_code() is not None, within_seconds=STOP_SECONDS, what=self.program.name)
        _kill_group(self.pid)
        self._process.wait()
        self._record.unlink(missing_ok=True)


def identity(pid: int) -> str | None:
    """Return the start time, which tells the process from others with its pid; None once it has exited."""
    if sys.platform != "linux":
        return str(psutil.Process(pid).create_time()) if psutil.pid_exists(pid) else None
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    after_name = stat.rpartition(")")[2].split()  # fields 3 and up of proc(5); the name may hold spaces
    state, start_ticks = after_name[0], after_name[19]
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return None if state in "ZX" else f"{boot}/{start_ticks}"


def process_tree(pid: int) -> list[int]:
    """Return the ids of a process and of all below it, itself first."""
    return [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]


def records_folder(folder: Path) -> Path:
    return folder / "processes"


def reap(folder: Path) -> list[str]:
    """Stop what a killed supervisor left running, as `Child.stop` would have; returns the names of the programs."""
    stopped = []
    for record in sorted(records_folder(folder).glob("*.json")):
        if _stop_leftover(record):
            stopped.append(record.stem)
        record.unlink()
    kill_orphans(folder)
    return stopped


def _stop_leftover(record: Path) -> bool:
    try:
        leftover = json.loads(record.read_text())
    except json.JSONDecodeError:  # the supervisor died while writing it
        return False
    pid, started = leftover["pid"], leftover["identity"]
    if started is None or identity(pid) != started:
        return False
    with suppress(ProcessLookupError):  # the kernel's signal has just stopped it
        os.kill(pid, leftover["stopSignal"])
    try:
        wait_until(lambda: identity(pid) != started, within_seconds=STOP_SECONDS, what=record.stem)
    except WaitTimeoutError:
        _kill_group(pid)
        wait_until(lambda: identity(pid) != started, within_seconds=STOP_SECONDS, what=record.stem)
    return True


@contextmanager
def termination_signals_blocked() -> Iterator[None]:
    """Block these signals, so that none arrives between starting a child and recording it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, TERMINATION_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _kill_group(group: int) -> None:
    with suppress(ProcessLookupError):  # the group is empty
        os.killpg(group, signal.SIGKILL)


def _spawn(program: Program, folder: Path) -> subprocess.Popen[bytes]:
    account = pwd.getpwnam(program.user) if program.user else None
    log = program.log.open("ab") if program.log else None
    try:
        return subprocess.Popen(
            program.argv,
            env={**os.environ, **program.env, MARKER: str(folder)},
            stdin=subprocess.DEVNULL if log else None,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=_die_with_parent(program.stop_signal),  # noqa: PLW1509 - the supervisor has one thread
            user=account.pw_uid if account else None,
            group=account.pw_gid if account else None,
            extra_groups=[] if account else None,
        )
    finally:
        if log:
            log.close()


def _die_with_parent(death_signal: signal.Signals) -> Callable[[], None]:
    parent = os.getpid()

    def before_exec() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, TERMINATION_SIGNALS)
        if sys.platform == "linux":
            _LIBC.prctl(_PR_SET_PDEATHSIG, int(death_signal))
            if os.getppid() != parent:  # the parent died before prctl took effect
                os._exit(1)

    return before_exec
