"""Settling schedules the next check, and writes only while the lease is held."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from indexer.jobs import send_cancellations
from sweepapi.evm.logs.log_search import SearchFinding
from sweeps.models import Sweep, SweepTransaction, WatchedBlock
from sweeps.rails.evm_v5.models import Cancellation
from sweeps.story.withdrawal import cancel_on_chain
from tests.factories.sweeps import block_at, evm_reading, executed_receipt, found_execution, unused_after_deadline
from tests.settling import LeaseLostError, settle
from tests.sweeps.settle.readings import apply, complete, execution_of, fees_booked

pytestmark = pytest.mark.django_db

SOON = timedelta(seconds=30)
LATE = timedelta(seconds=290)
NOTHING_FOUND = SearchFinding(None, None, agreed=False, resume_at=None)


@pytest.fixture
def leased(sweep: Sweep) -> Sweep:
    """A sweep under a lease."""
    sweep.lease_token, sweep.lease_until = uuid4(), timezone.now() + timedelta(minutes=1)
    sweep.save()
    return sweep


def delay(sweep: Sweep) -> timedelta:
    """Return the time from now until the next check."""
    assert sweep.next_check_at is not None
    return sweep.next_check_at - timezone.now()


def test_a_check_that_lost_its_lease_writes_nothing(leased: Sweep, tx: SweepTransaction) -> None:
    with pytest.raises(LeaseLostError):
        settle(sweep_id=leased.id, reading=evm_reading(executed_receipt(tx)), lease=uuid4())
    leased.refresh_from_db()
    assert (leased.status, leased.check_attempts, leased.last_event, fees_booked(leased)) == ("pending", 0, 1, [])
    assert leased.lease_token is not None


def test_settling_releases_the_lease(leased: Sweep) -> None:
    settled = settle(sweep_id=leased.id, reading=evm_reading(), lease=leased.lease_token).stored.sweep
    assert (settled.lease_token, settled.lease_until) == (None, None)


def test_the_delay_between_checks_grows_with_the_time_awaited_up_to_a_bound(tx: SweepTransaction) -> None:
    delays = []
    for awaited_seconds in (0, 1, 10, 60, 100_000):
        now = timezone.now()
        SweepTransaction.objects.filter(pk=tx.pk).update(submitted_at=now - timedelta(seconds=awaited_seconds))
        Sweep.objects.update(next_check_at=now)
        delays.append(round(delay(apply(tx.sweep, evm_reading())).total_seconds()))
    assert delays == [2, 2, 10, 60, 300]


def test_an_unexplained_nonce_is_checked_soon_and_after_the_deadline_less_and_less_often(
    sweep: Sweep, overdue_sweep: Sweep
) -> None:
    unexplained = evm_reading(state=True, finding=NOTHING_FOUND)
    assert delay(apply(sweep, unexplained)) < SOON
    assert delay(apply(overdue_sweep, unexplained)) > LATE


def test_a_requested_cancellation_does_not_delay_the_check_for_a_receipt(tx: SweepTransaction) -> None:
    cancel_on_chain(sweep_id=tx.sweep.id, reason="why", requested_by="ops")
    assert round(delay(apply(tx.sweep, evm_reading())).total_seconds()) == 2


def test_a_requested_cancellation_brings_no_check_forward_after_the_deadline(overdue_sweep: Sweep) -> None:
    cancel_on_chain(sweep_id=overdue_sweep.id, reason="why", requested_by="ops")
    assert delay(apply(overdue_sweep, evm_reading(state=True, finding=NOTHING_FOUND))) > LATE


def test_an_execution_clears_the_error_of_a_cancellation(tx: SweepTransaction) -> None:
    cancel_on_chain(sweep_id=tx.sweep.id, reason="why", requested_by="ops")
    Cancellation.objects.update(last_error="No money for gas.")
    complete(tx)
    send_cancellations()
    assert Cancellation.objects.get().last_error == ""


def test_a_search_that_is_half_done_continues_soon_however_old_the_sweep_is(overdue_sweep: Sweep) -> None:
    half_done = SearchFinding(None, None, agreed=False, resume_at=50)
    sweep = apply(overdue_sweep, evm_reading(state=True, finding=half_done))
    assert execution_of(sweep).search_cursor == "50"
    assert delay(sweep) < SOON


def test_an_unsubmitted_sweep_is_checked_when_its_deadline_has_passed(sweep: Sweep) -> None:
    sweep = apply(sweep, evm_reading())
    assert sweep.next_check_at == sweep.deadline + timedelta(seconds=1)


def test_a_completed_sweep_awaits_its_block_which_is_checked_soon(tx: SweepTransaction) -> None:
    sweep = complete(tx)
    block = WatchedBlock.objects.get()
    assert (sweep.watched_block, sweep.next_check_at) == (block, None)
    assert (block.number, block.hash) == (100, block_at(100).hash)
    assert block.due_at - timezone.now() < SOON


def test_a_flagged_sweep_is_checked_again_after_the_interval_of_its_chain(tx: SweepTransaction) -> None:
    Sweep.objects.update(flags=["below_minimum"])
    sweep = complete(tx)
    assert (round(delay(sweep).total_seconds()), sweep.watched_block) == (3, None)


def test_an_obstacle_is_checked_again_after_the_interval_of_the_chain(tx: SweepTransaction) -> None:
    complete(tx)
    disputed = evm_reading(canonical=block_at(100), head_number=200, final_number=150, agreed=False)
    sweep = apply(tx.sweep, disputed)
    assert (round(delay(sweep).total_seconds()), sweep.watched_block) == (3, None)


def test_a_check_that_is_under_way_loses_its_lease_of_a_sweep_that_begins_to_await_finality(
    leased: Sweep, tx: SweepTransaction
) -> None:
    assert complete(tx).lease_token is None
    with pytest.raises(LeaseLostError):
        settle(sweep_id=leased.id, reading=evm_reading(), lease=leased.lease_token)


def test_the_servers_clock_does_not_decide_when_a_sweep_is_due(
    tx: SweepTransaction, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = timezone.now()
    with monkeypatch.context() as patch:
        patch.setattr(timezone, "now", lambda: now + timedelta(hours=1))
        completed = complete(tx)
    assert WatchedBlock.objects.get().due_at - timezone.now() < SOON
    assert completed.completed_at is not None
    assert abs(completed.completed_at - now) < SOON


def test_a_confirm_leaves_the_lease_to_the_check_that_is_under_way(leased: Sweep, tx: SweepTransaction) -> None:
    assert apply(leased, evm_reading()).lease_token == leased.lease_token
    found = evm_reading(state=True, finding=found_execution(executed_receipt(tx)))
    assert settle(sweep_id=leased.id, reading=found, lease=leased.lease_token).stored.sweep.status == "completed"


def test_a_sweep_that_a_confirm_closes_has_no_lease(leased: Sweep) -> None:
    closed = apply(leased, unused_after_deadline(leased))
    assert (closed.is_open, closed.lease_token, closed.lease_until) == (False, None, None)


def test_a_confirm_does_not_put_off_the_next_check_for_a_receipt(tx: SweepTransaction) -> None:
    planned = apply(tx.sweep, evm_reading()).next_check_at
    assert apply(tx.sweep, evm_reading()).next_check_at == planned


def test_a_check_that_learns_nothing_writes_the_sweep_alone(tx: SweepTransaction) -> None:
    with CaptureQueriesContext(connection) as statements:
        settle(sweep_id=tx.sweep.id, reading=evm_reading())
    written = [table for one in statements for table in re.findall('(?:INTO|UPDATE) ("[a-z_]+")', one["sql"])]
    assert written == ['"sweeps_sweep"']
