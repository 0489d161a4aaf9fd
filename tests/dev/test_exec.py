"""``python -m dev exec`` is transparent: the command's environment, exit code and engines are what it says."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TELL = "import json, os; print(json.dumps(dict(os.environ)))"


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


def test_a_command_ended_by_a_signal_returns_128_and_its_number() -> None:
    assert run("/bin/sh", "-c", "kill -TERM $$").returncode == 143


def test_a_command_that_does_not_exist_is_named() -> None:
    result = run("no-such-command")
    assert result.returncode == 1
    assert "no-such-command" in result.stderr


def test_worlds_live_side_by_side() -> None:
    inner = json.loads(run(sys.executable, "-c", TELL).stdout)
    assert inner["DATABASE_URL"] != os.environ["DATABASE_URL"]
    assert inner["DEV_WORLD_FILE"] != os.environ["DEV_WORLD_FILE"]


def test_engines_that_the_environment_brings_are_used_and_not_embedded() -> None:
    given = {name: os.environ[name] for name in ("DATABASE_URL", "REDIS_URL")}
    inner = json.loads(run(sys.executable, "-c", TELL, **given).stdout)
    assert {name: inner[name] for name in given} == given
    records = Path(inner["DEV_SUPERVISOR_FOLDER"]) / "processes"
    assert not (records / "postgres.json").exists()


def test_files_with_keys_are_for_their_owner_only() -> None:
    world = Path(os.environ["DEV_WORLD_FILE"])
    assert world.stat().st_mode & 0o077 == 0
    assert (world.parents[2] / "keys.json").stat().st_mode & 0o077 == 0
