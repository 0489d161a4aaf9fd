"""Operators see how each provider is doing, and never its URL."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from sweepapi.rpc import ProviderPool
from sweeps.models import RunningProcess
from sweeps.processes import GONE_AFTER, ProcessReport
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


def test_each_process_is_shown_with_its_own_view(
    ops: Client, chain: LocalChain, use_providers: Callable[..., ProviderPool]
) -> None:
    use_providers(chain.world["rpcUrl"]).batch([HEAD])
    ProcessReport("work")()
    RunningProcess.objects.update(name="work on another-host, 7")
    use_providers("http://127.0.0.1:1")
    text = page(ops)
    assert "work on another-host, 7" in text
    assert "healthy" in text, "the other process sees it so"
    RunningProcess.objects.update(seen_at=timezone.now() - GONE_AFTER)
    assert "another-host" not in page(ops), "it has not reported for long"


def test_a_process_reports_itself_again_and_forgets_those_that_ended_long_ago() -> None:
    report = ProcessReport("web")
    report()
    RunningProcess.objects.create(
        name="web on gone, 1",
        kind="web",
        release="0",
        started_at=timezone.now(),
        seen_at=timezone.now() - timedelta(days=2),
    )
    report()
    (row,) = RunningProcess.objects.all()
    assert (row.kind, row.release) == ("web", settings.SPECTACULAR_SETTINGS["VERSION"])
