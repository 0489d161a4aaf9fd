"""Engines of their own for tests that stop them: one set for each module."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from dev.engines import postgres, redis
from tests.resilience.engines import Engines


@dataclass(frozen=True)
class Database:
    """A migrated database with a partner in it."""

    url: str
    api_key: str


@pytest.fixture(scope="module")
def engines() -> Iterator[Engines]:
    # Not below pytest's own folder: PostgreSQL may run as another user, and pytest closes its folder to all others.
    with TemporaryDirectory() as folder, Engines(Path(folder)) as engines:
        yield engines


@pytest.fixture(scope="module")
def redis_url(engines: Engines) -> str:
    return redis.start(engines, password="secret")


@pytest.fixture(scope="module")
def database(engines: Engines) -> Database:
    url = postgres.start(engines, owner_password="owner", runtime_password="runtime").owner
    task = {
        "runtimeRole": None,
        "admin": {"username": "admin", "password": "secret"},
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
    return Database(url, json.loads(prepared.stdout)[0])
