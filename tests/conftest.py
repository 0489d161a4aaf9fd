"""Fixtures that every test may use: a partner, its key, and clients that speak for it or for nobody."""

import pytest
from django.test import Client

from partners.models import ApiKey, Partner
from sweepapi import chains
from sweepapi.evm.chains import Chain
from tests.factories.partners import PartnerFactory


@pytest.fixture
def partner() -> Partner:
    return PartnerFactory.create()


@pytest.fixture
def api_key(partner: Partner) -> str:
    """A live key of the partner, in plaintext."""
    _, plaintext = ApiKey.issue(partner=partner, name="tests")
    return plaintext


@pytest.fixture
def api(api_key: str) -> Client:
    """A client that sends the partner's key."""
    return Client(headers={"x-api-key": api_key})


@pytest.fixture
def anonymous() -> Client:
    return Client()


@pytest.fixture
def two_chains(monkeypatch: pytest.MonkeyPatch) -> tuple[Chain, ...]:
    """Enable base and arbitrum from the chains file, whatever the environment offers."""
    enabled = (chains.known()["base"], chains.known()["arbitrum"])
    monkeypatch.setattr(chains, "enabled", lambda: enabled)
    return enabled
