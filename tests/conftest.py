"""Fixtures that every test may use: a partner and its clients, the local chain, and the guard over transactions."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from partners.models import ApiKey, Partner
from sweepapi import chains
from sweepapi.evm.chains import Chain, load_chains
from sweepapi.evm.rpc import Call, Provider, ProviderPool
from tests import fake_node
from tests.factories.partners import PartnerFactory
from tests.fake_node import FakeNode
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
    public = load_chains(settings.BASE_DIR / "config" / "chains.toml")
    enabled = (public["base"], public["arbitrum"])
    monkeypatch.setattr(chains, "known", lambda: public)
    monkeypatch.setattr(chains, "enabled", lambda: enabled)
    return enabled


@pytest.fixture
def chain() -> Iterator[LocalChain]:
    """The local chain, its clock that of the server; what a test does to it is undone."""
    local = LocalChain.of_environment()
    snapshot = local.rpc("evm_snapshot")
    local.catch_up()
    yield local
    local.roll_back(snapshot)


@pytest.fixture
def app(api: Client, chain: LocalChain) -> PartnerApp:
    """The partner's application, with users on the local chain."""
    return PartnerApp(api, chain)


@pytest.fixture
def round_trips(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Every round trip to a chain's provider made so far, as the methods that it carried."""
    trips: list[list[str]] = []
    post = Provider._post  # noqa: SLF001 the one place where requests leave

    def counted(provider: Provider, calls: Sequence[Call], timeout_seconds: float) -> list[Any]:
        trips.append([call.method for call in calls])
        return post(provider, calls, timeout_seconds)

    monkeypatch.setattr(Provider, "_post", counted)
    return trips


@pytest.fixture
def use_providers(chain: LocalChain, monkeypatch: pytest.MonkeyPatch) -> Callable[..., ProviderPool]:
    """Let the service read the local chain from these URLs, in this order, and from nowhere else."""

    def use(*urls: str, timeout_seconds: float = 10.0) -> ProviderPool:
        pool = ProviderPool.of_urls(urls=urls, chain_id=chain.world["chainId"], timeout_seconds=timeout_seconds)
        monkeypatch.setattr(chains, "pool", lambda _chain_id: pool)
        return pool

    return use


@pytest.fixture
def no_providers(use_providers: Callable[..., ProviderPool]) -> ProviderPool:
    """Nobody answers for the chain: the port is closed."""
    return use_providers("http://127.0.0.1:1/secret-of-the-provider")


@pytest.fixture
def start_node(chain: LocalChain) -> Iterator[Callable[[], FakeNode]]:
    """Start nodes before the local chain that answer as the test wants."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(fake_node.running(chain.world["rpcUrl"]))


@pytest.fixture
def change_chain(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Chain]:
    """Change public facts of the local chain, as if chains.toml said so."""

    def change(**facts: Any) -> Chain:
        changed = replace(chains.known()["local"], **facts)
        monkeypatch.setattr(chains, "enabled", lambda: (changed,))
        monkeypatch.setattr(chains, "by_id", lambda _chain_id: changed)
        return changed

    return change
