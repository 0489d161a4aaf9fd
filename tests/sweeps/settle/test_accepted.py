"""A completed sweep is followed until its block is final, and reversed if its block leaves the chain."""

from typing import Any

import pytest
from django.utils import timezone

from ledger.models import Finality
from sweepapi.fees import FeeRates
from sweeps.models import Sweep, SweepTransaction
from sweeps.rails.evm.follow.followed import EvmAcceptance
from sweeps.rails.evm.follow.following import EvmReading
from sweeps.rails.registry import RAILS
from sweeps.store.reading import read
from tests.factories.sweeps import (
    SweepTransactionFactory,
    V4SweepFactory,
    block_at,
    evm_reading,
    executed_receipt,
    receipt_of,
    unused_after_deadline,
)
from tests.sweeps.settle.readings import BOOKED, REVERSED, apply, complete, execution_of, fees_booked, statuses

pytestmark = pytest.mark.django_db


def gone(*, fork: int = 1, agreed: bool = True) -> EvmReading:
    """Return a check that shows another block at the height of the accepted one."""
    return evm_reading(head_number=101, canonical=block_at(100, fork=fork), agreed=agreed)


@pytest.mark.parametrize(
    ("safe", "final", "finality", "is_open"),
    [(None, None, "included", True), (99, 36, "included", True), (100, 99, "safe", True), (164, 100, "final", False)],
)
def test_a_completed_sweep_is_followed_until_its_block_is_final(
    tx: SweepTransaction, safe: int | None, final: int | None, finality: str, *, is_open: bool
) -> None:
    complete(tx)
    blocks: dict[str, Any] = {
        "head_number": 200,
        "safe_number": safe,
        "final_number": final,
        "canonical": block_at(100),
    }
    sweep = apply(tx.sweep, evm_reading(executed_receipt(tx), state=True, **blocks))
    accepted = sweep.transactions.get()
    assert (sweep.status, sweep.is_open, accepted.finality) == ("completed", is_open, finality)
    assert accepted.confirmations == 101


def test_a_provider_that_lags_lowers_neither_finality_nor_confirmations(tx: SweepTransaction) -> None:
    complete(tx)
    apply(tx.sweep, evm_reading(head_number=200, safe_number=150, canonical=block_at(100)))
    accepted = apply(tx.sweep, evm_reading(head_number=120, safe_number=90, canonical=block_at(100))).transactions.get()
    assert (accepted.finality, accepted.confirmations) == ("safe", 101)


FINAL_READING: dict[str, Any] = {
    "head_number": 200,
    "safe_number": 164,
    "final_number": 100,
    "canonical": block_at(100),
    "state": True,
}


def test_a_contradiction_that_one_provider_made_up_is_cleared_when_two_show_the_final_block(
    tx: SweepTransaction,
) -> None:
    apply(tx.sweep, evm_reading(executed_receipt(tx, total_fee=7_499)))
    assert complete(tx).flags == ["inconsistent_amounts"]
    assert apply(tx.sweep, evm_reading(executed_receipt(tx), **FINAL_READING, agreed=False)).flags == [
        "inconsistent_amounts"
    ]
    sweep = apply(tx.sweep, evm_reading(executed_receipt(tx), **FINAL_READING))
    assert (sweep.status, sweep.is_open, sweep.flags, fees_booked(sweep)) == ("completed", False, [], BOOKED)
    assert sweep.events.get(kind="flag_cleared").facts == {"flag": "inconsistent_amounts"}


def test_a_contradiction_of_another_transaction_stays_flagged(tx: SweepTransaction) -> None:
    other = SweepTransactionFactory.create(sweep=tx.sweep)
    apply(tx.sweep, evm_reading(executed_receipt(other, total_fee=7_499)))
    complete(tx)
    sweep = apply(tx.sweep, evm_reading(executed_receipt(tx), **FINAL_READING))
    assert (sweep.status, sweep.is_open, sweep.flags) == ("completed", False, ["inconsistent_amounts"])


def test_finality_closes_nothing_unless_a_second_provider_agrees(tx: SweepTransaction) -> None:
    complete(tx)
    blocks: dict[str, Any] = {"head_number": 200, "safe_number": 150, "final_number": 120, "canonical": block_at(100)}
    sweep = apply(tx.sweep, evm_reading(state=True, agreed=False, **blocks))
    awaited = "No second provider shows the same of the accepted block yet."
    assert (sweep.is_open, sweep.last_error) == (True, awaited)


def test_the_receipt_that_one_provider_shows_in_a_final_block_closes_nothing(tx: SweepTransaction) -> None:
    complete(tx)
    sweep = apply(tx.sweep, evm_reading(executed_receipt(tx), **FINAL_READING, agreed=False))
    assert (sweep.is_open, sweep.transactions.get().finality, Finality.objects.exists()) == (True, "included", False)


