"""Runs the races of the service on each mutant, in copies of the project, and says which of them notice it."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from dev.concurrency.mutants import APPS, Mutant

RACES = "tests/races"
RACES_OF_KEYS = "test_keys.py"  # which depend on nothing but the schema
HANGS_AFTER_SECONDS = 600  # a rival that waits for a lock for ever is found, too
_COPIED = (*APPS, "dev", "tests")
_FILES = ("manage.py", "pyproject.toml")
_LINKED = (".venv", "contracts")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


class RacesFailError(Exception):
    """The races fail on the service as it is, or can't run."""


@dataclass(frozen=True)
class Outcome:
    """A mutant, and the test that found it; None if it survived."""

    mutant: Mutant
    found_by: str | None


def try_mutants(root: Path, folder: Path, mutants: Sequence[Mutant]) -> Iterator[Outcome]:
    """Yield the outcome of each mutant, as many at a time as there are cores; raises RacesFailError."""
    free: SimpleQueue[Path] = SimpleQueue()
    for number in range(os.cpu_count() or 1):
        free.put(_copy(root, folder / str(number)))
    likely: dict[str, str] = {}  # the races that found the last mutant of a file

    def attempt(mutant: Mutant) -> Outcome:
        bench = free.get()
        try:
            found_by = _found_by(bench, mutant, first=likely.get(mutant.file, ""))
        finally:
            free.put(bench)
        if found_by is not None:
            likely[mutant.file] = Path(found_by.partition("::")[0]).name
        return Outcome(mutant, found_by)

    original = free.get()
    if failed := _failing_race(original, _races(original)):
        raise RacesFailError(f"{failed} fails on the original")
    free.put(original)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        yield from pool.map(attempt, mutants)


def _copy(root: Path, folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    for name in _COPIED:
        shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in _FILES:
        shutil.copy2(root / name, folder / name)
    for name in _LINKED:
        (folder / name).symlink_to((root / name).resolve())
    return folder


def _found_by(bench: Path, mutant: Mutant, *, first: str) -> str | None:
    if mutant.rule:
        return _failing_race(bench, _races(bench), WITHOUT_RULE=mutant.rule)
    file = bench / mutant.file
    source = file.read_text()
    file.write_text(mutant.apply(source))
    races = sorted(_races(bench), key=lambda race: race.name != first)
    try:
        return _failing_race(bench, [race for race in races if race.name != RACES_OF_KEYS])
    finally:
        file.write_text(source)


def _races(bench: Path) -> list[Path]:
    return sorted((bench / RACES).glob("test_*.py"))


def _failing_race(bench: Path, races: Sequence[Path], **environment: str) -> str | None:
    """Run races until one fails and return it, None if all pass; raises RacesFailError if they can't run."""
    argv = [sys.executable, "-m", "dev", "exec", "--", sys.executable, "-m", "pytest", "-q", "-x", *map(str, races)]
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment}
    try:
        ran = subprocess.run(
            argv, cwd=bench, env=env, capture_output=True, text=True, check=False, timeout=HANGS_AFTER_SECONDS
        )
    except subprocess.TimeoutExpired:
        return "the races hang"
    if ran.returncode == 0:
        return None
    failed = _FAILED.search(ran.stdout)
    if failed is None:
        raise RacesFailError(f"the races could not run:\n{ran.stdout}{ran.stderr}")
    return failed[1]
