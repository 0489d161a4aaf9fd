"""Which transactions are ours: those with what was built, in its order, and nothing but what wallets change or add."""

from collections.abc import Callable
from typing import Any

import pytest
from solders.compute_budget import set_compute_unit_limit, set_compute_unit_price
from solders.instruction import AccountMeta, Instruction
from solders.pubkey import Pubkey
from solders.system_program import TransferParams, transfer

from ledger.models import JournalEntry
from sweepapi.rpc import ProviderPool
from sweepapi.solana.encoding.addresses import LIGHTHOUSE
from sweepapi.solana.landed import searching
from sweeps.models import SweepTransaction
from sweeps.rails.solana_v1.follow.deciding import MAX_REJECTED
from tests import fake_node
from tests.solana_cluster import SolanaCluster
from tests.solana_sweeps import FEE, GROSS, SWEPT, LocalSweep, marker
from tests.sweeps.rails.solana_v1.checks import candidates, reason, the_worker_checks

pytestmark = pytest.mark.django_db

UseNodes = Callable[..., ProviderPool]
MEMO = Pubkey.from_string("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr")


@pytest.fixture
def sweep(cluster: SolanaCluster) -> LocalSweep:
    return LocalSweep(cluster)


def assert_rejected(sweep: LocalSweep) -> None:
    status, is_open, flags = the_worker_checks(sweep)
    assert (status, is_open, flags) == ("pending", True, [])
    assert [status for _, status in candidates(sweep)] == ["rejected"]
    assert "not the one built for it" in reason(sweep)
    assert not JournalEntry.objects.exists()


# --- what wallets do --------------------------------------------------------------------------------------------------


def test_a_wallet_may_set_another_compute_budget(sweep: LocalSweep) -> None:
    budget = [set_compute_unit_limit(150_000), set_compute_unit_price(1_000)]
    sweep.cluster.send(sweep.sign([*sweep.instructions[0], *budget]))
    assert the_worker_checks(sweep)[0] == "completed"


def test_a_wallet_may_add_assertions_of_lighthouse(sweep: LocalSweep) -> None:
    program = sweep.cluster.bank.account(MEMO)
    assert program is not None
    sweep.cluster.bank.svm.add_program(LIGHTHOUSE, program.data)
    assertion = Instruction(LIGHTHOUSE, b"assert", [])
    sweep.cluster.send(sweep.sign([assertion, *sweep.instructions[0], assertion]))
    assert the_worker_checks(sweep)[0] == "completed"


def test_a_wallet_may_rewrite_it_in_version_1(sweep: LocalSweep) -> None:
    landed = sweep.cluster.send(sweep.cluster.sign_v1(sweep.user, sweep.instructions[0]))
    assert the_worker_checks(sweep)[0] == "completed"
    sweep.cluster.finalize()
    assert the_worker_checks(sweep) == ("completed", False, [])
    assert candidates(sweep) == [(str(landed.signature), "accepted")]


# --- what is not ours -------------------------------------------------------------------------------------------------


def test_another_instruction_is_rejected(sweep: LocalSweep) -> None:
    tip = TransferParams(from_pubkey=sweep.user.pubkey(), to_pubkey=sweep.maker.pubkey(), lamports=1)
    sweep.land(extra=[transfer(tip)])
    assert_rejected(sweep)


def test_a_transaction_that_names_two_references_is_rejected_for_both(cluster: SolanaCluster) -> None:
    sweep = LocalSweep(cluster, transactions=2)
    stranger = cluster.create_wallet()
    marked = [marker(stranger.pubkey(), sweep.reference(position)) for position in (0, 1)]
    cluster.send(cluster.sign(stranger, marked))
    assert the_worker_checks(sweep) == ("pending", True, [])
    assert [status for _, status in candidates(sweep)] == ["rejected", "rejected"]
    sweep.land(0)
    sweep.land(1)
    assert the_worker_checks(sweep)[0] == "completed"


def test_ours_counts_although_it_names_the_reference_of_another_execution_too(cluster: SolanaCluster) -> None:
    sweep = LocalSweep(cluster, transactions=2)
    limit = set_compute_unit_limit(150_000)
    other = AccountMeta(sweep.reference(0), is_signer=False, is_writable=False)
    named = Instruction(limit.program_id, limit.data, [other])
    cluster.send(sweep.sign([named, *sweep.instructions[1]]))
    the_worker_checks(sweep)
    assert [execution.status for execution in sweep.executions] == ["pending", "executed"]
    sweep.land(0)
    assert the_worker_checks(sweep)[0] == "completed"


def test_another_order_is_rejected(sweep: LocalSweep) -> None:
    first, *others = sweep.instructions[0]
    sweep.cluster.send(sweep.sign([*others, first]))
    assert_rejected(sweep)


def test_a_missing_instruction_is_rejected(sweep: LocalSweep) -> None:
    sweep.cluster.send(sweep.sign(sweep.instructions[0][:-1]))
    assert_rejected(sweep)


def test_other_data_are_rejected(sweep: LocalSweep) -> None:
    *others, fee = sweep.instructions[0]
    less = Instruction(fee.program_id, fee.data[:1] + (FEE - 1).to_bytes(8, "little"), fee.accounts)
    sweep.cluster.send(sweep.sign([*others, less]))
    assert_rejected(sweep)


