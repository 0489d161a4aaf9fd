"""Runs the races of the service on each mutant, in a copy of the project, and says which of them notice it."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.concurrency.mutants import APPS, Mutant

RACES = "tests/races"
RACES_OF_KEYS = "test_keys.py"  # which depend on nothing but the schema
HANGS_AFTER_SECONDS = 600  # a rival that waits for a lock for ever is found, too
TRIES = 3
_COPIED = (*APPS, "dev", "tests")
_FILES = ("manage.py", "pyproject.toml")
_LINKED = (".venv", "contracts")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
# Of a machine that is too busy, which says nothing about the mutant; a lock that is never released ends otherwise.
_STARVED = "The database did not answer in time."


class RacesFailError(Exception):
    """The races fail on the service as it is, or can't run."""


@dataclass(frozen=True)
class Outcome:
    """A mutant, and the test that found it; None if it survived."""

    mutant: Mutant
    found_by: str | None


def try_mutants(root: Path, folder: Path, mutants: Sequence[Mutant]) -> Iterator[Outcome]:
    """Yield the outcome of each mutant; raises RacesFailError."""
    copy = _copy(root, folder / "copy")
    if failed := _failing_race(copy, _races(copy)):
        raise RacesFailError(f"{failed} fails on the original")
    likely: dict[str, str] = {}  # the races that found the last mutant of a file
    for mutant in mutants:
        found_by = _found_by(copy, mutant, first=likely.get(mutant.file, ""))
        if found_by is not None:
            likely[mutant.file] = Path(found_by.partition("::")[0]).name
        yield Outcome(mutant, found_by)


def _copy(root: Path, folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    for name in _COPIED:
        shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in _FILES:
        shutil.copy2(root / name, folder / name)
    for name in _LINKED:
        (folder / name).symlink_to((root / name).resolve())
    return folder


def _found_by(copy: Path, mutant: Mutant, *, first: str) -> str | None:
    if mutant.rule:
        return _failing_race(copy, _races(copy, first=RACES_OF_KEYS), without_rule=mutant.rule)
    file = copy / mutant.file
    source = file.read_text()
    file.write_text(mutant.apply(source))
    try:
        return _failing_race(copy, [race for race in _races(copy, first=first) if race.name != RACES_OF_KEYS])
    finally:
        file.write_text(source)


def _races(copy: Path, *, first: str = "") -> list[Path]:
    return sorted((copy / RACES).glob("test_*.py"), key=lambda race: (race.name != first, race.name))


def _failing_race(copy: Path, races: Sequence[Path], *, without_rule: str = "") -> str | None:
    """Run races until one fails and return it, None if all pass; raises RacesFailError if they can't run."""
    # A database that lacks a rule is dropped at the end, any other one serves the next mutant, too.
    options = [] if without_rule else ["--reuse-db"]
    argv = [sys.executable, "-m", "pytest", "-q", "-x", *options, *map(str, races)]
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "WITHOUT_RULE": without_rule}
    output = ""
    for _ in range(TRIES):
        try:
            ran = subprocess.run(
                argv, cwd=copy, env=env, capture_output=True, text=True, check=False, timeout=HANGS_AFTER_SECONDS
            )
        except subprocess.TimeoutExpired:
            return "the races hang"
        if ran.returncode == 0:
            return None
        output = ran.stdout + ran.stderr
        failed = _FAILED.search(ran.stdout)
        if failed is not None and _STARVED not in output:
            return failed[1]
    raise RacesFailError(f"the races could not run:\n{output}")
