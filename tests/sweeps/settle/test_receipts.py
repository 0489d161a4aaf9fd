"""The effect of receipts on a pending or failed sweep, its candidates and its postings."""

import pytest

from ledger.models import Asset, JournalEntry
from sweepapi.evm.logs.standing import Standing
from sweepapi.fees import FeeRates
from sweepapi.fields import UINT256_MAX
from sweeps.models import Sweep, SweepTransaction
from tests.factories.ledger import random_hash
from tests.factories.sweeps import (
    SweepTransactionFactory,
    V4SweepFactory,
    block_at,
    evm_reading,
    executed_receipt,
    found_execution,
    receipt_of,
)
from tests.settling import settle
from tests.sweeps.settle.readings import BOOKED, apply, complete, execution_of, fees_booked, statuses

pytestmark = pytest.mark.django_db


def test_a_missing_receipt_leaves_the_sweep_pending(tx: SweepTransaction) -> None:
    sweep = apply(tx.sweep, evm_reading())
    assert (sweep.status, sweep.is_open, sweep.check_attempts, statuses(sweep)) == ("pending", True, 1, ["submitted"])
    assert sweep.last_checked_at is not None
    assert sweep.next_check_at is not None
    assert sweep.next_check_at > sweep.last_checked_at


def test_a_matching_event_completes_the_sweep_and_books_it_to_the_unit(tx: SweepTransaction) -> None:
    sweep = complete(tx)
    assert (sweep.status, sweep.is_open, sweep.flags) == ("completed", True, [])
    execution = execution_of(sweep)
    assert (execution.status, execution.closed_at) == ("executed", None)
    assert execution.amounts == FeeRates(75, 4000).split(1_000_000)
    accepted = sweep.transactions.get()
    assert (accepted.status, accepted.finality, accepted.confirmations) == ("accepted", "included", 1)
    assert (accepted.block_number, accepted.block_hash, accepted.gas_used) == (100, block_at(100).hash, 200_000)
    assert fees_booked(sweep) == BOOKED
    entry = JournalEntry.objects.get()
    assert (entry.network, entry.asset, entry.tx_hash) == (sweep.network, sweep.output_asset, tx.tx_hash)
    assert (entry.partner, execution.ledger_entry) == (sweep.partner, entry)


def test_the_ledger_learns_from_a_sweep_how_its_output_is_shown(tx: SweepTransaction) -> None:
    sweep = complete(tx)
    shown = Asset.objects.values_list("network", "asset", "symbol", "decimals").get()
    assert shown == (sweep.network, sweep.output_asset, sweep.output_symbol, sweep.output_decimals)


