"""Loads an example as a module, and runs it: the examples are files that partners copy, not a package."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SECONDS = 120


def load_example(name: str) -> ModuleType:
    """Return what ``examples/NAME.py`` defines."""
    spec = importlib.util.spec_from_file_location(f"{name}_example", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_process(folder: Path, name: str, arguments: Sequence[str]) -> tuple[int, str]:
    """Run an example as it is shipped, with no settings: its exit status and what it prints."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py"), *arguments],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        env={"PATH": os.environ["PATH"]},
        cwd=folder,
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


def run_main(folder: Path, module: ModuleType, arguments: Sequence[str]) -> tuple[int, str]:
    """Do the same in this process, because each start of Python takes half a second."""
    limit = sys.getrecursionlimit()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as printed:
        patch.chdir(folder)
        patch.setattr(sys, "argv", [str(module.__file__), *arguments])
        try:
            code: int = module.main()
        finally:
            sys.setrecursionlimit(limit)
    return code, printed.getvalue()
