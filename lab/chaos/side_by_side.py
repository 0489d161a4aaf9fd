"""Runs seeds side by side, each in a process and a world of its own: while one waits for a fault, another works."""

import sys
import time
from collections import deque
from collections.abc import Sequence

from dev.processes.errors import ChildExitedError
from dev.processes.process import Child, Program
from dev.processes.supervisor import Supervisor, say
from dev.processes.waiting import POLL_SECONDS
from lab.chaos.run import FOLDER, Plan, Result


def run_all(seeds: Sequence[int], plan: Plan, *, jobs: int) -> list[Result]:
    """Run up to this many seeds at a time; returns their results in order."""
    waiting, running = deque(seeds), dict[int, Child]()
    with Supervisor(FOLDER) as supervisor:
        while waiting or running:
            while waiting and len(running) < jobs:
                seed = waiting.popleft()
                running[seed] = supervisor.launch(_program(seed, plan))
            time.sleep(POLL_SECONDS)
            for seed in [seed for seed, child in running.items() if child.exit_code() is not None]:
                supervisor.stop(running.pop(seed))
                _report(seed)
    return [Result.read(seed) for seed in seeds]


def _program(seed: int, plan: Plan) -> Program:
    """Return the program that runs one seed; its result must be written by it, not by an earlier run."""
    Result.file(seed).unlink(missing_ok=True)
    log = FOLDER / f"{seed}.log"
    log.unlink(missing_ok=True)
    argv = [sys.executable, "-m", "lab.chaos", "--seeds", "1", "--first-seed", str(seed), "--sweeps", str(plan.sweeps)]
    return Program(name=f"seed-{seed}", argv=[*argv, "--lanes", *plan.lanes], log=log)


def _report(seed: int) -> None:
    if not Result.file(seed).exists():
        raise ChildExitedError(f"seed {seed} did not end: see {FOLDER}/{seed}.log")
    result = Result.read(seed)
    say(f"seed {seed}: {len(result.findings)} findings after {result.seconds['all']:.0f} s")
