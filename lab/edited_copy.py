"""A copy of the project in which the text of one file is replaced, to see which tests notice."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

APPS = ("config", "console", "indexer", "ledger", "partners", "sweepapi", "sweeps")
HANGS_AFTER_SECONDS = 600  # tests that wait for ever have noticed, too
TRIES = 3
_COPIED = (*APPS, "dev", "lab", "tests")
_FILES = ("manage.py", "pyproject.toml")
_LINKED = (".venv", "contracts")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
# Of a machine that is too busy, which says nothing about the code; a lock that is never released ends otherwise.
_STARVED = "The database did not answer in time."


class TestsCannotRunError(Exception):
    """The tests fail on the project as it is, or can't run."""


@dataclass(frozen=True)
class EditedCopy:
    """The copy, which is the project itself but for the time of an edit."""

    folder: Path

    @classmethod
    def of(cls, root: Path, folder: Path) -> "EditedCopy":
        """Copy the project, in place of an earlier copy."""
        shutil.rmtree(folder, ignore_errors=True)
        for name in _COPIED:
            shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in _FILES:
            shutil.copy2(root / name, folder / name)
        for name in _LINKED:
            (folder / name).symlink_to((root / name).resolve())
        return cls(folder)

    @contextmanager
    def with_source(self, file: str, source: str) -> Iterator[None]:
        """Give a file another text until the block ends."""
        path = self.folder / file
        original = path.read_text()
        path.write_text(source)
        try:
            yield
        finally:
            path.write_text(original)

    def failing_test(
        self, tests: Sequence[str], *, keeps_database: bool = True, environment: Mapping[str, str] | None = None
    ) -> str | None:
        """Run tests until one fails and return it, None if all pass; raises ``TestsCannotRunError``.

        A database that is kept serves the next call, too.
        """
        options = ["--reuse-db"] if keeps_database else []
        argv = [sys.executable, "-m", "pytest", "-q", "-x", *options, *tests]
        env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **(environment or {})}
        output = ""
        for _ in range(TRIES):
            try:
                ran = subprocess.run(
                    argv,
                    cwd=self.folder,
                    env=env,
                    capture_output=True,
                    text=True,
                    check=False,
                    timeout=HANGS_AFTER_SECONDS,
                )
            except subprocess.TimeoutExpired:
                return "the tests hang"
            if ran.returncode == 0:
                return None
            output = ran.stdout + ran.stderr
            failed = _FAILED.search(ran.stdout)
            if failed is not None and _STARVED not in output:
                return failed[1]
        raise TestsCannotRunError(f"the tests could not run:\n{output}")
