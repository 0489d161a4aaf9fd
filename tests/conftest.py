"""Fixtures for all tests: a partner and its clients, the networks, the local chain, and the guard of transactions."""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread
from typing import Any
from uuid import uuid4

import pytest
from celery import current_app
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.core.servers.basehttp import WSGIRequestHandler
from django.db import connections
from django.test import Client, TransactionTestCase
from django.utils import timezone
from pytest_django import Settings

from indexer import blocks, checks
from ledger.entries.numbering import number_entries
from partners.models import ApiKey, Partner
from sweepapi import networks
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.chains_file import load_chains
from sweepapi.limits.outage import Outage
from sweepapi.modes import Mode
from sweepapi.networks import Networks
from sweepapi.rpc import Call, Provider, ProviderPool, hedging
from sweepapi.solana.cluster.clusters import load_clusters
from sweeps.models import Sweep, WatchedBlock
from sweeps.protocol.measured import Measured
from sweeps.rails.evm import availability
from sweeps.rails.registry import V2_MODES
from sweeps.rails.solana_v1 import availability as solana_availability
from tests import emptying, fake_node, nitro, solana_cluster, solana_swap_api
from tests.documentation import build
from tests.factories.partners import PartnerFactory
from tests.fake_node import FakeNode
from tests.guards import watch_io
from tests.local_chain import LocalChain
from tests.nitro import NitroChain
from tests.operator_browser import ConsoleClient
from tests.partner_app import PartnerApp
from tests.payments import Treasury
from tests.solana_cluster import SolanaCluster
from tests.solana_payments import ClusterTreasury
from tests.solana_swap_api import SwapMarket
from tests.solana_user import SolanaUser


def pytest_configure() -> None:
    TransactionTestCase._fixture_teardown = emptying.empty  # type: ignore[attr-defined]  # noqa: SLF001 Django has no other way
    WSGIRequestHandler.disable_nagle_algorithm = True  # of the live server: it would hold back each body for 40 ms


def pytest_collection_finish() -> None:
    """Never search what was imported for garbage, because it all stays."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def io_inside_transactions(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Requests to a chain or broker inside a database transaction; any of them fails the test."""
    breaches = watch_io(monkeypatch)
    yield breaches
    assert breaches == []


@pytest.fixture(autouse=True)
def patient(settings: Settings) -> None:
    """Confirms wait for the chain as long as a busy machine needs."""
    settings.CONFIRM_TIMEOUT_SECONDS = 20


@pytest.fixture
def probing() -> None:
    """Providers that answer no request are probed beside the requests, also for a while after the test."""


@pytest.fixture(autouse=True)
def unprobed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread of an earlier test asks providers, unless the test is about that."""
    if "probing" not in request.fixturenames:
        monkeypatch.setattr(Outage, "suspect", lambda _: None)


@pytest.fixture
def nothing_is_stored(db: None) -> Iterator[None]:  # noqa: ARG001 the tables must exist
    """Fails the test if a sweep is stored."""
    yield
    assert not Sweep.objects.exists()


@pytest.fixture
def partner() -> Partner:
    return PartnerFactory.create()


@pytest.fixture
def api_key(partner: Partner) -> str:
    """A key of the partner for sandbox networks, as the local ones are, in plaintext."""
    _, plaintext = ApiKey.issue(partner=partner, name="tests", mode=Mode.TEST)
    return plaintext


@pytest.fixture
def api(api_key: str) -> Client:
    """A client that sends the partner's key."""
    return Client(headers={"x-api-key": api_key})


@pytest.fixture
def ops() -> Client:
    """A browser in which a superuser is logged in to the console."""
    client = ConsoleClient()
    client.force_login(User.objects.create_superuser("ops"))
    return client


@pytest.fixture
def anonymous() -> Client:
    return Client()


@pytest.fixture
def change_networks() -> Iterator[Callable[..., Networks]]:
    """Change facts of the registry (chains, providers, keys) until the test ends."""
    with ExitStack() as stack:
        yield lambda **facts: stack.enter_context(networks.replaced_by(replace(networks.current(), **facts)))


