"""Fixtures that every test may use: a partner and its clients, the local chain, and the guard over transactions."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from django.test import Client

from partners.models import ApiKey, Partner
from sweepapi import chains
from sweepapi.evm.chains import Chain
from sweepapi.evm.rpc import Call, Provider
from tests.factories.partners import PartnerFactory
from tests.guards import watch_io
from tests.local_chain import LocalChain
from tests.partner_app import PartnerApp


@pytest.fixture(autouse=True)
def io_inside_transactions(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What asked a chain or a broker inside a database transaction; a test in which anything did fails."""
    breaches = watch_io(monkeypatch)
    yield breaches
    assert breaches == []


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


@pytest.fixture
def chain() -> Iterator[LocalChain]:
    """The local chain; what a test does to it is undone."""
    local = LocalChain.of_environment()
    snapshot = local.rpc("evm_snapshot")
    yield local
    assert local.rpc("evm_revert", snapshot)


@pytest.fixture
def app(api: Client, chain: LocalChain) -> PartnerApp:
    """The partner's application, with users on the local chain."""
    return PartnerApp(api, chain)


@pytest.fixture
def round_trips(io_inside_transactions: list[str], monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Every round trip to a chain's provider made so far, as the methods that it carried."""
    trips: list[list[str]] = []
    post = Provider._post  # noqa: SLF001 the one place where requests leave

    def counted(provider: Provider, calls: Sequence[Call], timeout_seconds: float) -> list[Any]:
        trips.append([call.method for call in calls])
        return post(provider, calls, timeout_seconds)

    monkeypatch.setattr(Provider, "_post", counted)
    return trips
