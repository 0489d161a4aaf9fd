"""Locates installed Python packages, for the binaries and constants that some of them carry."""

import importlib.util
from pathlib import Path

from dev.processes.errors import NotInstalledError


def package_folder(name: str) -> Path:
    """Find the folder of a package without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise NotInstalledError(f"the package {name} is not installed: run `make demo` to install it")
    return Path(spec.origin).parent
