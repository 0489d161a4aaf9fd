"""Runs the races of the service on each mutant, in a copy of the project, and says which of them notice it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.concurrency.mutants import Mutant
from lab.edited_copy import EditedCopy, TestsCannotRunError

RACES = "tests/races"
RACES_OF_KEYS = "test_keys.py"  # which depend on nothing but the schema


@dataclass(frozen=True)
class Outcome:
    """A mutant, and the test that found it; None if it survived."""

    mutant: Mutant
    found_by: str | None


def try_mutants(root: Path, folder: Path, mutants: Sequence[Mutant]) -> Iterator[Outcome]:
    """Yield the outcome of each mutant; raises ``TestsCannotRunError``."""
    copy = EditedCopy.of(root, folder / "copy")
    if failed := copy.failing_test(_races(copy)):
        raise TestsCannotRunError(f"{failed} fails on the original")
    likely: dict[str, str] = {}  # the races that found the last mutant of a file
    for mutant in mutants:
        found_by = _found_by(copy, mutant, first=likely.get(mutant.file, ""))
        if found_by is not None:
            likely[mutant.file] = Path(found_by.partition("::")[0]).name
        yield Outcome(mutant, found_by)


def _found_by(copy: EditedCopy, mutant: Mutant, *, first: str) -> str | None:
    if mutant.rule:
        # A database that lacks a rule serves no other mutant.
        races = _races(copy, first=RACES_OF_KEYS)
        return copy.failing_test(races, keeps_database=False, environment={"WITHOUT_RULE": mutant.rule})
    with copy.with_source(mutant.file, mutant.apply((copy.folder / mutant.file).read_text())):
        return copy.failing_test([race for race in _races(copy, first=first) if Path(race).name != RACES_OF_KEYS])


def _races(copy: EditedCopy, *, first: str = "") -> list[str]:
    races = sorted((copy.folder / RACES).glob("test_*.py"), key=lambda race: (race.name != first, race.name))
    return [str(race) for race in races]
