"""nginx with the shipped file at other ports: from the path, or Debian's packages unpacked without root."""

import os
import shutil
import subprocess
from pathlib import Path

from dev.ports import free_port
from dev.processes.process import Program
from dev.processes.supervisor import Supervisor
from dev.world import VAR

SHIPPED = Path(__file__).parents[2] / "config" / "nginx" / "nginx.conf"
PACKAGES = ("nginx", "nginx-common")


def start(supervisor: Supervisor, *, web_port: int, name: str, console_port: int | None = None) -> tuple[int, int]:
    """Start nginx in front of these ports, and return its own two, of which the second is the console's.

    Raises ``CalledProcessError`` if it refuses the file.
    """
    port, of_console, folder = free_port(), free_port(), supervisor.folder / name
    folder.mkdir(exist_ok=True)
    changes = {
        "server web:8000": f"server 127.0.0.1:{web_port}",
        "listen 8080": f"listen 127.0.0.1:{port}",
        "server console:8000": f"server 127.0.0.1:{console_port or web_port}",
        "listen 8081": f"listen 127.0.0.1:{of_console}",
        "/tmp/": f"{folder}/",  # noqa: S108 - as the shipped file says
    }
    text = SHIPPED.read_text(encoding="utf-8")
    for shipped, ours in changes.items():
        text = text.replace(shipped, ours)
    file = folder / "nginx.conf"
    file.write_text(text, encoding="utf-8")
    # As another user its processes could not open the laboratory's folders.
    directives = "daemon off; user root;" if os.geteuid() == 0 else "daemon off;"
    argv = [str(_binary()), "-p", str(folder), "-c", str(file), "-g", directives]
    subprocess.run([*argv, "-t"], check=True, capture_output=True, text=True)
    supervisor.launch(Program(name=name, argv=argv, log=folder / "nginx.log"))
    return port, of_console


def _binary() -> Path:
    found = shutil.which("nginx")
    if found:
        return Path(found)
    unpacked = VAR / "nginx"
    binary = unpacked / "usr" / "sbin" / "nginx"
    if not binary.exists():
        unpacked.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "download", *PACKAGES], cwd=unpacked, check=True, capture_output=True)  # noqa: S607
        for package in unpacked.glob("*.deb"):
            subprocess.run(["dpkg", "-x", package, unpacked], check=True)  # noqa: S607
    return binary
