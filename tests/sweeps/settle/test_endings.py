"""A sweep ends without an execution if its deadline passes unused, or if it is cancelled on chain."""

from dataclasses import replace

import pytest
from django.utils import timezone

from sweeps.models import Sweep, SweepTransaction
from tests.factories.ledger import random_hash
from tests.factories.sweeps import (
    SweepFactory,
    SweepTransactionFactory,
    evm_reading,
    executed_receipt,
    found_execution,
    receipt_of,
    unused_after_deadline,
)
from tests.sweeps.settle.readings import (
    BOOKED,
    CANCELLER,
    apply,
    cancelled,
    complete,
    execution_of,
    fees_booked,
    statuses,
)

pytestmark = pytest.mark.django_db


# --- the end of the authorization -------------------------------------------------------------------------------------


def test_a_sweep_proven_unused_without_a_candidate_expires_and_closes(sweep: Sweep) -> None:
    sweep = apply(sweep, unused_after_deadline(sweep))
    assert (sweep.status, sweep.is_open, sweep.next_check_at) == ("expired", False, None)
    assert sweep.closed_at is not None
    assert (execution_of(sweep).status, execution_of(sweep).closed_at is None) == ("expired", False)


def test_a_sweep_proven_unused_with_a_candidate_fails_and_drops_it(tx: SweepTransaction) -> None:
    sweep = apply(tx.sweep, unused_after_deadline(tx.sweep))
    assert (sweep.status, sweep.is_open, statuses(sweep)) == ("failed", False, ["dropped"])


def test_a_sweep_proven_unused_with_only_a_rejected_candidate_fails(tx: SweepTransaction) -> None:
    sweep = apply(tx.sweep, unused_after_deadline(tx.sweep, receipt_of(tx)))
    assert (sweep.status, sweep.is_open, statuses(sweep)) == ("failed", False, ["rejected"])


def test_a_failed_sweep_that_is_proven_unused_is_closed(tx: SweepTransaction) -> None:
    apply(tx.sweep, evm_reading(receipt_of(tx, succeeded=False)))
    sweep = apply(tx.sweep, unused_after_deadline(tx.sweep))
    assert (sweep.status, sweep.is_open, statuses(sweep)) == ("failed", False, ["reverted"])


def test_a_safe_block_at_the_deadline_proves_nothing_yet(sweep: Sweep) -> None:
    at_deadline = unused_after_deadline(sweep, safe_timestamp=int(sweep.deadline.timestamp()))
    assert apply(sweep, at_deadline).is_open


def test_nothing_is_proven_if_the_safe_block_cannot_be_read(sweep: Sweep) -> None:
    assert apply(sweep, evm_reading(state=None, safe_timestamp=None)).status == "pending"


def test_nothing_is_closed_unless_a_second_provider_agrees(tx: SweepTransaction) -> None:
    sweep = apply(tx.sweep, unused_after_deadline(tx.sweep, agreed=False))
    assert (sweep.status, sweep.is_open, statuses(sweep)) == ("pending", True, ["submitted"])


def test_the_servers_clock_does_not_end_a_sweep(overdue_sweep: Sweep) -> None:
    sweep = apply(overdue_sweep, evm_reading(safe_timestamp=1))
    assert (sweep.status, sweep.is_open) == ("pending", True)


def test_an_execution_takes_precedence_over_the_proof(tx: SweepTransaction) -> None:
    sweep = apply(tx.sweep, unused_after_deadline(tx.sweep, executed_receipt(tx)))
    assert (sweep.status, sweep.is_open) == ("completed", True)


def test_a_used_nonce_without_an_explanation_is_flagged_and_the_sweep_stays_open(tx: SweepTransaction) -> None:
    sweep = apply(tx.sweep, unused_after_deadline(tx.sweep, state=True))
    assert (sweep.status, sweep.is_open, sweep.flags) == ("pending", True, ["nonce_used"])


def test_a_closed_sweep_is_never_changed_again(tx: SweepTransaction) -> None:
    closed = apply(tx.sweep, unused_after_deadline(tx.sweep))
    again = apply(tx.sweep, evm_reading(executed_receipt(tx)))
    assert (again.status, again.check_attempts, again.last_event) == (
        "failed",
        closed.check_attempts,
        closed.last_event,
    )


