"""Sweeps that are settled together end as if each were settled alone, whatever happens to one of them meanwhile."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction
from django.utils import timezone

from sweeps.models import Sweep
from sweeps.protocol.rail import Mismatch
from sweeps.rails.evm.base import EvmBase
from sweeps.rails.evm.follow.following import EvmReading
from sweeps.store.reading import lock, lock_awaiting_finality
from sweeps.story.settle import SweepReading
from sweeps.story.settle import settle as settle_all
from tests.factories.partners import PartnerFactory
from tests.factories.sweeps import evm_reading, executed_receipt, random_checksum_address, receipt_of
from tests.races import scenes
from tests.races.interleaving import Operation, Race, Rival, assert_serial
from tests.races.scenes import Scene
from tests.sweeps.settle.twins import look_at

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("unreachable_chain")]

LEASE = UUID(int=7)


@dataclass(frozen=True)
class Batch:
    """Two sweeps, and a check at both by each of two checks."""

    sweeps: Sequence[Scene]
    readings: list[SweepReading]
    other_readings: list[SweepReading]
    lease: UUID | None


def looked_at(stage: Callable[..., Scene], show: Callable[[Scene], EvmReading], *, lease: UUID | None = None) -> Batch:
    """Look at two sweeps in an asset that the ledger does not know, as they are after the stage."""
    partner, asset = PartnerFactory.create(), random_checksum_address()
    sweeps = [stage(partner=partner, output_asset=asset) for _ in range(2)]
    if lease is not None:
        ids = [one.sweep.id for one in sweeps]
        Sweep.objects.filter(id__in=ids).update(lease_token=lease, lease_until=timezone.now() + scenes.MINUTE)
    shown = [(one.sweep, show(one)) for one in sweeps]
    return Batch(sweeps, look_at(*shown), look_at(*shown)[::-1], lease)


def executed_both(lease: UUID | None = None) -> Batch:
    return looked_at(scenes.reported, lambda scene: evm_reading(executed_receipt(scene.tx)), lease=lease)


def executed_both_under_a_lease() -> Batch:
    return executed_both(LEASE)


def failed_both() -> Batch:
    return looked_at(scenes.failed, lambda scene: evm_reading(receipt_of(scene.tx, succeeded=False)))


def settled(batch: Batch) -> None:
    settle_all(batch.readings, lease=batch.lease)


def settled_in_another_order(batch: Batch) -> None:
    settle_all(batch.other_readings, lease=batch.lease)


def settled_under_another_lease(batch: Batch) -> None:
    settle_all(batch.readings, lease=UUID(int=8))


def of_one(operation: Operation[Scene]) -> Operation[Batch]:
    """Return what does this to the first sweep."""

    @wraps(operation)
    def operate(batch: Batch) -> Any:
        return operation(batch.sweeps[0])

    return operate


def outcome(batch: Batch) -> list[dict[str, Any]]:
    return [scenes.outcome(one) for one in batch.sweeps]


@pytest.mark.parametrize(
    "meanwhile",
    [scenes.executed, scenes.reverted, scenes.other_hash_reported, scenes.cancellation_requested, scenes.made_due],
)
def test_one_of_them_changes_meanwhile(meanwhile: Operation[Scene]) -> None:
    assert_serial(Race(executed_both, settled, of_one(meanwhile), outcome))


def test_one_of_them_is_taken_over_by_another_check_meanwhile() -> None:
    assert_serial(Race(executed_both_under_a_lease, settled, of_one(scenes.taken_over), outcome))


def test_two_checks_have_the_same_sweeps_in_different_orders() -> None:
    assert_serial(Race(executed_both, settled, settled_in_another_order, outcome))


def test_the_revert_of_one_of_them_is_explained_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    reason = "The pool paid too little."
    found = [Mismatch("txHash", "reverted", reason)]
    monkeypatch.setattr(EvmBase, "explain_revert", staticmethod(lambda _registry, _tx, **_options: found))
    race = Race(failed_both, of_one(scenes.reported_again), settled, outcome)
    *_, (explained, _) = race.in_turn()
    assert [tx[-1] for tx in explained["candidates"]] == [reason], "what was looked at before is not written over it"
    assert_serial(race)


def test_a_check_under_another_lease_is_not_written() -> None:
    batch = executed_both_under_a_lease()
    before = outcome(batch)
    settled_under_another_lease(batch)
    assert outcome(batch) == before


def locked(ids: Sequence[UUID]) -> None:
    with transaction.atomic():
        lock(ids[::-1])


def locked_by_block(ids: Sequence[UUID]) -> None:
    with transaction.atomic():
        blocks = Sweep.objects.filter(id__in=ids).values_list("watched_block_id", flat=True)
        lock_awaiting_finality([block for block in blocks if block is not None], after=UUID(int=0), rows=2)


@pytest.mark.parametrize("operation", [locked, locked_by_block])
def test_sweeps_are_locked_in_the_order_of_their_ids(operation: Callable[[Sequence[UUID]], None]) -> None:
    first, second = sorted(scenes.completed().sweep.id for _ in range(2))
    rows, rival = Sweep.objects.select_for_update(nowait=True), Rival(partial(operation, [first, second]))
    with transaction.atomic():
        rows.get(id=first)
        rival.run_until_it_waits()
        rows.get(id=second)  # which the rival has not locked yet
    assert rival.has_waited
    assert rival.end() is None
