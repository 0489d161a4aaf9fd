"""Fixtures of the races: the chain does not answer, or shows what a scene says; only the database is raced for."""

import os
from collections.abc import Callable, Iterator

import pytest
from pytest_django import DjangoDbBlocker

from sweepapi.networks import Networks
from tests.races.interleaving import close_idle_sessions
from tests.races.rules import drop_rule


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:  # noqa: ARG001 it runs before
    """Create the tests' database, without the rule that ``lab.concurrency`` has dropped to see whether a race fails."""
    dropped = os.environ.get("WITHOUT_RULE")
    if dropped:
        with django_db_blocker.unblock():
            drop_rule(dropped)
    yield
    close_idle_sessions()


@pytest.fixture
def unreachable_chain(change_networks: Callable[..., Networks]) -> None:
    """Let no provider answer."""
    change_networks(rpc_urls={"local": ["http://127.0.0.1:1"]})