# --- void -------------------------------------------------------------------------------------------------------------


def test_a_void_sweep_is_closed_once_proven_unused_and_stays_void(void_sweep: Sweep) -> None:
    sweep = apply(void_sweep, unused_after_deadline(void_sweep))
    assert (sweep.status, sweep.is_open) == ("void", False)


def test_a_void_sweep_that_was_executed_is_completed_booked_and_flagged(void_sweep: Sweep) -> None:
    tx = SweepTransactionFactory.create(sweep=void_sweep, status="rejected")
    sweep = complete(tx)
    assert (sweep.status, sweep.flags) == ("completed", ["executed_after_void"])
    assert fees_booked(sweep) == BOOKED
    assert sweep.void_reason == "requested by the user"


def test_a_revert_leaves_a_void_sweep_void(void_sweep: Sweep) -> None:
    tx = SweepTransactionFactory.create(sweep=void_sweep, status="rejected")
    assert apply(void_sweep, evm_reading(receipt_of(tx, succeeded=False))).status == "void"


# --- cancelled on chain -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["pending", "failed"])
def test_a_cancelled_sweep_is_void_and_closed(status: str) -> None:
    sweep = apply(SweepFactory.create(status=status), cancelled())
    assert (sweep.status, sweep.is_open, sweep.flags) == ("void", False, ["cancelled_on_chain"])
    assert (execution_of(sweep).status, execution_of(sweep).closed_at is None) == ("cancelled", False)
    assert sweep.void_reason == f"cancelled on chain by {CANCELLER}"


@pytest.mark.parametrize("status", ["pending", "void"])
def test_a_cancelled_sweep_and_its_events_name_the_transaction_that_cancelled_it(status: str) -> None:
    voided = {"voided_at": timezone.now(), "void_reason": "why"} if status == "void" else {}
    sweep, reading = SweepFactory.create(status=status, **voided), cancelled()
    assert reading.finding is not None
    assert reading.finding.hit is not None
    tx_hash = reading.finding.hit.tx_hash
    apply(sweep, reading)
    assert execution_of(sweep).cancellation_tx_hash == tx_hash
    named = {event.type for event in sweep.events.filter(tx_hash=tx_hash)}
    assert named == {"cancelled_on_chain"} | ({"sweep_void"} if status == "pending" else set())


def test_a_cancellation_that_is_proven_clears_the_flag_of_the_unexplained_nonce(sweep: Sweep) -> None:
    assert apply(sweep, cancelled(agreed=False)).flags == ["nonce_used"]
    assert apply(sweep, cancelled()).flags == ["cancelled_on_chain"]


def test_a_cancellation_closes_nothing_unless_a_second_provider_agrees(tx: SweepTransaction) -> None:
    sweep = apply(tx.sweep, cancelled(agreed=False))
    assert (sweep.status, sweep.is_open, statuses(sweep)) == ("pending", True, ["submitted"])
    assert sweep.last_error == "The providers disagree about the event that used the nonce."


def test_an_execution_takes_precedence_over_a_cancellation(tx: SweepTransaction) -> None:
    sweep = apply(tx.sweep, replace(evm_reading(executed_receipt(tx), state=True), finding=cancelled().finding))
    assert (sweep.status, sweep.is_open) == ("completed", True)


def test_a_completed_sweep_is_not_voided_by_an_older_check(tx: SweepTransaction) -> None:
    complete(tx)
    sweep = apply(tx.sweep, cancelled())
    assert (sweep.status, fees_booked(sweep)) == ("completed", BOOKED)


def test_a_discovered_event_that_contradicts_the_signed_bps_is_not_booked(sweep: Sweep) -> None:
    stranger = SweepTransaction(sweep=sweep, tx_hash=random_hash())
    found = found_execution(executed_receipt(stranger, total_fee=7_499))
    sweep = apply(sweep, evm_reading(state=True, finding=found))
    assert (sweep.status, sweep.is_open, fees_booked(sweep)) == ("pending", True, [])
    assert sweep.flags == ["inconsistent_amounts", "nonce_used"]
    assert [(tx.status, tx.source) for tx in sweep.transactions.all()] == [("rejected", "discovered")]
