"""Strangers who name the reference key of one sweep keep no other sweep from being followed."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import requests
from django.utils import timezone

from indexer import checks, reconciliation
from sweepapi.rpc import ProviderPool
from sweepapi.solana.landed import searching
from sweeps.models import Sweep
from tests import fake_node
from tests.solana_cluster import SolanaCluster
from tests.solana_sweeps import LocalSweep

pytestmark = pytest.mark.django_db

UseNodes = Callable[..., ProviderPool]


def the_worker_checks_all() -> None:
    Sweep.objects.filter(is_open=True).update(next_check_at=timezone.now() - timedelta(minutes=1))
    checks.check_due()


def test_a_transaction_too_large_to_be_read_does_not_hide_others(cluster: SolanaCluster, use_nodes: UseNodes) -> None:
    spammed, sweep = LocalSweep(cluster), LocalSweep(cluster)
    (large,) = spammed.spam()
    spammed.land()
    sweep.land()

    def is_too_large(batch: list[dict[str, Any]]) -> bool:
        return any(one["method"] == "getTransaction" and one["params"][0] == str(large.signature) for one in batch)

    with fake_node.running(cluster.url) as node:
        node.refuse = is_too_large
        use_nodes(node.url)
        the_worker_checks_all()
    assert [one.refreshed().status for one in (spammed, sweep)] == ["completed", "completed"]


def test_a_transaction_of_a_later_version_keeps_no_sweep_from_expiring_or_being_found(
    cluster: SolanaCluster, use_nodes: UseNodes
) -> None:
    expired, late = LocalSweep(cluster), LocalSweep(cluster)
    of_later_version = [str(one.signature) for one in expired.spam()]
    cluster.expire_blockhashes()

    def refusing(batch: list[dict[str, Any]]) -> tuple[int, bytes]:
        answers = requests.post(cluster.url, json=batch, timeout=10).json()
        refused = [
            one["id"] for one in batch if one["method"] == "getTransaction" and one["params"][0] in of_later_version
        ]
        error = {"code": -32015, "message": "Transaction version (2) is not supported by the requesting client."}
        shown = [{"id": one["id"], "error": error} if one["id"] in refused else one for one in answers]
        return 200, json.dumps(shown).encode()

    with fake_node.running(cluster.url) as node, fake_node.running(cluster.url) as other:
        node.raw = other.raw = refusing
        use_nodes(node.url, other.url)
        the_worker_checks_all()
        assert [one.refreshed().status for one in (expired, late)] == ["failed", "expired"]
        cluster.faucet.mint_to(late.fee_account, cluster.usdc, 1)
        of_later_version.append(str(next(cluster.bank.records.newest_first(late.fee_account)).signature))
        late.land()
        cluster.finalize()
        reconciliation.reconcile()
    assert late.refreshed().status == "completed"


def test_one_check_reads_of_each_sweep_before_it_reads_more_of_one(
    cluster: SolanaCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "MAX_READ_AT_ONCE", 4)
    spammed, sweep = LocalSweep(cluster), LocalSweep(cluster)
    spammed.spam(count=10)
    sweep.land()
    the_worker_checks_all()
    assert sweep.refreshed().status == "completed"
    assert spammed.row.transactions.count() == 3