@pytest.fixture
def two_chains(change_networks: Callable[..., Networks]) -> tuple[Chain, ...]:
    """Base and arbitrum from the shipped chains file, enabled in any environment, as sandbox chains."""
    public = load_chains(django_settings.BASE_DIR / "config" / "chains.toml")
    public = {name: replace(chain, sandbox=True) for name, chain in public.items()}
    urls = ["http://127.0.0.1:1"]
    return change_networks(chains=public, rpc_urls={"base": urls, "arbitrum": urls}).enabled


@pytest.fixture
def shipped_cluster(change_networks: Callable[..., Networks]) -> None:
    """The cluster of the shipped file as a sandbox cluster, whose sweeps a test key reaches."""
    shipped = load_clusters(django_settings.BASE_DIR / "config" / "clusters.toml")
    change_networks(clusters={name: replace(cluster, sandbox=True) for name, cluster in shipped.items()})


@pytest.fixture
def chain() -> Iterator[LocalChain]:
    """The local chain, with its clock set to the server's; everything a test does to it is reverted."""
    local = LocalChain.of_environment()
    snapshot = local.rpc("evm_snapshot")
    local.catch_up()
    # In a registry of its own, so that what the service learns of this chain is forgotten with it.
    with networks.replaced_by(replace(networks.current())):
        yield local
    local.roll_back(snapshot)


@pytest.fixture
def cluster(change_networks: Callable[..., Networks]) -> Iterator[SolanaCluster]:
    """A local Solana cluster of the test's own, which the service reads from its first node."""
    with solana_cluster.running() as local:
        change_networks(
            clusters={"solana": local.facts()},
            rpc_urls={**networks.current().rpc_urls, "solana": [local.url]},
            fee_wallet=str(local.fee_wallet),
        )
        yield local


@pytest.fixture
def swap_api(
    cluster: SolanaCluster, change_networks: Callable[..., Networks], monkeypatch: pytest.MonkeyPatch
) -> Iterator[SwapMarket]:
    """A swap API of the local cluster, which the service asks for quotes; Redis may be slow, as on a busy machine."""
    monkeypatch.setattr(networks, "SHARED_TIMEOUT_SECONDS", 10.0)
    with solana_swap_api.running(cluster) as market:
        change_networks(swap_api_url=market.api.url, swap_api_key=f"key {uuid4()}", swap_api_requests_per_minute=10_000)
        yield market


@pytest.fixture
def user(swap_api: SwapMarket, partner: Partner) -> SolanaUser:
    """A user of the partner's application on the local Solana cluster."""
    return SolanaUser(swap_api, partner)


@pytest.fixture
def use_nodes(cluster: SolanaCluster, change_networks: Callable[..., Networks]) -> Callable[..., ProviderPool]:
    """Let the service read the local cluster from these URLs, in this order, and from nowhere else."""

    def use(*urls: str, timeout_seconds: float = 10.0) -> ProviderPool:
        changed = change_networks(rpc_urls={"solana": urls}, rpc_timeout_seconds=timeout_seconds)
        return changed.pool(cluster.network)

    return use


@pytest.fixture
def unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what an earlier request to the status of the service measured."""
    monkeypatch.setattr(availability, "_differences", {})
    monkeypatch.setattr(solana_availability, "_missing", {})
    for module in (availability, solana_availability):
        measured = module.measured
        monkeypatch.setattr(module, "measured", Measured(measured.measure, type(measured.latest)()))


@pytest.fixture
def app(api: Client, chain: LocalChain) -> PartnerApp:
    """The partner's application, with users on the local chain."""
    return PartnerApp(api, chain)


@pytest.fixture
def use_mode(change_networks: Callable[..., Networks]) -> Callable[[str], object]:
    """Build in another mode until the test ends."""
    return lambda mode: change_networks(default_build_mode=mode)


@pytest.fixture(params=V2_MODES)
def each_mode(request: pytest.FixtureRequest, use_mode: Callable[[str], object]) -> str:
    """Run the test once in every build mode, whose name this is."""
    mode: str = request.param
    use_mode(mode)
    return mode


@pytest.fixture
def queue() -> Iterator[Any]:
    """The worker's queue, empty and without a consumer."""
    with current_app.connection_for_read() as connection:
        queue = current_app.amqp.queues["sweeps"](connection.default_channel)
        queue.purge()
        yield queue
        queue.purge()


