"""Fixtures for the tests of sweeps: a token that sets a trap, and a provider that misbehaves."""

from collections.abc import Callable
from functools import partial

import pytest

from tests.hostile_tokens import arm, put_contract
from tests.partner_app import PartnerApp


@pytest.fixture
def trap(app: PartnerApp) -> Callable[..., str]:
    """Turn UNI, with its balances and pools, into a trap; returns its address."""
    put_contract(app, "TrapToken")
    return partial(arm, app)
