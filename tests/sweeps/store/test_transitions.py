"""Every status change leaves one event, other notable facts leave theirs, and no event is ever changed."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from indexer.checks import check_due
from ledger.models import JournalEntry
from sweepapi import networks
from sweeps.models import EventKind, Sweep, SweepEvent, SweepStatus, SweepTransaction
from sweeps.rails.evm.follow.following import EvmReading
from sweeps.story.confirm import confirm_sweep
from sweeps.story.withdrawal import cancel_on_chain, void
from tests.factories.ledger import random_hash
from tests.factories.partners import requester_of
from tests.factories.sweeps import (
    SweepFactory,
    SweepTransactionFactory,
    block_at,
    evm_reading,
    executed_receipt,
    found_cancellation,
    found_execution,
    receipt_of,
    unused_after_deadline,
)
from tests.local_chain import FINAL_AFTER
from tests.partner_app import PartnerApp
from tests.settling import settle

pytestmark = pytest.mark.django_db

CANCELLER = "0x" + "cA" * 20


@pytest.fixture
def tx() -> SweepTransaction:
    return SweepTransactionFactory.create()


def apply(sweep: Sweep, *readings: EvmReading) -> None:
    for reading in readings:
        settle(sweep_id=sweep.id, reading=reading)


def moves(sweep: Sweep) -> list[tuple[str, str, str]]:
    """Return from, to and cause of every change of a status."""
    events = SweepEvent.objects.filter(sweep=sweep, kind="status")
    return [(event.from_status, event.to_status, event.cause) for event in events]


def story(sweep: Sweep) -> list[str]:
    """Return the types of all events, which must be in sequence without a gap."""
    events = list(SweepEvent.objects.filter(sweep=sweep))
    newest = Sweep.objects.get(id=sweep.id).last_event
    assert [event.sequence for event in events] == list(range(newest - len(events) + 1, newest + 1))
    assert [event.at for event in events] == sorted(event.at for event in events)
    return [event.type for event in events]


def facts_of(sweep: Sweep, kind: EventKind) -> list[dict[str, Any]]:
    return [event.facts for event in SweepEvent.objects.filter(sweep=sweep, kind=kind)]


def gone() -> EvmReading:
    return evm_reading(head_number=101, canonical=block_at(100, fork=1))


# --- changes of the status --------------------------------------------------------------------------------------------

SETTLED: dict[str, tuple[Callable[[SweepTransaction], EvmReading], tuple[str, str, str]]] = {
    "executed": (lambda tx: evm_reading(executed_receipt(tx)), ("pending", "completed", "executed")),
    "reverted": (lambda tx: evm_reading(receipt_of(tx, succeeded=False)), ("pending", "failed", "reverted")),
    "run out": (lambda tx: unused_after_deadline(tx.sweep), ("pending", "failed", "ran_out")),
    "cancelled": (
        lambda _: evm_reading(state=True, finding=found_cancellation(CANCELLER)),
        ("pending", "void", "cancelled"),
    ),
}


@pytest.mark.parametrize(("look", "move"), SETTLED.values(), ids=SETTLED.keys())
def test_every_change_by_the_chain_leaves_one_event(
    tx: SweepTransaction, look: Callable[[SweepTransaction], EvmReading], move: tuple[str, str, str]
) -> None:
    apply(tx.sweep, look(tx), evm_reading())
    assert moves(tx.sweep) == [move]
    assert Sweep.objects.get().status == move[1]
    assert story(tx.sweep).count(f"sweep_{move[1]}") == 1


def test_an_event_has_the_time_of_its_change(tx: SweepTransaction) -> None:
    apply(tx.sweep, evm_reading(executed_receipt(tx)))
    assert SweepEvent.objects.get(sweep=tx.sweep, kind="status").at == Sweep.objects.get().completed_at


def test_a_sweep_that_expires_leaves_one_event() -> None:
    sweep = SweepFactory.create()
    apply(sweep, unused_after_deadline(sweep))
    assert moves(sweep) == [("pending", "expired", "ran_out")]
    assert story(sweep) == ["sweep_expired", "closed"]


def test_a_reorganisation_and_what_follows_leave_one_event_each(tx: SweepTransaction) -> None:
    apply(tx.sweep, evm_reading(executed_receipt(tx)), gone(), evm_reading(executed_receipt(tx)))
    assert moves(tx.sweep) == [
        ("pending", "completed", "executed"),
        ("completed", "pending", "reorganised"),
        ("pending", "completed", "executed"),
    ]


def test_a_void_leaves_an_event_that_says_who_and_why_and_an_execution_another() -> None:
    tx = SweepTransactionFactory.create(status="rejected")
    void(sweep_id=tx.sweep.id, reason="stolen key", requested_by="alice")
    apply(tx.sweep, evm_reading(executed_receipt(tx)))
    assert moves(tx.sweep) == [("pending", "void", "voided"), ("void", "completed", "executed")]
    assert facts_of(tx.sweep, EventKind.STATUS)[0] == {"reason": "stolen key", "requested_by": "alice"}


@pytest.mark.usefixtures("no_providers")
def test_another_hash_for_a_failed_sweep_leaves_an_event_with_the_hash(tx: SweepTransaction) -> None:
    apply(tx.sweep, evm_reading(receipt_of(tx, succeeded=False)))
    second = random_hash()
    confirm_sweep(
        networks.current(), requester=requester_of(tx.sweep.partner), sweep_id=tx.sweep.id, tx_hashes=[second]
    )
    assert moves(tx.sweep) == [("pending", "failed", "reverted"), ("failed", "pending", "reported")]
    assert SweepEvent.objects.get(cause="reported").tx_hash == second


def test_the_accepted_transaction_is_named_with_the_completion(tx: SweepTransaction) -> None:
    apply(tx.sweep, evm_reading(executed_receipt(tx)))
    assert SweepEvent.objects.get(kind="status").tx_hash == tx.tx_hash


# --- what the database refuses ----------------------------------------------------------------------------------------


def test_a_status_that_is_saved_without_an_event_is_refused(tx: SweepTransaction) -> None:
    sweep = tx.sweep
    with pytest.raises(IntegrityError, match="changes its status without an event"), transaction.atomic():
        Sweep.objects.filter(id=sweep.id).update(status="failed")
    sweep.status = SweepStatus.FAILED
    with pytest.raises(IntegrityError, match="changes its status without an event"), transaction.atomic():
        sweep.save()
    with pytest.raises(IntegrityError, match="changes its status without an event"), transaction.atomic():
        sweep.save(update_fields=["status"])


def test_a_save_that_changes_no_status_needs_no_event() -> None:
    sweep = SweepFactory.create()
    sweep.next_check_at = timezone.now() + timedelta(days=1)
    sweep.save()
    assert story(sweep) == []


def test_events_are_never_changed_or_removed(tx: SweepTransaction) -> None:
    apply(tx.sweep, evm_reading(executed_receipt(tx)))
    with pytest.raises(IntegrityError, match="append-only: no update"), transaction.atomic():
        SweepEvent.objects.update(cause="reported")
    with pytest.raises(IntegrityError, match="append-only: no delete"), transaction.atomic():
        SweepEvent.objects.all().delete()


def test_two_events_of_a_sweep_never_share_a_sequence_number(tx: SweepTransaction) -> None:
    stale = Sweep.objects.get(id=tx.sweep.id)
    apply(tx.sweep, evm_reading(executed_receipt(tx)))
    with pytest.raises(IntegrityError, match="event_sequence"), transaction.atomic():
        SweepEvent.objects.create(sweep=stale, sequence=stale.last_event + 1, kind=EventKind.CLOSED)


@pytest.mark.parametrize(
    "event",
    [
        {"kind": "status", "to_status": "void"},
        {"kind": "status", "cause": "voided"},
        {"kind": "closed", "cause": "voided"},
        {"kind": "closed", "to_status": "void"},
        {"kind": "closed", "from_status": "void"},
    ],
    ids=str,
)
def test_only_an_event_of_the_status_has_a_status_and_a_cause(event: dict[str, str]) -> None:
    sweep = SweepFactory.create()
    with pytest.raises(IntegrityError, match="event_of_status_has_a_cause"), transaction.atomic():
        SweepEvent.objects.create(sweep=sweep, sequence=2, **event)


# --- what else leaves an event ----------------------------------------------------------------------------------------


def test_a_flag_leaves_one_event_when_it_is_raised_and_one_when_it_is_cleared() -> None:
    sweep = SweepFactory.create()
    apply(sweep, evm_reading(state=True), evm_reading(state=True), evm_reading(state=False), evm_reading(state=False))
    assert story(sweep) == ["flag_raised", "flag_cleared"]
    assert facts_of(sweep, EventKind.FLAG_RAISED) == [{"flag": "nonce_used"}]
    assert facts_of(sweep, EventKind.FLAG_CLEARED) == [{"flag": "nonce_used"}]


def test_checks_that_learn_nothing_leave_no_event(tx: SweepTransaction) -> None:
    apply(tx.sweep, evm_reading(), evm_reading(head_number=150), unused_after_deadline(tx.sweep, agreed=False))
    assert story(tx.sweep) == []
    assert Sweep.objects.get().check_attempts == 3


def test_a_candidate_that_is_decided_leaves_one_event_however_often_it_is_seen(tx: SweepTransaction) -> None:
    SweepTransactionFactory.create(sweep=tx.sweep)
    reverted, rejected = evm_reading(receipt_of(tx, succeeded=False)), evm_reading(receipt_of(tx))
    apply(tx.sweep, reverted, reverted, rejected, rejected)
    assert story(tx.sweep) == ["transaction_reverted", "transaction_rejected"]
    assert facts_of(tx.sweep, EventKind.REJECTED) == [{"reason": "The contract emitted no SweepExecutedV5."}]
    assert set(SweepEvent.objects.values_list("tx_hash", flat=True)) == {tx.tx_hash}


@pytest.mark.usefixtures("no_providers")
def test_a_candidate_leaves_one_event_of_a_kind_however_often_it_is_reported_and_decided() -> None:
    sweep, tx_hash = SweepFactory.create(), random_hash()
    for _ in range(2):
        confirm_sweep(networks.current(), requester=requester_of(sweep.partner), sweep_id=sweep.id, tx_hashes=[tx_hash])
    assert story(sweep) == ["transaction_reported"]
    apply(sweep, evm_reading(receipt_of(sweep.transactions.get())))
    confirm_sweep(networks.current(), requester=requester_of(sweep.partner), sweep_id=sweep.id, tx_hashes=[tx_hash])
    apply(sweep, evm_reading(receipt_of(sweep.transactions.get())))
    assert story(sweep) == ["transaction_reported", "transaction_rejected"]


def test_a_transaction_that_was_found_leaves_an_event_before_it_is_accepted() -> None:
    sweep = SweepFactory.create()
    receipt = executed_receipt(SweepTransaction(sweep=sweep, tx_hash=random_hash()))
    apply(sweep, evm_reading(state=True, finding=found_execution(receipt)))
    assert story(sweep)[:2] == ["transaction_discovered", "transaction_accepted"]


def test_booking_and_reversing_name_their_entries(tx: SweepTransaction) -> None:
    apply(tx.sweep, evm_reading(executed_receipt(tx)), gone())
    posted, reversed_ = JournalEntry.objects.order_by("posted_at", "pk")
    assert facts_of(tx.sweep, EventKind.POSTED) == [{"entry": str(posted.id)}]
    assert facts_of(tx.sweep, EventKind.REVERSED) == [{"entry": str(reversed_.id)}]
    assert reversed_.reverses == posted


def test_a_new_finality_leaves_an_event_and_a_lagging_provider_none(tx: SweepTransaction) -> None:
    at: dict[str, Any] = {"canonical": block_at(100), "final_number": 36}
    safe, behind = evm_reading(**at, safe_number=100), evm_reading(**at, safe_number=99)
    apply(tx.sweep, evm_reading(executed_receipt(tx)), behind, safe, behind, safe)
    assert facts_of(tx.sweep, EventKind.FINALITY) == [{"finality": "safe"}]


def test_a_requested_cancellation_leaves_one_event_and_its_reason_becomes_the_reason_of_the_void() -> None:
    sweep = SweepFactory.create()
    for reason in ("stolen key", "again"):
        cancel_on_chain(sweep_id=sweep.id, reason=reason, requested_by="ops")
    apply(sweep, evm_reading(state=True, finding=found_cancellation(CANCELLER)))
    assert story(sweep) == [
        "cancellation_requested",
        "cancelled_on_chain",
        "flag_raised",
        "sweep_void",
        "closed",
    ]
    assert Sweep.objects.get().void_reason == f"stolen key; cancelled on chain by {CANCELLER}"


# --- the whole story --------------------------------------------------------------------------------------------------


def test_the_story_of_an_executed_sweep_reads_in_order(app: PartnerApp) -> None:
    built = app.build()
    app.confirm(built, random_hash(), status=202)
    app.confirm(built, app.execute(built))
    app.chain.mine(FINAL_AFTER)
    Sweep.objects.update(next_check_at=timezone.now() - timedelta(minutes=1))
    check_due()
    events = app.state(built["sweepId"])["events"]
    assert [event["type"] for event in events] == [
        "sweep_pending",
        "transaction_reported",
        "transaction_reported",
        "transaction_accepted",
        "entry_posted",
        "sweep_completed",
        "finality_reached",
        "closed",
    ]
    assert [event["message"] for event in events][-2:] == [
        "The transaction's block is final.",
        "The sweep is closed, and no longer checked.",
    ]
    assert story(Sweep.objects.get())[0] == "sweep_pending"
    assert moves(Sweep.objects.get())[0] == ("", "pending", "built")


def test_a_sweep_that_is_void_again_after_a_reorganisation_keeps_the_time_of_its_first_void() -> None:
    tx = SweepTransactionFactory.create(status="rejected")
    void(sweep_id=tx.sweep.id, reason="why", requested_by="ops", cancels=True)
    voided_at = Sweep.objects.get().voided_at
    apply(tx.sweep, evm_reading(executed_receipt(tx)), gone())
    assert (Sweep.objects.get().status, Sweep.objects.get().voided_at) == ("void", voided_at)


def test_the_story_of_a_void_sweep_that_was_executed_and_reorganised_reads_in_order() -> None:
    tx = SweepTransactionFactory.create(status="rejected")
    void(sweep_id=tx.sweep.id, reason="why", requested_by="ops", cancels=True)
    apply(tx.sweep, evm_reading(executed_receipt(tx)), gone(), unused_after_deadline(tx.sweep))
    assert story(tx.sweep) == [
        "sweep_void",
        "cancellation_requested",
        "flag_raised",  # executed_after_void
        "transaction_accepted",
        "entry_posted",
        "sweep_completed",
        "transaction_reorganised",
        "entry_reversed",
        "flag_raised",  # reorganised
        "flag_cleared",  # executed_after_void
        "sweep_void",
        "closed",
    ]