def test_another_account_is_rejected(sweep: LocalSweep) -> None:
    *others, fee = sweep.instructions[0]
    elsewhere = [fee.accounts[0], sweep.instructions[0][2].accounts[1], fee.accounts[2]]
    sweep.cluster.send(sweep.sign([*others, Instruction(fee.program_id, fee.data, elsewhere)]))
    assert_rejected(sweep)


def test_ours_is_found_after_a_rejected_one(sweep: LocalSweep) -> None:
    sweep.cluster.send(sweep.sign([marker(sweep.user.pubkey(), sweep.reference())]))
    assert_rejected(sweep)
    sweep.land()
    assert the_worker_checks(sweep)[0] == "completed"


def test_a_fee_that_is_not_that_of_the_output_is_flagged_and_not_booked(sweep: LocalSweep) -> None:
    sweep.row.total_fee_bps = 80
    sweep.row.save()
    sweep.land()
    assert the_worker_checks(sweep) == ("pending", True, ["inconsistent_amounts"])
    assert reason(sweep) == "The fee that was paid is not that of the output."
    assert not JournalEntry.objects.exists()


def test_a_provider_that_shows_no_gain_books_nothing(sweep: LocalSweep, use_nodes: UseNodes) -> None:
    def without_gain(method: str, _params: list[Any], result: Any) -> Any:
        if method == "getTransaction":
            result["meta"]["postTokenBalances"] = result["meta"]["preTokenBalances"]
        return result

    sweep.land()
    with fake_node.running(sweep.cluster.url) as node:
        node.alter = without_gain
        use_nodes(node.url)
        assert the_worker_checks(sweep) == ("pending", True, ["inconsistent_amounts"])
    assert not JournalEntry.objects.exists()


def test_a_fee_may_differ_by_a_unit_for_each_token(cluster: SolanaCluster) -> None:
    sweep = LocalSweep(cluster, fee=FEE + 1)
    sweep.land()
    assert the_worker_checks(sweep)[0] == "completed"
    amounts = sweep.executions[0].amounts
    assert (amounts.gross_output, amounts.total_fee, amounts.partner_fee) == (GROSS + 1, FEE + 1, 3_000)


# --- strangers --------------------------------------------------------------------------------------------------------


def test_strangers_who_name_the_key_leave_ten_candidates_at_most(sweep: LocalSweep) -> None:
    sweep.spam(count=MAX_REJECTED + 5)
    assert the_worker_checks(sweep) == ("pending", True, [])
    assert [status for _, status in candidates(sweep)] == ["rejected"] * MAX_REJECTED
    sweep.land()
    assert the_worker_checks(sweep)[0] == "completed"
    sweep.cluster.finalize()
    assert the_worker_checks(sweep) == ("completed", False, [])


def test_ours_is_found_below_2500_transactions_of_strangers(sweep: LocalSweep) -> None:
    landed = sweep.land()
    sweep.spam(count=2_500)
    assert the_worker_checks(sweep)[0] == "completed"
    assert (str(landed.signature), "accepted") in candidates(sweep)


def test_what_was_read_of_final_blocks_is_not_read_again(sweep: LocalSweep, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "MAX_READ", 15)
    sweep.spam(count=40)
    landed = sweep.land()
    sweep.cluster.finalize()
    assert the_worker_checks(sweep)[0] == "pending"
    assert "could be read yet" in sweep.row.last_error
    assert the_worker_checks(sweep)[0] == "pending"
    assert the_worker_checks(sweep)[0] == "completed"
    assert sweep.executions[0].search_cursor != str(landed.signature), "its block may yet turn out not to be final"


def test_what_was_read_of_other_blocks_is_read_again(sweep: LocalSweep) -> None:
    (spam,) = sweep.spam()
    the_worker_checks(sweep)
    assert sweep.executions[0].search_cursor == ""
    sweep.cluster.finalize()
    the_worker_checks(sweep)
    assert sweep.executions[0].search_cursor == str(spam.signature)


def test_strangers_do_not_keep_a_sweep_from_expiring(sweep: LocalSweep) -> None:
    sweep.spam(count=30)
    sweep.cluster.expire_blockhashes()
    assert the_worker_checks(sweep) == ("failed", False, [])


# --- two of ours ------------------------------------------------------------------------------------------------------


def test_the_first_of_two_transactions_executes_the_sweep_and_the_second_is_rejected(sweep: LocalSweep) -> None:
    sweep.cluster.faucet.give_tokens(sweep.user.pubkey(), sweep.swept(), SWEPT)
    first, second = sweep.land(), sweep.cluster.send(sweep.sign(sweep.instructions[0]))
    assert second.outcome.err is None
    assert the_worker_checks(sweep)[0] == "completed"
    assert candidates(sweep) == [(str(first.signature), "accepted"), (str(second.signature), "rejected")]
    assert reason(sweep) == "Another transaction with the same instructions executed the sweep."
    assert JournalEntry.objects.count() == 1
    assert SweepTransaction.objects.filter(sweep=sweep.row, status="accepted").count() == 1
