"""Finds TCP ports for the servers of a local world, because several worlds may run side by side."""

import socket


def free_port() -> int:
    """Return a port that was free on the loopback interface a moment ago; another process may take it first."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
