"""The commands of the local world: ``python -m dev exec -- COMMAND…`` and ``python -m dev up``."""

import argparse
import shutil
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from itertools import count
from signal import SIGINT

from dev import service, world
from dev.engines import prometheus, solana
from dev.keys import load_or_create
from dev.one_time_code import code
from dev.ports import free_port
from dev.processes.errors import FolderInUseError, LocalWorldError, NotInstalledError
from dev.processes.process import Program
from dev.processes.supervisor import Interrupted, Supervisor, say


def main(arguments: Sequence[str]) -> int:
    """Run one command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m dev")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("exec", help="run a command with a fresh database, broker and chain, then stop them")
    run.add_argument("argv", nargs="+", metavar="COMMAND", help="the command and its arguments, after --")
    commands.add_parser("up", help="run the service, PostgreSQL, Redis and both chains until Ctrl-C")
    commands.add_parser("demo", help="run sweeps from build to ledger and check every step")
    commands.add_parser("code", help="print the code with which the administrator of the local world logs in now")
    given = parser.parse_args(arguments)
    try:
        if given.command == "exec":
            return execute(given.argv)
        if given.command == "code":
            print(code(load_or_create(world.VAR / "keys.json").admin_totp_secret))
            return 0
        return up() if given.command == "up" else demo()
    except LocalWorldError as error:
        say(f"stopped: {error}")
        return 1
    except Interrupted as signal_name:
        say(f"stopped by {signal_name}")
        return 130


def execute(argv: Sequence[str]) -> int:
    """Run a command in its own world, beside any others; returns its exit code."""
    if shutil.which(argv[0]) is None:
        raise NotInstalledError(f"command not found: {argv[0]}")
    with ExitStack() as stack:
        supervisor = _enter_free_folder(stack)
        local = world.start(supervisor)
        local.write_description({"deployer": {"privateKey": local.keys.deployer}})
        environment = local.environment(database_url=local.databases.owner)
        return supervisor.run(Program(name="command", argv=argv, env=environment, stop_signal=SIGINT))


def up() -> int:
    """Run the whole service until Ctrl-C; returns 0."""
    with Supervisor(world.VAR / "dev") as supervisor:
        local = world.start(supervisor)
        cluster = solana.start(supervisor, local.keys)
        running = service.start(supervisor, local, cluster)
        if prometheus.found("prometheus"):
            url = prometheus.start(supervisor, running.health, console_url=running.console_url)
            say(f"Prometheus has the alerts at {url}/alerts")
        wallet_port, page_port = free_port(), free_port()
        wallet_url = f"http://127.0.0.1:{wallet_port}"
        local.write_description({**running.describe(), "solana": cluster.describe(), "walletUrl": wallet_url})
        service.start_wallet(supervisor, local, wallet_port)
        api_key = running.api_keys[0]
        variables = world.snippet_variables(
            local.describe(), base_url=running.base_url, api_key=api_key, wallet_url=wallet_url
        )
        local.write_snippet_variables(variables)
        say(_welcome(local, cluster, running, page_port))
        with suppress(Interrupted):
            if _builds(supervisor, "web"):
                service.start_page(supervisor, variables, page_port)
            if _builds(supervisor, "docs", WORLD_ENV=str(local.snippets_file)):
                say("the page and the documents are there")
            supervisor.watch()
        say("stopping")
    return 0


def demo() -> int:
    """Run the demo against its own service; returns 0 only if every check passed."""
    with Supervisor(world.VAR / "demo") as supervisor:
        say("starting PostgreSQL, Redis, both chains, web, the loop, Celery and beat")
        local = world.start(supervisor)
        cluster = solana.start(supervisor, local.keys)
        running = service.start(supervisor, local, cluster)
        local.write_description({**running.describe(), "solana": cluster.describe()})
        result = world.VAR / "demo.json"
        result.unlink(missing_ok=True)
        argv = [sys.executable, "-m", "dev.demo", str(local.world_file), str(result)]
        return supervisor.run(Program(name="demo", argv=argv))


def _builds(supervisor: Supervisor, target: str, **variables: str) -> bool:
    """Return whether make can build a target; the service goes on without it."""
    log = supervisor.folder / f"make-{target}.log"
    argv = ["make", "--no-print-directory", target]
    failed = supervisor.run(Program(name=f"make-{target}", argv=argv, env=variables, log=log))
    if failed:
        say(f"`make {target}` failed, see {log}")
    return not failed


def _welcome(local: world.World, cluster: solana.LocalCluster, running: service.Service, page_port: int) -> str:
    return f"""
  Page       http://127.0.0.1:{page_port}/ (in half a minute): sweep in your browser
  API        {running.base_url}/v2/status
  Rolled back {running.fallback_url}/v2/status (builds on V4)
  Documents  {running.base_url}/docs/ (in a minute)
  Console    {running.console_url}/  ({service.ADMIN}, {running.admin_password}; its code: .venv/bin/python -m dev code)
  API keys   {running.api_keys[0]}
             {running.api_keys[1]}
  Chain      {local.rpc_url}
  Solana     {cluster.rpc_url}, {cluster.ws_url} (swap API {cluster.swap_api_url})
  Users, tokens, contracts and private keys: {local.world_file}
  Variables of the quickstarts: . {local.snippets_file}
  Logs: {local.folder}/*.log

Press Ctrl-C to stop."""


def _enter_free_folder(stack: ExitStack) -> Supervisor:
    for number in count():
        with suppress(FolderInUseError):
            return stack.enter_context(Supervisor(world.VAR / "exec" / str(number)))
    raise AssertionError("count() never ends")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
