"""Runs the benchmark of the database: ``python -m lab.bench.scale``.

``SWEEPS`` sets how many sweeps are stored, 5,000,000 by default, which take about 60 GB of disk; the targets are for
that many. The database is one of its own, and its files are removed at the end, also if the benchmark is killed. Exits
with 1 if a target is missed.
"""

import os
import sys
from signal import SIGINT

from dev import world
from dev.processes.errors import LocalWorldError
from dev.processes.process import Program
from dev.processes.supervisor import Interrupted, Supervisor, say
from lab.bench.scale.disposal import removed_afterwards


def main() -> int:
    """Run the benchmark with a world of its own; returns its exit code."""
    os.environ.pop("DATABASE_URL", None)  # a database that was given could not be removed
    folder = world.VAR / "bench" / f"scale-{os.getpid()}"  # of this run alone, since it is removed
    try:
        with removed_afterwards(folder), Supervisor(folder) as supervisor:
            local = world.start(supervisor)
            local.write_description({"deployer": {"privateKey": local.keys.deployer}})
            argv = [sys.executable, "-m", "lab.bench.scale.run"]
            environment = local.environment(database_url=local.databases.owner)
            return supervisor.run(Program(name="bench", argv=argv, env=environment, stop_signal=SIGINT))
    except LocalWorldError as error:
        say(f"stopped: {error}")
        return 1
    except Interrupted as signal_name:
        say(f"stopped by {signal_name}")
        return 130


if __name__ == "__main__":
    sys.exit(main())
