"""Whatever happens to a sweep while its block is closed, or is accepted in that block, happens before or after that."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import pytest
from django.utils import timezone

from indexer.blocks import BlockClaim, check_due
from sweepapi.evm.logs.log_digest import digest
from sweeps.models import Sweep, SweepTransaction, WatchedBlock
from sweeps.story import finality
from tests.factories.sweeps import SweepTransactionFactory, executed_receipt
from tests.races import scenes
from tests.races.interleaving import Operation, Race, assert_all_serial, assert_serial, waits_for
from tests.races.scenes import Scene

pytestmark = pytest.mark.django_db(transaction=True)


@dataclass(frozen=True)
class OnABlock(Scene):
    """A sweep that awaits finality, maybe beside one that was reported, and what providers show of both."""

    shown: Mapping[tuple[str, str], str]
    other: Scene | None = None


def completed() -> OnABlock:
    """Return a sweep that awaits a block that no sweep of another scene awaits."""
    Sweep.objects.filter(watched_block__isnull=False).update(next_check_at=timezone.now(), watched_block=None)
    WatchedBlock.objects.all().delete()
    scene = scenes.completed()
    return OnABlock(scene.sweep, scene.tx, shown=dict([shown(scene.tx)]))


def two_in_a_block() -> OnABlock:
    """Return such a sweep, after another one was reported."""
    tx = SweepTransactionFactory.create()
    scene = completed()
    return replace(scene, shown={**scene.shown, **dict([shown(tx)])}, other=Scene(tx.sweep, tx))


def shown(tx: SweepTransaction) -> tuple[tuple[str, str], str]:
    return (tx.execution.venue, tx.tx_hash), digest(executed_receipt(tx).logs)


def other_executed(scene: OnABlock) -> None:
    assert scene.other is not None
    scenes.executed(scene.other)


def block_safe(_scene: OnABlock) -> None:
    finality.make_safe(list(WatchedBlock.objects.values_list("id", flat=True)))


def block_final(scene: OnABlock) -> None:
    blocks = WatchedBlock.objects.values_list("id", flat=True)
    finality.make_final(dict.fromkeys(blocks, scene.shown), head_number=170)


def block_gone(_scene: OnABlock) -> None:
    finality.give_up(list(WatchedBlock.objects.values_list("id", flat=True)))


def outcome(scene: Scene) -> dict[str, Any]:
    sweep = Sweep.objects.get(id=scene.sweep.id)
    block = sweep.watched_block
    return scenes.outcome(scene) | {"followed": block is not None, "block is safe": block is not None and block.is_safe}


def outcome_of_both(scene: OnABlock) -> tuple[dict[str, Any], dict[str, Any]]:
    assert scene.other is not None
    return outcome(scene), outcome(scene.other)


BLOCKS = (block_safe, block_final, block_gone)


def test_a_sweep_that_awaits_finality() -> None:
    assert_all_serial(completed, outcome, BLOCKS)
    for block, sweep in product(BLOCKS, (scenes.gone, scenes.final, scenes.made_due)):
        assert_serial(Race(completed, block, sweep, outcome))


@pytest.mark.parametrize("block", BLOCKS)
def test_a_sweep_that_is_accepted_in_a_block_while_the_block_is_closed(block: Operation[Any]) -> None:
    assert_serial(Race(two_in_a_block, block, other_executed, outcome_of_both))


@pytest.mark.usefixtures("unreachable_chain")
def test_a_check_of_blocks_takes_one_that_is_due_and_not_being_written(round_trips: list[list[str]]) -> None:
    completed()
    assert not waits_for(WatchedBlock.objects.all(), check_due)
    assert round_trips == []
    check_due()
    asked = len(round_trips)
    assert asked > 0
    check_due()
    assert len(round_trips) == asked, "the block is not due again"


def test_a_renewal_does_not_wait_for_a_block_that_is_being_written_and_extends_only_its_own_lease() -> None:
    completed()
    block = WatchedBlock.objects.get()
    claim = BlockClaim([block], {block.due_at})
    assert not waits_for(WatchedBlock.objects.all(), claim.renew)
    taken_until = timezone.now() + scenes.MINUTE
    WatchedBlock.objects.update(due_at=taken_until)
    claim.renew()
    assert WatchedBlock.objects.get().due_at == taken_until
