"""``python -m dev exec`` passes on the exit code, and gives the command its own engines or those of the environment."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PRINT_ENVIRONMENT = "import json, os; print(json.dumps(dict(os.environ)))"


def run(*argv: str, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    return subprocess.run(
        [sys.executable, "-m", "dev", "exec", "--", *argv],
        cwd=ROOT,
        env=inherited | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_returns_the_exit_code_of_the_command() -> None:
    assert run("/bin/sh", "-c", "exit 7").returncode == 7


def test_a_command_killed_by_a_signal_returns_128_plus_its_number() -> None:
    assert run("/bin/sh", "-c", "kill -TERM $$").returncode == 143


def test_an_unknown_command_is_named() -> None:
    result = run("no-such-command")
    assert result.returncode == 1
    assert "no-such-command" in result.stderr


def test_worlds_run_side_by_side() -> None:
    inner = json.loads(run(sys.executable, "-c", PRINT_ENVIRONMENT).stdout)
    assert inner["DATABASE_URL"] != os.environ["DATABASE_URL"]
    assert inner["DEV_WORLD_FILE"] != os.environ["DEV_WORLD_FILE"]


def test_a_database_and_a_broker_from_the_environment_are_used() -> None:
    given = {name: os.environ[name] for name in ("DATABASE_URL", "REDIS_URL")}
    inner = json.loads(run(sys.executable, "-c", PRINT_ENVIRONMENT, **given).stdout)
    assert {name: inner[name] for name in given} == given
    records = Path(inner["DEV_SUPERVISOR_FOLDER"]) / "processes"
    assert not (records / "postgres.json").exists()


def test_only_the_owner_can_read_files_with_keys() -> None:
    world = Path(os.environ["DEV_WORLD_FILE"])
    assert world.stat().st_mode & 0o077 == 0
    assert (world.parents[2] / "keys.json").stat().st_mode & 0o077 == 0
