"""Every move of a sweep that the chain causes, from crafted sightings; the database and its books are real."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.utils import timezone
from sweepapi.evm.nonce_use import Finding, NonceUse
from sweeps.voiding import cancel_on_chain

from ledger.models import JournalEntry
from ledger.reading import postings_of
from sweepapi.evm.sightings import Sighting
from sweepapi.fields import UINT256_MAX
from sweeps.models import Cancellation, Sweep, SweepTransaction
from sweeps.settle import LeaseLostError, settle, watched
from tests.factories.ledger import random_hash
from tests.factories.sweeps import (
    SweepFactory,
    SweepTransactionFactory,
    block_at,
    executed_receipt,
    receipt_of,
    sighting,
    unused_after_deadline,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def sweep() -> Sweep:
    return SweepFactory.create()


@pytest.fixture
def tx(sweep: Sweep) -> SweepTransaction:
    return SweepTransactionFactory.create(sweep=sweep)


def apply(sweep: Sweep, seen: Sighting) -> Sweep:
    """Settle and return the sweep as the database holds it then."""
    settle(sweep_id=sweep.id, sighting=seen)
    return Sweep.objects.select_related("authorization").get(id=sweep.id)


def statuses(sweep: Sweep) -> list[str]:
    return [tx.status for tx in sweep.transactions.all()]


def fees_booked(sweep: Sweep) -> list[tuple[str, str, int]]:
    """Return kind, account and amount of every posting about a sweep."""
    return [(p.entry.kind, p.account.name, p.amount) for p in postings_of(sweep.id)]


BOOKED = [
    ("sweep_fee", "fees_charged", 7_500),
    ("sweep_fee", "partner_settled", -3_000),
    ("sweep_fee", "protocol_revenue", -4_500),
]
REVERSED = [("reversal", account, -amount) for _, account, amount in BOOKED]


def complete(tx: SweepTransaction, *, block: int = 100) -> Sweep:
    receipt = executed_receipt(tx)
    assert receipt.block_number == block
    return apply(tx.sweep, sighting(receipt))


# --- pending ----------------------------------------------------------------------------------------------------------


def test_a_receipt_that_is_not_there_yet_leaves_the_sweep_pending(tx: SweepTransaction) -> None:
    sweep = apply(tx.sweep, sighting())
    assert (sweep.status, sweep.is_open, sweep.check_attempts, statuses(sweep)) == ("pending", True, 1, ["submitted"])
    assert sweep.last_checked_at is not None
    assert sweep.next_check_at is not None
    assert sweep.next_check_at > sweep.last_checked_at


def test_a_matching_event_completes_the_sweep_and_books_it_to_the_unit(tx: SweepTransaction) -> None:
    sweep = complete(tx)
    assert (sweep.status, sweep.is_open, sweep.flags) == ("completed", True, [])
    assert (sweep.gross_output, sweep.total_fee, sweep.user_amount) == (1_000_000, 7_500, 992_500)
    accepted = sweep.transactions.get()
    assert (accepted.status, accepted.finality, accepted.confirmations) == ("accepted", "included", 1)
    assert (accepted.block_number, accepted.block_hash, accepted.gas_used) == (100, block_at(100).hash, 200_000)
    assert fees_booked(sweep) == BOOKED
    entry = JournalEntry.objects.get()
    assert (entry.chain_id, entry.token, entry.tx_hash) == (sweep.chain_id, sweep.output_token, tx.tx_hash)
    assert entry.partner == sweep.partner


def test_the_largest_output_there_is_is_booked_exactly(tx: SweepTransaction) -> None:
    sweep = apply(tx.sweep, sighting(executed_receipt(tx, gross_output=UINT256_MAX)))
    fee = UINT256_MAX * 75 // 10_000
    assert (sweep.gross_output, sweep.total_fee, sweep.user_amount) == (UINT256_MAX, fee, UINT256_MAX - fee)
    assert [amount for _, _, amount in fees_booked(sweep)] == [fee, -(fee * 4 // 10), -(fee - fee * 4 // 10)]


def test_a_fee_of_zero_completes_without_an_entry(tx: SweepTransaction) -> None:
    sweep = apply(tx.sweep, sighting(executed_receipt(tx, gross_output=100)))
    assert (sweep.status, sweep.total_fee, sweep.user_amount) == ("completed", 0, 100)
    assert fees_booked(sweep) == []


def test_an_output_below_the_quoted_minimum_is_booked_and_flagged(tx: SweepTransaction) -> None:
    sweep = apply(tx.sweep, sighting(executed_receipt(tx, gross_output=989_999)))
    assert (sweep.status, sweep.flags, len(fees_booked(sweep))) == ("completed", ["below_minimum"], 3)


def test_an_output_of_just_the_minimum_is_not_flagged(tx: SweepTransaction) -> None:
    assert apply(tx.sweep, sighting(executed_receipt(tx, gross_output=990_000))).flags == []


def test_amounts_that_contradict_the_signed_bps_are_never_booked(tx: SweepTransaction) -> None:
    sweep = apply(tx.sweep, sighting(executed_receipt(tx, total_fee=7_499)))
    assert (sweep.status, sweep.flags, statuses(sweep)) == ("pending", ["inconsistent_amounts"], ["rejected"])
    assert fees_booked(sweep) == []


def test_other_candidates_are_replaced_by_the_accepted_one(sweep: Sweep, tx: SweepTransaction) -> None:
    rivals = SweepTransactionFactory.create_batch(2, sweep=sweep)
    sweep = apply(sweep, sighting(executed_receipt(rivals[0])))
    assert statuses(sweep) == ["replaced", "accepted", "replaced"]
    assert tx.tx_hash == sweep.transactions.all()[0].tx_hash


def test_a_successful_receipt_without_a_match_is_rejected_and_the_sweep_waits_on(tx: SweepTransaction) -> None:
    result = settle(sweep_id=tx.sweep.id, sighting=sighting(receipt_of(tx)))
    assert (result.sweep.status, result.sweep.is_open, statuses(result.sweep)) == ("pending", True, ["rejected"])
    assert [m.field for m in result.mismatches[tx.tx_hash]] == ["event"]
    assert result.sweep.transactions.get().reason == "The contract emitted no SweepExecutedV5."


def test_a_revert_without_another_live_candidate_fails_the_sweep_and_leaves_it_open(tx: SweepTransaction) -> None:
    sweep = apply(tx.sweep, sighting(receipt_of(tx, succeeded=False)))
    assert (sweep.status, sweep.is_open, statuses(sweep)) == ("failed", True, ["reverted"])


def test_a_revert_beside_a_live_candidate_leaves_the_sweep_pending(sweep: Sweep, tx: SweepTransaction) -> None:
    SweepTransactionFactory.create(sweep=sweep)
    sweep = apply(sweep, sighting(receipt_of(tx, succeeded=False)))
    assert (sweep.status, statuses(sweep)) == ("pending", ["reverted", "submitted"])


def test_a_revert_beside_a_rejected_candidate_fails_the_sweep(sweep: Sweep, tx: SweepTransaction) -> None:
    stranger = SweepTransactionFactory.create(sweep=sweep)
    sweep = apply(sweep, sighting(receipt_of(tx, succeeded=False), receipt_of(stranger)))
    assert (sweep.status, statuses(sweep)) == ("failed", ["reverted", "rejected"])


def test_a_failed_sweep_that_is_open_completes_with_another_transaction(sweep: Sweep, tx: SweepTransaction) -> None:
    reverted = receipt_of(tx, succeeded=False)
    apply(sweep, sighting(reverted))
    second = SweepTransactionFactory.create(sweep=sweep)
    sweep = apply(sweep, sighting(reverted, executed_receipt(second)))
    assert (sweep.status, statuses(sweep)) == ("completed", ["reverted", "accepted"])
    assert fees_booked(sweep) == BOOKED


def test_a_rejected_hash_whose_block_was_replaced_can_still_execute(tx: SweepTransaction) -> None:
    apply(tx.sweep, sighting(receipt_of(tx)))
    assert complete(tx).status == "completed"


# --- the end of the authorization -------------------------------------------------------------------------------------


def test_proven_unused_without_a_candidate_is_expired_and_closed(sweep: Sweep) -> None:
    sweep = apply(sweep, unused_after_deadline(sweep))
    assert (sweep.status, sweep.is_open, sweep.next_check_at) == ("expired", False, None)
    assert sweep.closed_at is not None


def test_proven_unused_with_a_candidate_is_failed_and_the_candidate_dropped(tx: SweepTransaction) -> None:
    sweep = apply(tx.sweep, unused_after_deadline(tx.sweep))
    assert (sweep.status, sweep.is_open, statuses(sweep)) == ("failed", False, ["dropped"])


def test_proven_unused_with_only_a_rejected_candidate_is_failed_too(tx: SweepTransaction) -> None:
    sweep = apply(tx.sweep, unused_after_deadline(tx.sweep, receipt_of(tx)))
    assert (sweep.status, sweep.is_open, statuses(sweep)) == ("failed", False, ["rejected"])


def test_a_failed_sweep_that_is_proven_unused_is_closed(tx: SweepTransaction) -> None:
    apply(tx.sweep, sighting(receipt_of(tx, succeeded=False)))
    sweep = apply(tx.sweep, unused_after_deadline(tx.sweep))
    assert (sweep.status, sweep.is_open, statuses(sweep)) == ("failed", False, ["reverted"])


def test_a_safe_block_at_the_deadline_proves_nothing_yet(sweep: Sweep) -> None:
    at_deadline = unused_after_deadline(sweep, safe_timestamp=sweep.authorization.deadline_seconds)
    assert apply(sweep, at_deadline).is_open


def test_where_the_safe_block_can_not_be_read_nothing_is_proven(sweep: Sweep) -> None:
    blind = sighting(nonce_used=None, safe_timestamp=None)
    assert apply(sweep, blind).status == "pending"


def test_without_the_second_providers_word_nothing_is_closed(tx: SweepTransaction) -> None:
    sweep = apply(tx.sweep, unused_after_deadline(tx.sweep, agreed=False))
    assert (sweep.status, sweep.is_open, statuses(sweep)) == ("pending", True, ["submitted"])


def test_the_servers_clock_ends_nothing() -> None:
    sweep = SweepFactory.create(authorization__deadline_seconds=1)  # decades ago
    sweep = apply(sweep, sighting(safe_timestamp=1))
    assert (sweep.status, sweep.is_open) == ("pending", True)


def test_the_execution_goes_before_the_proof(tx: SweepTransaction) -> None:
    sweep = apply(tx.sweep, unused_after_deadline(tx.sweep, executed_receipt(tx)))
    assert (sweep.status, sweep.is_open) == ("completed", True)


def test_a_used_nonce_that_nobody_explains_is_flagged_and_stays_open(tx: SweepTransaction) -> None:
    sweep = apply(tx.sweep, unused_after_deadline(tx.sweep, nonce_used=True))
    assert (sweep.status, sweep.is_open, sweep.flags) == ("pending", True, ["nonce_used"])


# --- void -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def void_sweep() -> Sweep:
    return SweepFactory.create(status="void", voided_at=timezone.now(), void_reason="asked for by the user")


def test_a_void_sweep_is_closed_once_proven_unused_and_stays_void(void_sweep: Sweep) -> None:
    sweep = apply(void_sweep, unused_after_deadline(void_sweep))
    assert (sweep.status, sweep.is_open) == ("void", False)


def test_a_void_sweep_that_was_executed_is_completed_booked_and_flagged(void_sweep: Sweep) -> None:
    tx = SweepTransactionFactory.create(sweep=void_sweep, status="rejected")
    sweep = complete(tx)
    assert (sweep.status, sweep.flags) == ("completed", ["executed_after_void"])
    assert fees_booked(sweep) == BOOKED
    assert sweep.void_reason == "asked for by the user"


def test_a_revert_leaves_a_void_sweep_void(void_sweep: Sweep) -> None:
    tx = SweepTransactionFactory.create(sweep=void_sweep, status="rejected")
    assert apply(void_sweep, sighting(receipt_of(tx, succeeded=False))).status == "void"


# --- cancelled on chain -----------------------------------------------------------------------------------------------

CANCELLER = "0x" + "cA" * 20


def cancelled(*, agreed: bool = True, **facts: object) -> Sighting:
    """Return a look that found the cancellation of the nonce at a height of 60."""
    use = NonceUse(random_hash(), 60, block_at(60).hash, CANCELLER)
    return sighting(nonce_used=True, finding=Finding(use, None, agreed=agreed, resume_at=None), **facts)


@pytest.mark.parametrize("status", ["pending", "failed"])
def test_a_cancelled_sweep_is_void_and_closed(status: str) -> None:
    sweep = apply(SweepFactory.create(status=status), cancelled())
    assert (sweep.status, sweep.is_open, sweep.flags) == ("void", False, ["cancelled_on_chain"])
    assert sweep.void_reason.startswith(f"cancelled on chain by {CANCELLER} in 0x")


def test_the_flag_of_the_unexplained_nonce_is_lowered(sweep: Sweep) -> None:
    assert apply(sweep, cancelled(agreed=False)).flags == ["nonce_used"]
    assert apply(sweep, cancelled()).flags == ["cancelled_on_chain"]


def test_a_cancellation_without_the_second_providers_word_closes_nothing(tx: SweepTransaction) -> None:
    sweep = apply(tx.sweep, cancelled(agreed=False))
    assert (sweep.status, sweep.is_open, statuses(sweep)) == ("pending", True, ["submitted"])
    assert sweep.last_error == "The providers disagree about a cancellation on chain."


def test_an_execution_goes_before_a_cancellation(tx: SweepTransaction) -> None:
    seen = cancelled()
    sweep = apply(tx.sweep, replace(seen, receipts={tx.tx_hash: executed_receipt(tx)}))
    assert (sweep.status, sweep.is_open) == ("completed", True)


def test_a_completed_sweep_is_not_voided_by_an_older_look(tx: SweepTransaction) -> None:
    complete(tx)
    sweep = apply(tx.sweep, cancelled())
    assert (sweep.status, fees_booked(sweep)) == ("completed", BOOKED)


def test_an_event_that_contradicts_the_signed_bps_is_not_booked_when_it_is_discovered(sweep: Sweep) -> None:
    stranger = SweepTransaction(sweep=sweep, tx_hash=random_hash())
    receipt = executed_receipt(stranger, total_fee=7_499)
    use = NonceUse(receipt.tx_hash, receipt.block_number, receipt.block_hash, cancelled_by=None)
    sweep = apply(sweep, sighting(nonce_used=True, finding=Finding(use, receipt, agreed=True, resume_at=None)))
    assert (sweep.status, sweep.is_open) == ("pending", True)
    assert sweep.flags == ["inconsistent_amounts", "nonce_used"]
    assert [(tx.status, tx.source) for tx in sweep.transactions.all()] == [("rejected", "discovered")]


# --- completed --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("safe", "final", "finality", "is_open"),
    [(None, None, "included", True), (99, 36, "included", True), (100, 99, "safe", True), (164, 100, "final", False)],
)
def test_a_completed_sweep_is_watched_until_its_block_is_final(
    tx: SweepTransaction, safe: int | None, final: int | None, finality: str, *, is_open: bool
) -> None:
    complete(tx)
    seen = sighting(head_number=200, safe_number=safe, final_number=final, canonical=block_at(100))
    sweep = apply(tx.sweep, seen)
    accepted = sweep.transactions.get()
    assert (sweep.status, sweep.is_open, accepted.finality) == ("completed", is_open, finality)
    assert accepted.confirmations == 101


def test_finality_without_the_second_providers_word_closes_nothing(tx: SweepTransaction) -> None:
    complete(tx)
    seen = sighting(head_number=200, safe_number=150, final_number=120, canonical=block_at(100), agreed=False)
    sweep = apply(tx.sweep, seen)
    assert (sweep.is_open, sweep.last_error) == (True, "The providers disagree about the accepted block.")


def test_another_block_at_its_height_takes_the_completion_back(tx: SweepTransaction) -> None:
    complete(tx)
    sweep = apply(tx.sweep, sighting(head_number=101, canonical=block_at(100, fork=1)))
    assert (sweep.status, sweep.is_open, sweep.incarnation) == ("pending", True, 1)
    assert (sweep.flags, statuses(sweep)) == (["reorganised"], ["submitted"])
    assert (sweep.gross_output, sweep.completed_at) == (None, None)
    assert fees_booked(sweep) == [*BOOKED, *REVERSED]


def test_a_sweep_that_is_mined_again_books_again(tx: SweepTransaction) -> None:
    complete(tx)
    apply(tx.sweep, sighting(head_number=101, canonical=block_at(100, fork=1)))
    sweep = complete(tx)
    assert (sweep.status, sweep.incarnation) == ("completed", 1)
    assert fees_booked(sweep) == [*BOOKED, *REVERSED, *BOOKED]
    apply(tx.sweep, sighting(head_number=101, canonical=block_at(100, fork=2)))
    assert fees_booked(sweep) == [*BOOKED, *REVERSED, *BOOKED, *REVERSED]


def test_what_an_execution_was_flagged_for_is_forgotten_with_it_and_told_again_if_it_comes_back(
    void_sweep: Sweep,
) -> None:
    tx = SweepTransactionFactory.create(sweep=void_sweep, status="rejected")
    executed = sighting(executed_receipt(tx, gross_output=989_999))
    assert apply(void_sweep, executed).flags == ["executed_after_void", "below_minimum"]
    gone = sighting(head_number=101, canonical=block_at(100, fork=1))
    assert apply(void_sweep, gone).flags == ["reorganised"]
    assert apply(void_sweep, executed).flags == ["reorganised", "executed_after_void", "below_minimum"]


def test_a_reorg_without_the_second_providers_word_takes_nothing_back(tx: SweepTransaction) -> None:
    complete(tx)
    sweep = apply(tx.sweep, sighting(canonical=block_at(100, fork=1), agreed=False))
    assert (sweep.status, fees_booked(sweep)) == ("completed", BOOKED)


def test_a_lower_head_is_a_lagging_provider_and_no_reorg(tx: SweepTransaction) -> None:
    complete(tx)
    sweep = apply(tx.sweep, sighting(head_number=90, canonical=None))
    accepted = sweep.transactions.get()
    assert (sweep.status, accepted.finality, accepted.confirmations) == ("completed", "included", 1)


def test_after_a_reorg_every_rival_is_in_the_race_again(sweep: Sweep, tx: SweepTransaction) -> None:
    rival = SweepTransactionFactory.create(sweep=sweep)
    complete(tx)
    taken_back = apply(sweep, sighting(canonical=block_at(100, fork=1)))
    assert statuses(taken_back) == ["submitted", "submitted"]
    assert statuses(complete(rival)) == ["replaced", "accepted"]


def test_a_sighting_from_before_the_completion_changes_nothing_but_the_schedule(tx: SweepTransaction) -> None:
    complete(tx)
    for older in (sighting(), sighting(receipt_of(tx, succeeded=False)), unused_after_deadline(tx.sweep)):
        sweep = apply(tx.sweep, older)
        assert (sweep.status, statuses(sweep), fees_booked(sweep)) == ("completed", ["accepted"], BOOKED)


def test_a_closed_sweep_is_never_touched_again(tx: SweepTransaction) -> None:
    closed = apply(tx.sweep, unused_after_deadline(tx.sweep))
    again = apply(tx.sweep, sighting(executed_receipt(tx)))
    assert (again.status, again.check_attempts) == ("failed", closed.check_attempts)


# --- leases and schedule ----------------------------------------------------------------------------------------------


def test_a_check_that_lost_its_lease_writes_nothing(tx: SweepTransaction) -> None:
    sweep = tx.sweep
    sweep.lease_token, sweep.lease_until = uuid4(), timezone.now() + timedelta(minutes=1)
    sweep.save()
    with pytest.raises(LeaseLostError):
        settle(sweep_id=sweep.id, sighting=sighting(executed_receipt(tx)), lease=uuid4())
    sweep.refresh_from_db()
    assert (sweep.status, sweep.check_attempts, fees_booked(sweep)) == ("pending", 0, [])
    assert sweep.lease_token is not None


def test_settling_gives_the_lease_back(tx: SweepTransaction) -> None:
    sweep = tx.sweep
    sweep.lease_token, sweep.lease_until = uuid4(), timezone.now() + timedelta(minutes=1)
    sweep.save()
    settled = settle(sweep_id=sweep.id, sighting=sighting(), lease=sweep.lease_token).sweep
    assert (settled.lease_token, settled.lease_until) == (None, None)


def test_the_delay_between_looks_grows_with_the_time_awaited_up_to_a_bound(
    tx: SweepTransaction, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)
    delays = []
    for awaited_seconds in (0, 1, 10, 60, 100_000):
        SweepTransaction.objects.filter(pk=tx.pk).update(submitted_at=now - timedelta(seconds=awaited_seconds))
        sweep = apply(tx.sweep, sighting())
        assert sweep.next_check_at is not None
        delays.append((sweep.next_check_at - now).total_seconds())
    assert delays == [2, 2, 10, 60, 300]


def test_an_unexplained_nonce_is_looked_into_soon_and_after_the_deadline_ever_less(sweep: Sweep) -> None:
    unexplained = sighting(nonce_used=True, finding=Finding(None, None, agreed=False, resume_at=None))
    sweep = apply(sweep, unexplained)
    assert sweep.next_check_at is not None
    assert sweep.next_check_at - timezone.now() < timedelta(seconds=30)
    old = SweepFactory.create(authorization__deadline_seconds=1)
    sweep = apply(old, unexplained)
    assert sweep.next_check_at is not None
    assert sweep.next_check_at - timezone.now() > timedelta(seconds=290)


def test_a_wish_to_cancel_delays_no_look_at_what_was_submitted(
    tx: SweepTransaction, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timezone, "now", lambda: tx.submitted_at)
    cancel_on_chain(sweep_id=tx.sweep.id, reason="why", requested_by="ops")
    assert apply(tx.sweep, sighting()).next_check_at == tx.submitted_at + timedelta(seconds=2)


def test_a_wish_to_cancel_hastens_nothing_after_the_deadline() -> None:
    old = SweepFactory.create(authorization__deadline_seconds=1)
    cancel_on_chain(sweep_id=old.id, reason="why", requested_by="ops")
    sweep = apply(old, sighting(nonce_used=True, finding=Finding(None, None, agreed=False, resume_at=None)))
    assert sweep.next_check_at is not None
    assert sweep.next_check_at - timezone.now() > timedelta(seconds=290)


def test_an_execution_clears_what_was_in_the_way_of_a_cancellation(tx: SweepTransaction) -> None:
    cancel_on_chain(sweep_id=tx.sweep.id, reason="why", requested_by="ops")
    Cancellation.objects.update(last_error="No money for gas.")
    complete(tx)
    assert Cancellation.objects.get().last_error == ""


def test_a_search_that_is_half_done_goes_on_soon_however_old_the_sweep_is() -> None:
    old = SweepFactory.create(authorization__deadline_seconds=1)
    sweep = apply(old, sighting(nonce_used=True, finding=Finding(None, None, agreed=False, resume_at=50)))
    assert sweep.search_from_block == 50
    assert sweep.next_check_at is not None
    assert sweep.next_check_at - timezone.now() < timedelta(seconds=30)


def test_an_unsubmitted_sweep_is_looked_at_when_its_deadline_has_passed(sweep: Sweep) -> None:
    sweep = apply(sweep, sighting())
    assert sweep.next_check_at == datetime.fromtimestamp(sweep.authorization.deadline_seconds + 1, tz=UTC)


def test_a_completed_sweep_is_looked_at_again_after_the_chains_interval(tx: SweepTransaction) -> None:
    sweep = complete(tx)
    assert sweep.next_check_at is not None
    assert sweep.completed_at is not None
    assert sweep.next_check_at - sweep.completed_at == timedelta(seconds=3)


# --- what is watched --------------------------------------------------------------------------------------------------


def test_every_candidate_is_watched_until_one_is_accepted(sweep: Sweep) -> None:
    hashes = [SweepTransactionFactory.create(sweep=sweep, status=s).tx_hash for s in ("submitted", "rejected")]
    seen = watched(sweep)
    assert (seen.tx_hashes, seen.accepted, seen.nonce) == (tuple(hashes), None, sweep.authorization.nonce)


def test_of_a_completed_sweep_the_block_is_watched(tx: SweepTransaction) -> None:
    seen = watched(complete(tx))
    assert (seen.tx_hashes, seen.accepted) == ((), (100, block_at(100).hash))


def test_a_hash_that_nobody_submitted_is_not_judged(tx: SweepTransaction) -> None:
    stranger = SweepTransaction(sweep=tx.sweep, tx_hash=random_hash())
    assert apply(tx.sweep, sighting(executed_receipt(stranger))).status == "pending"
