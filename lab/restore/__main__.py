"""Rehearses the restore of the database on engines of its own: ``python -m lab.restore``.

Prints each step with what was checked; exits with 1 at the first check that fails.
"""

import os
import subprocess
import sys
import time
from functools import partial

from rich.console import Console

from dev import service, world
from dev.demo.context import Context, StepFailedError, StepResult
from dev.engines import solana
from dev.processes.errors import LocalWorldError
from dev.processes.fleet import Fleet
from dev.processes.supervisor import Interrupted, say
from lab.restore.backups import Backups
from lab.restore.statements import Statements
from lab.restore.steps import STEPS, Rehearsal
from sweepapi_client import NoAnswerError, SweepApiError


def main() -> int:
    """Start everything, and run all steps; returns the exit code."""
    began = time.monotonic()
    try:
        with Fleet(world.VAR / "restore") as fleet:
            say("starting PostgreSQL, Redis, the chain and the service")
            passed = _rehearse(_start(fleet))
    except LocalWorldError as error:
        say(f"stopped: {error}")
        return 1
    except Interrupted as signal_name:
        say(f"stopped by {signal_name}")
        return 130
    say(f"took {time.monotonic() - began:.0f} s")
    return 0 if passed else 1


def _start(fleet: Fleet) -> Rehearsal:
    local = world.start(fleet)
    cluster = solana.start(fleet, local.keys)
    running = service.start(fleet, local, cluster)
    local.write_description({**running.describe(), "solana": cluster.describe()})
    environment = os.environ | local.environment(database_url=local.databases.runtime) | cluster.environment()

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, *arguments]
        return subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)

    context = Context(local.world_file)
    statements = Statements(fleet.folder / "statements", context, run)
    return Rehearsal(context, Backups(fleet, local.databases.owner), partial(run, "manage.py"), statements)


def _rehearse(rehearsal: Rehearsal) -> bool:
    console, failure = Console(soft_wrap=True), None
    for number, (title, run) in enumerate(STEPS, start=1):
        result = StepResult(str(number), title)
        console.print(f"[bold]{number}[/] {title}")
        try:
            run(rehearsal, result)
        except (StepFailedError, SweepApiError, NoAnswerError, LocalWorldError) as error:
            failure = error
        for sentence in result.passed:
            console.print(f"  [green]✓[/] {sentence}", highlight=False)
        if failure is not None:
            console.print(f"[red]✗ {failure}[/]", highlight=False)
            return False
    console.print("[green]Every check passed.[/]")
    return True


if __name__ == "__main__":
    sys.exit(main())
