"""One child process of the local world: started so that it cannot outlive us, stopped so that its whole group ends.

Each child leads a session of its own, so a Ctrl-C reaches the supervisor alone, which then stops the children in order.
A record on disk (pid and start time) lets the next run find what a killed supervisor left; the start time keeps a
recycled pid from being taken for ours.
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

from dev.errors import WaitedTooLongError
from dev.strays import MARKER, end_strays
from dev.waiting import wait_until

STOP_SECONDS = 10
ENDING_SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
_PR_SET_PDEATHSIG = 1  # prctl(2): the kernel sends this signal to the child when its parent dies
_LIBC = ctypes.CDLL(None)  # loaded before any fork


@dataclass(frozen=True, kw_only=True)
class Program:
    """What to run and how to end it."""

    name: str
    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)  # on top of ours
    user: str | None = None  # another system user, for a program that refuses to run as root
    stop_signal: signal.Signals = signal.SIGTERM
    log: Path | None = None  # None: it talks to our terminal


class Child:
    """A running program and its record on disk."""

    def __init__(self, program: Program, folder: Path) -> None:
        self.program = program
        self._process = _spawn(program, folder)
        self._record = records_of(folder) / f"{program.name}.json"
        self._record.write_text(
            json.dumps({"pid": self.pid, "identity": identity(self.pid), "stopSignal": int(program.stop_signal)})
        )

    @property
    def pid(self) -> int:
        """Also the id of the process group, which the child leads."""
        return self._process.pid

    def exit_code(self) -> int | None:
        """None while it runs; negative for a signal, as in subprocess.

        The zombie stays: until `stop` takes it, the kernel cannot give the group's id to anybody else.
        """
        if self._process.returncode is not None:
            return self._process.returncode
        ended = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is None:
            return None
        return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status

    def stop(self) -> None:
        """Ask it to end, kill it when it does not, kill what it left in its group, and forget it."""
        if self.exit_code() is None:
            os.kill(self.pid, self.program.stop_signal)
            with suppress(WaitedTooLongError):  # the kill below ends it
                wait_until(lambda: self.exit_code() is not None, within_seconds=STOP_SECONDS, what=self.program.name)
        _kill_group(self.pid)
        self._process.wait()
        self._record.unlink(missing_ok=True)


def identity(pid: int) -> str | None:
    """Tell when the process started, which no other with this pid shares; None if it is gone or only a zombie."""
    if sys.platform != "linux":
        ask = ["/bin/ps", "-o", "lstart=", "-p", str(pid)]
        listed = subprocess.run(ask, capture_output=True, text=True, check=False)
        return listed.stdout.strip() or None
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    after_name = stat.rpartition(")")[2].split()  # the name may hold spaces and brackets; proc(5) fields 3 and on
    state, start_ticks = after_name[0], after_name[19]
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return None if state in "ZX" else f"{boot}/{start_ticks}"


def records_of(folder: Path) -> Path:
    """Return where the records of a folder's children are."""
    return folder / "processes"


def reap(folder: Path) -> list[str]:
    """End what a killed supervisor left running, as `Child.stop` would have; returns the names of what was found."""
    found = []
    for record in sorted(records_of(folder).glob("*.json")):
        if _end_left_over(record):
            found.append(record.stem)
        record.unlink()
    end_strays(folder)
    return found


def _end_left_over(record: Path) -> bool:
    try:
        left = json.loads(record.read_text())
    except json.JSONDecodeError:  # the supervisor died while it wrote this
        return False
    pid, started = left["pid"], left["identity"]
    if started is None or identity(pid) != started:
        return False
    with suppress(ProcessLookupError):  # it had its death signal, and ends just now
        os.kill(pid, left["stopSignal"])
    try:
        wait_until(lambda: identity(pid) != started, within_seconds=STOP_SECONDS, what=record.stem)
    except WaitedTooLongError:
        _kill_group(pid)
        wait_until(lambda: identity(pid) != started, within_seconds=STOP_SECONDS, what=record.stem)
    return True


@contextmanager
def ending_signals_held() -> Iterator[None]:
    """Let no signal come between a child's birth and its being known to us."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _kill_group(group: int) -> None:
    with suppress(ProcessLookupError):  # nobody left
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
            preexec_fn=_tie_to_parent(program.stop_signal),  # noqa: PLW1509 - the supervisor has one thread
            user=account.pw_uid if account else None,
            group=account.pw_gid if account else None,
            extra_groups=[] if account else None,
        )
    finally:
        if log:
            log.close()


def _tie_to_parent(death_signal: signal.Signals) -> Callable[[], None]:
    parent = os.getpid()

    def before_exec() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING_SIGNALS)
        if sys.platform == "linux":
            _LIBC.prctl(_PR_SET_PDEATHSIG, int(death_signal))
            if os.getppid() != parent:  # it died before it could be watched
                os._exit(1)

    return before_exec
