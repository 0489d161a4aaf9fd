"""Databases for tests that stop their server."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass

from dev.engines import postgres
from tests.resilience.engines import Engines, connect


@dataclass(frozen=True)
class Database:
    """A migrated database with a partner in it."""

    url: str
    api_key: str


def start(engines: Engines) -> Database:
    """Start a server, and fill its database."""
    url = postgres.start(engines, owner_password="owner", runtime_password="runtime", console_password="console").owner
    task = {
        "roles": {},
        "admin": {"username": "admin", "password": "secret", "totp_secret": "A" * 32},
        "payouts": [{"wallet": "0x" + digits * 20, "networks": {}} for digits in ("11", "22")],
    }
    prepared = subprocess.run(
        [sys.executable, "-m", "dev.seed"],
        env={**os.environ, "DATABASE_URL": url},
        input=json.dumps(task),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    with connect(url) as owner:  # a server that is killed keeps what it committed, as in production
        owner.execute("ALTER DATABASE sweepapi SET synchronous_commit = on")
    return Database(url, json.loads(prepared.stdout)[0])
