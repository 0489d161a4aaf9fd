"""Ops may void a sweep that nobody is known to have sent, and have any open one cancelled on chain, for a reason."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from sweeps.voiding import NotCancellableError, NotVoidableError, cancel_on_chain, void

from sweeps import voiding
from sweeps.models import Cancellation, Sweep
from tests.factories.sweeps import SweepFactory, SweepTransactionFactory

pytestmark = pytest.mark.django_db


def test_a_pending_sweep_is_voided_with_its_reason_and_stays_open() -> None:
    sweep = void(sweep_id=SweepFactory.create().id, reason="  asked for by the user ")
    sweep.refresh_from_db()
    assert (sweep.status, sweep.is_open, sweep.void_reason) == ("void", True, "asked for by the user")
    assert sweep.voided_at is not None
    assert sweep.next_check_at is not None


@pytest.mark.parametrize("status", ["rejected", "dropped"])
def test_a_candidate_that_can_not_execute_it_is_no_obstacle(status: str) -> None:
    tx = SweepTransactionFactory.create(status=status)
    assert void(sweep_id=tx.sweep.id, reason="why").status == "void"


def test_a_submitted_candidate_forbids_it() -> None:
    tx = SweepTransactionFactory.create()
    with pytest.raises(NotVoidableError):
        void(sweep_id=tx.sweep.id, reason="why")
    assert Sweep.objects.get().status == "pending"


def test_only_a_pending_sweep_is_voided() -> None:
    sweep = SweepFactory.create(status="failed")
    with pytest.raises(NotVoidableError):
        void(sweep_id=sweep.id, reason="why")


@pytest.mark.parametrize("reason", ["", "  \n"])
def test_a_reason_is_required(reason: str) -> None:
    sweep = SweepFactory.create()
    with pytest.raises(ValueError, match="reason"):
        void(sweep_id=sweep.id, reason=reason)
    with pytest.raises(ValueError, match="reason"):
        cancel_on_chain(sweep_id=sweep.id, reason=reason, requested_by="ops")
    assert Cancellation.objects.count() == 0


def test_a_wish_to_cancel_is_recorded_with_the_void_and_the_worker_told_after_the_commit(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    told: list[int] = []
    monkeypatch.setattr(voiding, "nudge_cancellations", lambda: told.append(Cancellation.objects.count()))
    sweep = SweepFactory.create(next_check_at=timezone.now() + timedelta(days=1))
    with django_capture_on_commit_callbacks(execute=True):
        void(sweep_id=sweep.id, reason="why", cancelled_by="ops")
        assert told == []
    assert told == [1]
    wish = Cancellation.objects.get()
    assert (wish.sweep, wish.requested_by, wish.reason, wish.last_error) == (sweep, "ops", "why", "")
    sweep.refresh_from_db()
    assert sweep.next_check_at is not None
    assert sweep.next_check_at - timezone.now() < timedelta(seconds=30)


def test_a_sweep_that_a_reorganisation_made_pending_again_can_be_voided_and_cancelled_again() -> None:
    sweep = SweepFactory.create()
    void(sweep_id=sweep.id, reason="why", cancelled_by="ops")
    Sweep.objects.update(status="pending")
    assert void(sweep_id=sweep.id, reason="still", cancelled_by="night shift").void_reason == "still"
    assert Cancellation.objects.get().requested_by == "ops"


def test_without_the_wish_nothing_is_recorded() -> None:
    void(sweep_id=SweepFactory.create().id, reason="why")
    assert Cancellation.objects.count() == 0


def test_what_is_not_voided_is_not_cancelled() -> None:
    tx = SweepTransactionFactory.create()
    with pytest.raises(NotVoidableError):
        void(sweep_id=tx.sweep.id, reason="why", cancelled_by="ops")
    assert Cancellation.objects.count() == 0


# --- cancelled on chain without being void ----------------------------------------------------------------------------


def cancelled(sweep: Sweep) -> Sweep:
    cancel_on_chain(sweep_id=sweep.id, reason=" stolen key ", requested_by="ops")
    sweep.refresh_from_db()
    return sweep


def test_a_submitted_transaction_is_no_obstacle_to_a_cancellation_which_moves_no_status(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    told: list[int] = []
    monkeypatch.setattr(voiding, "nudge_cancellations", lambda: told.append(Cancellation.objects.count()))
    sweep = SweepTransactionFactory.create(sweep__next_check_at=timezone.now() + timedelta(days=1)).sweep
    with django_capture_on_commit_callbacks(execute=True):
        cancelled(sweep)
        assert told == []
    assert told == [1]
    wish = Cancellation.objects.get()
    assert (wish.sweep, wish.requested_by, wish.reason) == (sweep, "ops", "stolen key")
    assert (sweep.status, sweep.void_reason, sweep.voided_at) == ("pending", "", None)
    assert sweep.next_check_at is not None
    assert sweep.next_check_at - timezone.now() < timedelta(seconds=30)


@pytest.mark.parametrize("status", ["failed", "void"])
def test_whatever_is_open_and_was_not_executed_can_be_cancelled(status: str) -> None:
    sweep = SweepFactory.create(status=status, voided_at=timezone.now(), void_reason="first")
    assert (cancelled(sweep).status, sweep.void_reason) == (status, "first")
    assert Cancellation.objects.get().reason == "stolen key"


def test_what_was_executed_can_not_be_cancelled() -> None:
    amounts = dict.fromkeys(["gross_output", "user_amount", "total_fee", "partner_fee", "protocol_fee"], 0)
    with pytest.raises(NotCancellableError):
        cancelled(SweepFactory.create(status="completed", completed_at=timezone.now(), **amounts))


def test_what_is_closed_can_not_be_cancelled() -> None:
    closed = {"is_open": False, "closed_at": timezone.now(), "next_check_at": None}
    with pytest.raises(NotCancellableError):
        cancelled(SweepFactory.create(status="expired", **closed))


def test_a_sweep_that_is_due_stays_due() -> None:
    due_at = timezone.now() - timedelta(minutes=1)
    assert cancelled(SweepFactory.create(next_check_at=due_at)).next_check_at == due_at


def test_a_chain_that_the_chains_file_lost_is_no_obstacle() -> None:
    cancelled(SweepFactory.create(chain_id=999))
    assert Cancellation.objects.count() == 1


def test_the_first_wish_stands() -> None:
    sweep = SweepFactory.create()
    assert cancel_on_chain(sweep_id=sweep.id, reason="stolen key", requested_by="ops")
    assert not cancel_on_chain(sweep_id=sweep.id, reason="again", requested_by="night shift")
    assert Cancellation.objects.values_list("requested_by", "reason").get() == ("ops", "stolen key")
