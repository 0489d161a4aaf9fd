"""The commands of the local world: ``python -m dev exec -- COMMAND…`` and ``python -m dev up``."""

import argparse
import shutil
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from itertools import count
from signal import SIGINT

from dev import service, world
from dev.errors import FolderInUseError, LocalWorldError, NotInstalledError
from dev.process import Program
from dev.supervisor import Interrupted, Supervisor, say


def main(arguments: Sequence[str]) -> int:
    """Carry out one command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m dev")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("exec", help="run a command beside fresh engines and a fresh chain, then stop them")
    run.add_argument("argv", nargs="+", metavar="COMMAND", help="after --, with its arguments")
    commands.add_parser("up", help="keep the whole product running: web, worker, beat, engines and chain")
    commands.add_parser("demo", help="play the whole story of a sweep and check every step")
    given = parser.parse_args(arguments)
    try:
        if given.command == "exec":
            return execute(given.argv)
        return up() if given.command == "up" else demo()
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
        here.write_down({"deployer": {"privateKey": here.keys.deployer}})
        environment = here.environment(database_url=here.databases.owner)
        return supervisor.run(Program(name="command", argv=argv, env=environment, stop_signal=SIGINT))


def up() -> int:
    """Keep the whole product running until Ctrl-C, which is its ordinary end."""
    with Supervisor(world.VAR / "dev") as supervisor:
        here = world.start(supervisor)
        served = service.start(supervisor, here)
        here.write_down(served.describe())
        say(_welcome(here, served))
        with suppress(Interrupted):
            supervisor.watch()
        say("stopping")
    return 0


def demo() -> int:
    """Play the story against a service of its own; returns 0 only if all of it held."""
    with Supervisor(world.VAR / "demo") as supervisor:
        say("starting PostgreSQL, Redis, the chain, web, worker and beat")
        here = world.start(supervisor)
        here.write_down(service.start(supervisor, here).describe())
        result = world.VAR / "demo.json"
        result.unlink(missing_ok=True)
        argv = [sys.executable, "-m", "dev.demo", str(here.world_file), str(result)]
        return supervisor.run(Program(name="story", argv=argv))


def _welcome(here: world.World, served: service.Service) -> str:
    return f"""
  API        {served.base_url}/v2/status
  Reference  {served.base_url}/docs/
  Admin      {served.base_url}/admin/  ({service.ADMIN}, {served.admin_password})
  API keys   {served.api_keys[0]}
             {served.api_keys[1]}
  Chain      {here.rpc_url}
  Users, tokens, contracts and their keys: {here.world_file}
  Logs: {here.folder}/*.log

Ctrl-C ends it."""


def _enter_free_folder(stack: ExitStack) -> Supervisor:
    for number in count():
        with suppress(FolderInUseError):
            return stack.enter_context(Supervisor(world.VAR / "exec" / str(number)))
    raise AssertionError("there is always a further number")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
