"""Fixtures for the tests of sweeps: a token that sets a trap, and a provider that misbehaves."""

from collections.abc import Callable
from functools import partial

import pytest

from sweepapi.rpc import ProviderPool
from tests.fake_node import FakeNode
from tests.hostile_tokens import arm, put_contract
from tests.partner_app import PartnerApp


@pytest.fixture
def trap(app: PartnerApp) -> Callable[..., str]:
    """Turn UNI, with its balances and pools, into a trap; returns its address."""
    put_contract(app, "TrapToken")
    return partial(arm, app)


@pytest.fixture
def node(start_node: Callable[[], FakeNode], use_providers: Callable[..., ProviderPool]) -> FakeNode:
    """A node of the local chain, which is the only provider."""
    fake = start_node()
    use_providers(fake.url)
    return fake
