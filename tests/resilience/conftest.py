"""Engines of their own for tests that stop them: one set for each module, or the whole service for all of them."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from dev.engines import redis
from tests.resilience import databases
from tests.resilience.databases import Database
from tests.resilience.engines import Engines
from tests.resilience.world import World, running


# Not below pytest's own folder: PostgreSQL may run as another user, and pytest closes its folder to all others.
@pytest.fixture(scope="module")
def engines() -> Iterator[Engines]:
    with TemporaryDirectory() as folder, Engines(Path(folder)) as engines:
        yield engines


@pytest.fixture(scope="module")
def redis_url(engines: Engines) -> str:
    return redis.start(engines, password="secret")


@pytest.fixture(scope="module")
def database(engines: Engines) -> Database:
    return databases.start(engines)


@pytest.fixture(scope="package")
def world() -> Iterator[World]:
    with TemporaryDirectory() as folder, Engines(Path(folder)) as engines, running(engines) as world:
        yield world
