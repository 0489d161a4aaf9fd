"""Operators see what identifies each transaction of a sweep on Solana, and can't cancel it."""

import pytest
from django.contrib.auth.models import User

from sweepapi.errors import SweepNotCancellable
from sweeps.story.withdrawal import cancel_on_chain
from tests.operator_browser import ConsoleClient, reverse
from tests.solana_cluster import SolanaCluster
from tests.solana_sweeps import LocalSweep
from tests.sweeps.rails.solana_v1.checks import the_worker_checks

pytestmark = pytest.mark.django_db


def test_the_page_of_an_open_sweep_shows_its_references_and_when_they_expire(cluster: SolanaCluster) -> None:
    sweep = LocalSweep(cluster, transactions=2)
    landed = sweep.land(1)
    the_worker_checks(sweep)
    ops = ConsoleClient()
    ops.force_login(User.objects.create_superuser("ops"))
    text = ops.get(reverse("admin:sweeps_sweep_change", args=[sweep.row.id])).content.decode()
    for execution in sweep.executions:
        assert execution.execution_id in text
        assert str(execution.built.last_valid_block_height) in text
    assert "Transaction 2: fee account" in text
    assert f"https://explorer.example/tx/{landed.signature}" in text


def test_a_sweep_on_solana_cannot_be_cancelled_on_chain(cluster: SolanaCluster) -> None:
    sweep = LocalSweep(cluster)
    with pytest.raises(SweepNotCancellable, match="expire with their blockhash"):
        cancel_on_chain(sweep_id=sweep.row.id, reason="a test", requested_by="ops")
