"""What the engines ask of the machine: a port nobody uses, and where a wheel keeps its binaries."""

import importlib.util
import socket
from pathlib import Path

from dev.errors import NotInstalledError


def free_port() -> int:
    """Return a TCP port of the loopback interface that was free a moment ago: worlds may live side by side."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def package_folder(name: str) -> Path:
    """Find the folder of an installed package without importing it: only its binaries are wanted."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise NotInstalledError(f"the package {name} is not installed: `make demo` brings it")
    return Path(spec.origin).parent
