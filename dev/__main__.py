"""The commands of the local world: ``python -m dev exec -- COMMAND…``."""

import argparse
import shutil
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from itertools import count
from signal import SIGINT

from dev import world
from dev.errors import FolderInUseError, LocalWorldError, NotInstalledError
from dev.process import Program
from dev.supervisor import Interrupted, Supervisor, say


def main(arguments: Sequence[str]) -> int:
    """Carry out one command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m dev")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("exec", help="run a command beside fresh engines and a fresh chain, then stop them")
    run.add_argument("argv", nargs="+", metavar="COMMAND", help="after --, with its arguments")
    given = parser.parse_args(arguments)
    try:
        return execute(given.argv)
    except LocalWorldError as error:
        say(f"stopped: {error}")
        return 1
    except Interrupted as signal_name:
        say(f"stopped by {signal_name}")
        return 130


def execute(argv: Sequence[str]) -> int:
    """Run a command in a world of its own, several of which may live side by side; returns its exit code."""
    if shutil.which(argv[0]) is None:
        raise NotInstalledError(f"there is no command {argv[0]}")
    with ExitStack() as stack:
        supervisor = _enter_free_folder(stack)
        here = world.start(supervisor)
        environment = here.environment(database_url=here.databases.owner)
        return supervisor.run(Program(name="command", argv=argv, env=environment, stop_signal=SIGINT))


def _enter_free_folder(stack: ExitStack) -> Supervisor:
    for number in count():
        with suppress(FolderInUseError):
            return stack.enter_context(Supervisor(world.VAR / "exec" / str(number)))
    raise AssertionError("there is always a further number")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