def test_the_largest_possible_output_is_booked_exactly(tx: SweepTransaction) -> None:
    sweep = apply(tx.sweep, evm_reading(executed_receipt(tx, gross_output=UINT256_MAX)))
    fee, executed = UINT256_MAX * 75 // 10_000, execution_of(sweep).amounts
    assert (executed.gross_output, executed.total_fee, executed.user_amount) == (UINT256_MAX, fee, UINT256_MAX - fee)
    assert [amount for _, _, amount in fees_booked(sweep)] == [fee, -(fee * 4 // 10), -(fee - fee * 4 // 10)]


def test_a_fee_of_zero_completes_without_an_entry() -> None:
    tx = SweepTransactionFactory.create(sweep__min_gross=100)
    sweep = apply(tx.sweep, evm_reading(executed_receipt(tx, gross_output=100)))
    execution = execution_of(sweep)
    assert (sweep.status, execution.total_fee, execution.user_amount) == ("completed", 0, 100)
    assert (fees_booked(sweep), execution.ledger_entry) == ([], None)


@pytest.mark.parametrize(("gross_output", "flags"), [(989_999, []), (989_998, ["below_minimum"])])
def test_an_output_below_the_floors_is_booked_and_flagged_on_v4(gross_output: int, flags: list[str]) -> None:
    tx = SweepTransactionFactory.create(sweep=V4SweepFactory.create())
    sweep = apply(tx.sweep, evm_reading(executed_receipt(tx, gross_output=gross_output)))
    assert (sweep.status, sweep.flags, len(fees_booked(sweep))) == ("completed", flags, 3)


def test_an_output_below_the_floors_is_never_booked_on_v5(tx: SweepTransaction) -> None:
    sweep = apply(tx.sweep, evm_reading(executed_receipt(tx, gross_output=989_998)))
    assert (sweep.status, sweep.flags, statuses(sweep)) == ("pending", ["inconsistent_amounts"], ["rejected"])
    assert fees_booked(sweep) == []


def test_amounts_that_contradict_the_signed_bps_are_never_booked(tx: SweepTransaction) -> None:
    sweep = apply(tx.sweep, evm_reading(executed_receipt(tx, total_fee=7_499)))
    assert (sweep.status, sweep.flags, statuses(sweep)) == ("pending", ["inconsistent_amounts"], ["rejected"])
    assert fees_booked(sweep) == []


def test_the_accepted_transaction_replaces_the_other_candidates(sweep: Sweep, tx: SweepTransaction) -> None:
    rivals = SweepTransactionFactory.create_batch(2, sweep=sweep)
    sweep = apply(sweep, evm_reading(executed_receipt(rivals[0])))
    assert statuses(sweep) == ["replaced", "accepted", "replaced"]
    assert tx.tx_hash == sweep.transactions.all()[0].tx_hash


def test_a_successful_receipt_without_a_match_is_rejected_and_the_sweep_stays_pending(tx: SweepTransaction) -> None:
    result = settle(sweep_id=tx.sweep.id, reading=evm_reading(receipt_of(tx)))
    assert (result.stored.sweep.status, result.stored.sweep.is_open, statuses(tx.sweep)) == (
        "pending",
        True,
        ["rejected"],
    )
    assert [mismatch.field for mismatch in result.mismatches(tx.tx_hash)] == ["event"]
    assert tx.sweep.transactions.get().reason == "The contract emitted no SweepExecutedV5."


def test_a_revert_without_another_live_candidate_fails_the_sweep_and_leaves_it_open(tx: SweepTransaction) -> None:
    sweep = apply(tx.sweep, evm_reading(receipt_of(tx, succeeded=False)))
    assert (sweep.status, sweep.is_open, statuses(sweep)) == ("failed", True, ["reverted"])


def test_a_revert_with_another_live_candidate_leaves_the_sweep_pending(sweep: Sweep, tx: SweepTransaction) -> None:
    SweepTransactionFactory.create(sweep=sweep)
    sweep = apply(sweep, evm_reading(receipt_of(tx, succeeded=False)))
    assert (sweep.status, statuses(sweep)) == ("pending", ["reverted", "submitted"])


def test_a_revert_with_a_rejected_candidate_fails_the_sweep(sweep: Sweep, tx: SweepTransaction) -> None:
    stranger = SweepTransactionFactory.create(sweep=sweep)
    sweep = apply(sweep, evm_reading(receipt_of(tx, succeeded=False), receipt_of(stranger)))
    assert (sweep.status, statuses(sweep)) == ("failed", ["reverted", "rejected"])


def test_an_open_failed_sweep_completes_with_another_transaction(sweep: Sweep, tx: SweepTransaction) -> None:
    reverted = receipt_of(tx, succeeded=False)
    apply(sweep, evm_reading(reverted))
    second = SweepTransactionFactory.create(sweep=sweep)
    sweep = apply(sweep, evm_reading(reverted, executed_receipt(second)))
    assert (sweep.status, statuses(sweep)) == ("completed", ["reverted", "accepted"])
    assert fees_booked(sweep) == BOOKED


def test_a_rejected_hash_whose_block_was_replaced_can_still_execute(tx: SweepTransaction) -> None:
    apply(tx.sweep, evm_reading(receipt_of(tx)))
    assert complete(tx).status == "completed"


def test_a_hash_that_was_not_submitted_is_not_decided(tx: SweepTransaction) -> None:
    stranger = SweepTransaction(sweep=tx.sweep, tx_hash=random_hash())
    assert apply(tx.sweep, evm_reading(executed_receipt(stranger))).status == "pending"


def test_one_of_the_transactions_that_a_single_provider_found_waits_at_a_time(sweep: Sweep) -> None:
    for _ in range(3):
        invented = SweepTransaction(sweep=sweep, tx_hash=random_hash())
        finding = found_execution(executed_receipt(invented), standing=Standing.ALONE)
        sweep = apply(sweep, evm_reading(finding=finding))
    waiting = sweep.transactions.get()
    assert (sweep.status, waiting.status, waiting.source) == ("pending", "submitted", "discovered")
    assert fees_booked(sweep) == []
