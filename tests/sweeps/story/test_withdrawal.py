"""Operators may void a sweep without a known transaction, and cancel any open one on chain, for a reason."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from sweepapi.errors import SweepNotCancellable, SweepNotVoidable
from sweeps.models import Sweep, SweepEvent
from sweeps.rails.evm_v5.models import Cancellation
from sweeps.rails.evm_v5.rail import EvmV5
from sweeps.story.withdrawal import cancel_on_chain, void
from tests.factories.sweeps import (
    SweepFactory,
    SweepTransactionFactory,
    block_at,
    evm_reading,
    executed_receipt,
    receipt_of,
)
from tests.settling import settle

pytestmark = pytest.mark.django_db

SOON = timedelta(seconds=30)


def due_tomorrow() -> Any:
    return timezone.now() + timedelta(days=1)


def requests_of(sweep: Sweep) -> list[dict[str, str]]:
    """Return who requested cancellations of a sweep, and why."""
    events = SweepEvent.objects.filter(sweep=sweep, kind="cancellation_requested")
    return [event.facts for event in events]


# --- void -------------------------------------------------------------------------------------------------------------


def test_a_pending_sweep_is_voided_with_its_reason_and_stays_open() -> None:
    void(sweep_id=SweepFactory.create().id, reason="  requested by the user ", requested_by="ops")
    sweep = Sweep.objects.get()
    assert (sweep.status, sweep.is_open, sweep.void_reason) == ("void", True, "requested by the user")
    assert sweep.voided_at is not None
    assert sweep.next_check_at is not None


@pytest.mark.parametrize("status", ["rejected", "dropped", "displaced"])
def test_a_candidate_that_is_not_submitted_does_not_prevent_it(status: str) -> None:
    tx = SweepTransactionFactory.create(status=status)
    assert void(sweep_id=tx.sweep.id, reason="why", requested_by="ops").status == "void"


def test_a_submitted_candidate_prevents_it() -> None:
    tx = SweepTransactionFactory.create()
    with pytest.raises(SweepNotVoidable):
        void(sweep_id=tx.sweep.id, reason="why", requested_by="ops")
    assert Sweep.objects.get().status == "pending"


def test_only_a_pending_sweep_is_voided() -> None:
    sweep = SweepFactory.create(status="failed")
    with pytest.raises(SweepNotVoidable):
        void(sweep_id=sweep.id, reason="why", requested_by="ops")


@pytest.mark.parametrize("reason", ["", "  \n"])
def test_a_reason_is_required(reason: str) -> None:
    sweep = SweepFactory.create()
    with pytest.raises(ValueError, match="reason"):
        void(sweep_id=sweep.id, reason=reason, requested_by="ops")
    with pytest.raises(ValueError, match="reason"):
        cancel_on_chain(sweep_id=sweep.id, reason=reason, requested_by="ops")
    assert Cancellation.objects.count() == 0


def test_a_cancellation_is_requested_with_the_void() -> None:
    sweep = SweepFactory.create(next_check_at=due_tomorrow())
    void(sweep_id=sweep.id, reason="why", requested_by="ops", cancels=True)
    cancellation = Cancellation.objects.get()
    assert (cancellation.execution, cancellation.last_error) == (sweep.executions.get(), "")
    assert requests_of(sweep) == [{"requested_by": "ops", "reason": "why"}]
    sweep.refresh_from_db()
    assert sweep.cancellation_requested_at is not None
    assert sweep.next_check_at is not None
    assert sweep.next_check_at - timezone.now() < SOON


def test_a_sweep_that_is_void_again_after_a_reorganisation_keeps_the_request_to_cancel_it() -> None:
    tx = SweepTransactionFactory.create(status="rejected")
    void(sweep_id=tx.sweep.id, reason="why", requested_by="ops", cancels=True)
    settle(sweep_id=tx.sweep.id, reading=evm_reading(executed_receipt(tx)))
    settle(sweep_id=tx.sweep.id, reading=evm_reading(canonical=block_at(100, fork=1)))
    assert settle(sweep_id=tx.sweep.id, reading=evm_reading(receipt_of(tx))).stored.sweep.status == "void"
    with pytest.raises(SweepNotVoidable):
        void(sweep_id=tx.sweep.id, reason="still", requested_by="night shift", cancels=True)
    assert Cancellation.objects.count() == 1
    assert requests_of(tx.sweep) == [{"requested_by": "ops", "reason": "why"}]


def test_without_the_request_nothing_is_cancelled() -> None:
    void(sweep_id=SweepFactory.create().id, reason="why", requested_by="ops")
    sweep = Sweep.objects.get()
    assert (Cancellation.objects.count(), requests_of(sweep), sweep.cancellation_requested_at) == (0, [], None)


def test_a_sweep_that_is_not_voided_is_not_cancelled() -> None:
    tx = SweepTransactionFactory.create()
    with pytest.raises(SweepNotVoidable):
        void(sweep_id=tx.sweep.id, reason="why", requested_by="ops", cancels=True)
    assert (Cancellation.objects.count(), requests_of(tx.sweep)) == (0, [])


# --- cancelled on chain without being void ----------------------------------------------------------------------------


def cancelled(sweep: Sweep) -> Sweep:
    cancel_on_chain(sweep_id=sweep.id, reason=" stolen key ", requested_by="ops")
    sweep.refresh_from_db()
    return sweep


def test_a_submitted_transaction_does_not_prevent_a_cancellation_which_changes_no_status() -> None:
    sweep = SweepTransactionFactory.create(sweep__next_check_at=due_tomorrow()).sweep
    cancelled(sweep)
    assert Cancellation.objects.get().execution == sweep.executions.get()
    assert requests_of(sweep) == [{"requested_by": "ops", "reason": "stolen key"}]
    assert (sweep.status, sweep.void_reason, sweep.voided_at) == ("pending", "", None)
    assert sweep.next_check_at is not None
    assert sweep.next_check_at - timezone.now() < SOON


@pytest.mark.parametrize("status", ["failed", "void"])
def test_every_open_sweep_that_was_not_executed_can_be_cancelled(status: str) -> None:
    sweep = SweepFactory.create(status=status, voided_at=timezone.now(), void_reason="first")
    assert (cancelled(sweep).status, sweep.void_reason) == (status, "first")
    assert requests_of(sweep) == [{"requested_by": "ops", "reason": "stolen key"}]


def test_an_executed_sweep_can_not_be_cancelled() -> None:
    tx = SweepTransactionFactory.create()
    settle(sweep_id=tx.sweep.id, reading=evm_reading(executed_receipt(tx)))
    with pytest.raises(SweepNotCancellable):
        cancelled(tx.sweep)


def test_a_closed_sweep_can_not_be_cancelled() -> None:
    closed = {"is_open": False, "closed_at": timezone.now(), "next_check_at": None}
    with pytest.raises(SweepNotCancellable):
        cancelled(SweepFactory.create(status="expired", **closed))


def test_a_sweep_that_is_due_stays_due() -> None:
    due_at = timezone.now() - timedelta(minutes=1)
    assert cancelled(SweepFactory.create(next_check_at=due_at)).next_check_at == due_at


def test_a_sweep_on_a_chain_missing_from_the_chains_file_can_be_cancelled() -> None:
    cancelled(SweepFactory.create(network="eip155:999"))
    assert Cancellation.objects.count() == 1


def test_the_first_request_is_kept() -> None:
    sweep = SweepFactory.create()
    assert cancel_on_chain(sweep_id=sweep.id, reason="stolen key", requested_by="ops")
    assert not cancel_on_chain(sweep_id=sweep.id, reason="again", requested_by="night shift")
    assert requests_of(sweep) == [{"requested_by": "ops", "reason": "stolen key"}]


def test_nothing_is_stored_where_the_rail_cannot_cancel(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_sweep: Sweep) -> None:
        raise SweepNotCancellable("This contract has no cancellation.")

    monkeypatch.setattr(EvmV5, "withdraw", staticmethod(refuse))
    sweep = SweepFactory.create()
    with pytest.raises(SweepNotCancellable):
        cancel_on_chain(sweep_id=sweep.id, reason="why", requested_by="ops")
    with pytest.raises(SweepNotCancellable):
        void(sweep_id=sweep.id, reason="why", requested_by="ops", cancels=True)
    stored = Sweep.objects.get()
    assert (stored.status, stored.cancellation_requested_at, stored.last_event) == ("pending", None, 1)
