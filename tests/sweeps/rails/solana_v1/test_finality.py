"""Final is what nodes call finalized, however many slots later that is: on some clusters none."""

import pytest

from sweeps.models import EventKind
from tests.solana_cluster import SolanaCluster
from tests.solana_sweeps import LocalSweep
from tests.sweeps.rails.solana_v1.checks import the_worker_checks

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("final_after_slots", [0, 1, 32, 100])
def test_a_sweep_is_final_when_the_node_calls_its_block_final(cluster: SolanaCluster, final_after_slots: int) -> None:
    cluster.node.final_after_slots = final_after_slots
    sweep = LocalSweep(cluster)
    sweep.land()
    assert the_worker_checks(sweep) == ("completed", True, [])
    if final_after_slots:
        cluster.bank.advance(final_after_slots - 1)
        assert the_worker_checks(sweep) == ("completed", True, [])
        cluster.bank.advance()
    assert the_worker_checks(sweep) == ("completed", False, [])
    assert sweep.row.events.filter(kind=EventKind.FINALITY).exists()


def test_a_sweep_expires_at_once_where_every_confirmed_block_is_final(cluster: SolanaCluster) -> None:
    cluster.node.final_after_slots = 0
    sweep = LocalSweep(cluster)
    height = sweep.executions[0].built.awaited_until_height
    cluster.bank.advance(height - cluster.bank.blocks.latest.height)
    assert the_worker_checks(sweep) == ("pending", True, [])
    cluster.bank.advance()
    assert the_worker_checks(sweep) == ("expired", False, [])
