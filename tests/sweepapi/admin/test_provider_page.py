"""Operators see how each provider is doing, and never its URL."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from sweepapi.rpc import ProviderPool
from tests.fake_node import FakeNode
from tests.local_chain import LocalChain
from tests.operator_browser import ConsoleClient, reverse
from tests.solana_cluster import SolanaCluster
from tests.sweepapi.rpc.calls import HEAD

pytestmark = pytest.mark.django_db

SECRET = "key-in-the-url"


def page(client: Client) -> str:
    response = client.get(reverse("providers"))
    assert response.status_code == 200
    return response.content.decode()


def test_each_provider_is_shown_with_its_health_and_without_its_url(
    ops: Client, chain: LocalChain, start_node: Callable[[], FakeNode], use_providers: Callable[..., ProviderPool]
) -> None:
    limiting = start_node()
    limiting.raw, limiting.headers = (lambda _batch: (429, b"")), {"Retry-After": "40"}
    pool = use_providers(f"{limiting.url}/{SECRET}", chain.world["rpcUrl"], f"http://127.0.0.1:1/{SECRET}")
    pool.batch([HEAD])
    text = page(ops)
    shown = ["local (eip155:31337)", "Provider 0", "Provider 1", "Provider 2", "healthy", "unproven", "waiting for"]
    assert [one for one in [*shown, str(chain.web3.eth.block_number)] if one not in text] == []
    assert SECRET not in text
    assert "127.0.0.1" not in text


def test_clusters_are_shown_too(ops: Client, cluster: SolanaCluster) -> None:
    assert f"solana ({cluster.network})" in page(ops)


def test_only_staff_see_the_page() -> None:
    client = ConsoleClient()
    client.force_login(User.objects.create_user("someone"))
    assert client.get(reverse("providers")).status_code == 302


def test_the_admin_links_to_the_page(ops: Client) -> None:
    assert reverse("providers") in ops.get(reverse("admin:index")).content.decode()
