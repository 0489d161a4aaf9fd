"""What was read of a chain is passed over only by those who read it, and one run reads at a time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Thread, current_thread
from typing import Any

import pytest

from indexer.following import follow
from indexer.reconciliation import reconcile
from sweepapi import networks
from sweepapi.rpc import Call, Provider
from sweeps.rails.evm.models import ScannedBlocks
from sweeps.rails.evm.reconcile.reconciling import rescan
from sweeps.rails.registry import RAILS
from sweeps.rails.solana_v1.models import ScannedSlots
from tests.factories.sweeps import CONTRACT, LOCAL
from tests.local_chain import FINAL_AFTER, LocalChain
from tests.races import scenes
from tests.races.interleaving import Race, Rival, assert_serial
from tests.solana_cluster import SolanaCluster
from tests.solana_sweeps import LocalSweep

pytestmark = pytest.mark.django_db(transaction=True)

# --- blocks -----------------------------------------------------------------------------------------------------------

READ_UP_TO, AGAIN_FROM, BEHIND = 5, 3, 2


@dataclass
class Scanned:
    """A contract that was read up to some block, another one that was read less far, and what became of that."""

    contract: str
    began_at: int = 0
    ended_at: int = 0
    set_back_from: int = 0

    def next_block(self, contract: str) -> int:
        return ScannedBlocks.objects.get(network=LOCAL, contract=contract).next_block


def scanned(scene: Scanned) -> None:
    scene.began_at = scene.next_block(scene.contract)
    for _ in RAILS["evm_v5"].find_executed(networks.current(), LOCAL, scene.contract):
        pass
    scene.ended_at = scene.next_block(scene.contract)


def set_back(scene: Scanned) -> None:
    ((_, scene.set_back_from),) = rescan(network=LOCAL, from_block=AGAIN_FROM)


def read_so_far(scene: Scanned) -> tuple[int, int, int, int]:
    assert scene.next_block(CONTRACT) == BEHIND, "no scan passes over what it did not read"
    return scene.began_at, scene.ended_at, scene.set_back_from, scene.next_block(scene.contract)


def test_blocks_that_are_to_be_read_again_are_not_passed_over_by_a_scan_that_is_under_way(chain: LocalChain) -> None:
    contract = chain.contracts["v5"]
    chain.mine(FINAL_AFTER)
    end = int(chain.web3.eth.get_block("finalized")["number"]) + 1

    def stage() -> Scanned:
        for each, next_block in ((contract, READ_UP_TO), (CONTRACT, BEHIND)):
            facts = {"next_block": next_block, "last_hash": None}
            ScannedBlocks.objects.update_or_create(network=LOCAL, contract=each, defaults=facts)
        return Scanned(contract)

    gave_up = (None, None, (READ_UP_TO, AGAIN_FROM, READ_UP_TO, AGAIN_FROM))
    race = Race(stage, scanned, set_back, read_so_far)
    assert race.in_turn() == (None, None, (READ_UP_TO, end, end, AGAIN_FROM))
    assert_serial(race, also=gave_up)


# --- slots ------------------------------------------------------------------------------------------------------------


def test_a_slow_scan_of_a_fee_account_does_not_undo_the_progress_of_another(cluster: SolanaCluster) -> None:
    sweep = LocalSweep(cluster)
    network, venue = cluster.network, sweep.executions[0].venue
    cluster.finalize()

    def stage() -> ScannedSlots:
        cursor, _ = ScannedSlots.objects.update_or_create(
            network=network, account=str(sweep.fee_account), defaults={"next_slot": sweep.executions[0].built_at_height}
        )
        return cursor

    def scan(_scene: ScannedSlots) -> None:
        for _ in RAILS["solana_v1"].find_executed(networks.current(), network, venue):
            pass

    def scan_later(scene: ScannedSlots) -> None:
        cluster.finalize()
        scan(scene)

    def is_caught_up(scene: ScannedSlots) -> bool:
        scene.refresh_from_db()
        slot: int = cluster.rpc("getSlot", {"commitment": "finalized"})
        return scene.next_slot == slot + 1

    race = Race(stage, scan, scan_later, is_caught_up)
    assert race.in_turn() == (None, None, True)
    assert_serial(race)


# --- runs -------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("unreachable_chain")
@pytest.mark.parametrize("run", [reconcile, follow])
def test_while_one_run_waits_for_a_provider_another_asks_none(
    run: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    scenes.built()
    post = Provider._post  # noqa: SLF001 every request goes through it
    asking: list[Thread] = []
    others: list[Rival] = []

    def post_with_rival(provider: Provider, calls: Sequence[Call], timeout_seconds: float) -> Any:
        asking.append(current_thread())
        if not others:
            others.append(Rival(run))
            others[0].start()
            others[0].end()
        return post(provider, calls, timeout_seconds)

    monkeypatch.setattr(Provider, "_post", post_with_rival)
    run()
    assert asking
    assert others[0].result is None
    assert others[0] not in asking