def test_another_block_at_its_height_undoes_the_completion(tx: SweepTransaction) -> None:
    complete(tx)
    sweep = apply(tx.sweep, gone())
    execution = execution_of(sweep)
    assert (sweep.status, sweep.is_open, execution.status, execution.booking_epoch) == ("pending", True, "pending", 1)
    assert (sweep.flags, statuses(sweep)) == (["reorganised"], ["submitted"])
    assert (execution.gross_output, execution.ledger_entry, sweep.completed_at) == (None, None, None)
    assert fees_booked(sweep) == [*BOOKED, *REVERSED]


def test_a_sweep_that_is_mined_again_is_booked_again(tx: SweepTransaction) -> None:
    complete(tx)
    apply(tx.sweep, gone())
    sweep = complete(tx)
    assert (sweep.status, execution_of(sweep).booking_epoch) == ("completed", 1)
    assert fees_booked(sweep) == [*BOOKED, *REVERSED, *BOOKED]
    apply(tx.sweep, gone(fork=2))
    assert fees_booked(sweep) == [*BOOKED, *REVERSED, *BOOKED, *REVERSED]


def test_the_flags_of_an_execution_are_cleared_with_it_and_raised_again_if_it_returns() -> None:
    void_sweep = V4SweepFactory.create(status="void", voided_at=timezone.now(), void_reason="requested by the user")
    tx = SweepTransactionFactory.create(sweep=void_sweep, status="rejected")
    executed = evm_reading(executed_receipt(tx, gross_output=989_998))
    assert apply(void_sweep, executed).flags == ["executed_after_void", "below_minimum"]
    assert apply(void_sweep, gone()).flags == ["reorganised"]
    assert apply(void_sweep, executed).flags == ["reorganised", "executed_after_void", "below_minimum"]


def test_a_void_sweep_whose_execution_is_reorganised_is_void_again(void_sweep: Sweep) -> None:
    tx = SweepTransactionFactory.create(sweep=void_sweep, status="rejected")
    complete(tx)
    sweep = apply(void_sweep, gone())
    assert (sweep.status, sweep.is_open, fees_booked(sweep)) == ("void", True, [*BOOKED, *REVERSED])
    assert sweep.events.filter(to_status="void").get().cause == "reorganised"

    closed = apply(void_sweep, unused_after_deadline(void_sweep))
    assert (closed.status, closed.is_open) == ("void", False)


def test_a_reorganisation_undoes_nothing_unless_a_second_provider_agrees(tx: SweepTransaction) -> None:
    complete(tx)
    sweep = apply(tx.sweep, gone(agreed=False))
    assert (sweep.status, fees_booked(sweep)) == ("completed", BOOKED)


def test_a_lower_head_is_a_lagging_provider_not_a_reorganisation(tx: SweepTransaction) -> None:
    complete(tx)
    sweep = apply(tx.sweep, evm_reading(head_number=90, canonical=None))
    accepted = sweep.transactions.get()
    assert (sweep.status, accepted.finality, accepted.confirmations) == ("completed", "included", 1)


def test_after_a_reorganisation_every_replaced_candidate_is_submitted_again(sweep: Sweep, tx: SweepTransaction) -> None:
    rival = SweepTransactionFactory.create(sweep=sweep)
    complete(tx)
    assert statuses(apply(sweep, gone())) == ["submitted", "submitted"]
    assert statuses(complete(rival)) == ["replaced", "accepted"]


def test_a_check_from_before_the_completion_changes_only_the_schedule(tx: SweepTransaction) -> None:
    events = complete(tx).last_event
    for older in (evm_reading(), evm_reading(receipt_of(tx, succeeded=False)), unused_after_deadline(tx.sweep)):
        sweep = apply(tx.sweep, older)
        assert (sweep.status, statuses(sweep), fees_booked(sweep)) == ("completed", ["accepted"], BOOKED)
        assert sweep.last_event == events


# --- what is followed -------------------------------------------------------------------------------------------------


def test_every_candidate_is_followed_until_one_is_accepted(sweep: Sweep) -> None:
    hashes = [SweepTransactionFactory.create(sweep=sweep, status=s).tx_hash for s in ("submitted", "rejected")]
    (followed,) = RAILS[sweep.rail].follow([read([sweep.id])[sweep.id]])
    assert (followed.tx_hashes, followed.accepted) == (tuple(hashes), None)
    assert followed.terms.nonce == int(execution_of(sweep).execution_id)


def test_only_the_accepted_transaction_of_a_completed_sweep_is_followed(tx: SweepTransaction) -> None:
    (followed,) = RAILS[tx.sweep.rail].follow([read([complete(tx).id])[tx.sweep.id]])
    accepted = EvmAcceptance(tx.tx_hash, 100, block_at(100).hash, FeeRates(75, 4000).split(1_000_000))
    assert (followed.tx_hashes, followed.accepted) == ((tx.tx_hash,), accepted)
