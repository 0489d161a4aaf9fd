"""The chain does not answer in races, and no message is sent: only the database is raced for."""

from collections.abc import Callable

import pytest

from sweepapi.networks import Networks


@pytest.fixture(autouse=True)
def unreachable_chain(change_networks: Callable[..., Networks]) -> None:
    change_networks(rpc_urls={"local": ["http://127.0.0.1:1"]})