@pytest.fixture
def round_trips(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Every HTTP request to a provider so far, as the list of its methods."""
    trips: list[list[str]] = []
    post = Provider._post  # noqa: SLF001 every request goes through it

    def counted(provider: Provider, calls: Sequence[Call], timeout_seconds: float) -> Mapping[int, Any]:
        trips.append([call.method for call in calls])
        return post(provider, calls, timeout_seconds)

    monkeypatch.setattr(Provider, "_post", counted)
    return trips


@pytest.fixture(scope="session")
def site_pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the documentation, built as for a hosted service."""
    return build(tmp_path_factory.mktemp("documentation"))


@pytest.fixture
def late_ones_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for every provider: who is late has no opinion, and on a busy machine that might be the honest one."""
    for name in ("MIN_DELAY_SECONDS", "MAX_DELAY_SECONDS"):
        monkeypatch.setattr(hedging, name, 20.0)


@pytest.fixture
def use_providers(
    chain: LocalChain,
    change_networks: Callable[..., Networks],
    late_ones_are_waited_for: None,  # noqa: ARG001 an effect
) -> Callable[..., ProviderPool]:
    """Let the service read the local chain from these URLs, in this order, and from nowhere else."""

    def use(*urls: str, timeout_seconds: float = 10.0) -> ProviderPool:
        changed = change_networks(rpc_urls={"local": urls}, rpc_timeout_seconds=timeout_seconds)
        return changed.pool(f"eip155:{chain.world['chainId']}")

    return use


@pytest.fixture
def no_providers(use_providers: Callable[..., ProviderPool]) -> ProviderPool:
    """The local chain has one provider, which refuses connections."""
    return use_providers("http://127.0.0.1:1/secret-of-the-provider")


@pytest.fixture
def start_node(chain: LocalChain) -> Iterator[Callable[[], FakeNode]]:
    """Start proxies of the local chain whose answers the test controls."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(fake_node.running(chain.world["rpcUrl"]))


@pytest.fixture
def node(start_node: Callable[[], FakeNode], use_providers: Callable[..., ProviderPool]) -> FakeNode:
    """A node of the local chain, which is the only provider."""
    fake = start_node()
    use_providers(fake.url)
    return fake


@pytest.fixture
def change_chain(change_networks: Callable[..., Networks]) -> Callable[..., Chain]:
    """Change public facts of the local chain, as if chains.toml said so."""

    def change(**facts: Any) -> Chain:
        chains = networks.current().chains
        changed = replace(chains["local"], **facts)
        change_networks(chains={**chains, "local": changed})
        return changed

    return change


@pytest.fixture
def charge_for_data(
    chain: LocalChain, change_chain: Callable[..., Chain], use_providers: Callable[..., ProviderPool]
) -> Iterator[Callable[[int], NitroChain]]:
    """Make the local chain one of Nitro, whose units of data cost so many times the base fee."""
    with ExitStack() as stack:
        yield lambda ratio: stack.enter_context(nitro.charging(chain, change_chain, use_providers, ratio=ratio))


@pytest.fixture
def treasury(chain: LocalChain, change_chain: Callable[..., Chain]) -> Treasury:
    """The only wallet on the local chain that pays partners."""
    change_chain(payout_senders=(chain.users[0].address,))
    return Treasury(chain, chain.users[0])


@pytest.fixture
def cluster_treasury(cluster: SolanaCluster, change_networks: Callable[..., Networks]) -> ClusterTreasury:
    """The only wallet on the local cluster that pays partners."""
    treasury = ClusterTreasury(cluster, cluster.create_wallet())
    change_networks(clusters={"solana": replace(cluster.facts(), payout_senders=(treasury.address,))})
    return treasury


@pytest.fixture
def checked() -> Iterator[None]:
    """Sweeps and their blocks are looked at, and entries are numbered, all the time, as by the loop."""
    is_over = Event()

    def check() -> None:
        try:
            while not is_over.wait(0.05):
                past = timezone.now() - timedelta(minutes=1)
                Sweep.objects.filter(status="pending").update(next_check_at=past)
                WatchedBlock.objects.update(due_at=past)
                checks.check_due()
                blocks.check_due()
                number_entries()
        finally:
            connections.close_all()

    worker = Thread(target=check)
    worker.start()
    yield
    is_over.set()
    worker.join()
