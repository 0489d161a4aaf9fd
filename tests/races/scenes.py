"""A sweep with one reported transaction, what may happen to it, and what the database says of it afterwards."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from indexer import checks
from ledger.entries.reading import postings_of
from sweepapi import networks
from sweepapi.evm.logs.standing import Standing
from sweeps import wake
from sweeps.models import Execution, Sweep, SweepTransaction
from sweeps.rails.evm.follow.following import EvmReading
from sweeps.story import reopening, withdrawal
from sweeps.story.confirm import confirm_sweep
from tests.factories.partners import requester_of
from tests.factories.sweeps import (
    SweepFactory,
    SweepTransactionFactory,
    block_at,
    evm_reading,
    executed_receipt,
    found_cancellation,
    receipt_of,
    unused_after_deadline,
)
from tests.settling import settle

OTHER_HASH = "0x" + "0d" * 32
CANCELLER = "0x" + "cA" * 20
NEW_HOLDER = UUID(int=1)  # of a lease
MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class Scene:
    """A sweep and its reported transaction."""

    sweep: Sweep
    tx: SweepTransaction

    def settle(self, look: EvmReading) -> None:
        settle(sweep_id=self.sweep.id, reading=look)


def reported(**facts: Any) -> Scene:
    """Return a pending sweep whose transaction was reported."""
    tx = SweepTransactionFactory.create(sweep=SweepFactory.create(**facts))
    return Scene(tx.sweep, tx)


def built(**facts: Any) -> Scene:
    """Return a pending sweep without a report; the transaction is not stored."""
    sweep = SweepFactory.create(**facts)
    return Scene(sweep, SweepTransactionFactory.build(sweep=sweep, execution=sweep.executions.get()))


def failed(**facts: Any) -> Scene:
    """Return a sweep whose transaction reverted, and nothing says why."""
    scene = reported(**facts)
    reverted(scene)
    return scene


def completed() -> Scene:
    """Return a sweep that was executed in block 100."""
    scene = reported()
    executed(scene)
    return scene


def closed() -> Scene:
    """Return a completed sweep whose block was final."""
    scene = completed()
    final(scene)
    assert not Sweep.objects.get(id=scene.sweep.id).is_open
    return scene


# --- what happens to it -----------------------------------------------------------------------------------------------


def executed(scene: Scene) -> None:
    scene.settle(evm_reading(executed_receipt(scene.tx)))


def executed_on_one_word(scene: Scene) -> None:
    scene.settle(evm_reading(executed_receipt(scene.tx), standing=Standing.ALONE))


def reverted(scene: Scene) -> None:
    scene.settle(evm_reading(receipt_of(scene.tx, succeeded=False)))


def not_mined(scene: Scene) -> None:
    scene.settle(evm_reading())


def ran_out(scene: Scene) -> None:
    scene.settle(unused_after_deadline(scene.sweep))


def cancelled(scene: Scene) -> None:
    scene.settle(evm_reading(state=True, finding=found_cancellation(CANCELLER)))


def gone(scene: Scene) -> None:
    scene.settle(evm_reading(head_number=120, canonical=block_at(100, fork=1)))


def final(scene: Scene) -> None:
    receipt = executed_receipt(scene.tx)
    scene.settle(
        evm_reading(receipt, head_number=170, safe_number=138, final_number=106, canonical=block_at(100), state=True)
    )


def reported_again(scene: Scene) -> None:
    _report(scene, scene.tx.tx_hash)


def other_hash_reported(scene: Scene) -> None:
    _report(scene, OTHER_HASH)


def _report(scene: Scene, tx_hash: str) -> None:
    requester = requester_of(scene.sweep.partner)
    confirm_sweep(networks.current(), requester=requester, sweep_id=scene.sweep.id, tx_hashes=[tx_hash])


def voided(scene: Scene) -> None:
    withdrawal.void(sweep_id=scene.sweep.id, reason="The user asked for it.", requested_by="ops")


def cancelled_by_partner(scene: Scene) -> None:
    sweep = scene.sweep
    withdrawal.cancel_sweep(requester=requester_of(sweep.partner), sweep_id=sweep.id, on_chain=True, answered=str)


def cancellation_requested(scene: Scene) -> None:
    withdrawal.cancel_on_chain(sweep_id=scene.sweep.id, reason="The user asked for it.", requested_by="ops")


def made_due(scene: Scene) -> None:
    wake.check_now(scene.sweep.id)


def reopened(scene: Scene) -> None:
    reopening.reopen(sweep_id=scene.sweep.id, reason="The chain halted.", requested_by="ops")


def checked(scene: Scene) -> None:
    """Let the worker check, at a chain that does not answer."""
    checks.check_one(scene.sweep.id)


def taken_over(scene: Scene) -> None:
    """Let another check take the sweep, as if the lease of the first had expired, unless it awaits finality."""
    waiting = Sweep.objects.filter(id=scene.sweep.id, next_check_at__isnull=False)
    waiting.update(lease_token=NEW_HOLDER, lease_until=timezone.now() + MINUTE)


# --- what the database says -------------------------------------------------------------------------------------------


def outcome(scene: Scene) -> dict[str, Any]:
    """Return all that two orders of the same operations have to agree about: no ids, and times only as kinds."""
    sweep = Sweep.objects.get(id=scene.sweep.id)
    execution = Execution.objects.get(sweep=sweep)
    events = list(sweep.events.order_by("sequence"))
    first = sweep.last_event + 1 - len(events)
    assert [event.sequence for event in events] == list(range(first, sweep.last_event + 1))
    assert first <= 2, "only the factory leaves out the first"
    return {
        "status": (sweep.status, sweep.is_open, sorted(sweep.flags)),
        "execution": (execution.status, execution.booking_epoch, execution.closed_at is not None),
        "candidates": sorted(
            ("reported" if tx.tx_hash == scene.tx.tx_hash else "other", tx.status, tx.finality, tx.reason)
            for tx in sweep.transactions.all()
        ),
        "books": [(one.entry.kind, one.account.name, one.amount) for one in postings_of(sweep.id)],
        "events": sorted((event.kind, event.to_status, event.cause) for event in events),
        "new holder": sweep.lease_token == NEW_HOLDER,
        "is leased": sweep.lease_token is not None,
        "last error": sweep.last_error,
        "is due": is_due(sweep),
        "is withdrawn": sweep.cancellation_requested_at is not None,
    }


def is_due(sweep: Sweep) -> bool:
    return sweep.next_check_at is not None and sweep.next_check_at <= timezone.now()
