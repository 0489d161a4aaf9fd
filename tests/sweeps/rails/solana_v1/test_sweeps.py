"""The worker follows sweeps on the local cluster: found by their reference keys, booked, final, expired, reverted."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from spl.token.constants import WRAPPED_SOL_MINT

from indexer import reconciliation
from ledger.entries.reading import postings_of
from ledger.models import JournalEntry
from sweepapi.rpc import ProviderPool
from sweeps.models import EventKind, Execution, SweepTransaction
from sweeps.rails.registry import RAILS
from sweeps.rails.solana_v1.models import ScannedSlots
from sweeps.store.reading import read
from tests import fake_node
from tests.solana_cluster import SolanaCluster
from tests.solana_sweeps import FEE, GROSS, PARTNER_FEE, LocalSweep
from tests.sweeps.rails.solana_v1.checks import candidates, reason, the_worker_checks

pytestmark = pytest.mark.django_db

UseNodes = Callable[..., ProviderPool]
CLOSED_PORT = "http://127.0.0.1:1"


@pytest.fixture
def sweep(cluster: SolanaCluster) -> LocalSweep:
    return LocalSweep(cluster)


# --- completion -------------------------------------------------------------------------------------------------------


def test_what_the_user_sent_completes_the_sweep_and_becomes_payable_once_final(sweep: LocalSweep) -> None:
    assert the_worker_checks(sweep) == ("pending", True, [])
    landed = sweep.land()
    assert the_worker_checks(sweep) == ("completed", True, [])
    (execution,) = sweep.executions
    amounts = execution.amounts
    assert (amounts.gross_output, amounts.total_fee, amounts.partner_fee) == (GROSS, FEE, PARTNER_FEE)
    assert (amounts.protocol_fee, amounts.user_amount) == (FEE - PARTNER_FEE, GROSS - FEE)
    tx = SweepTransaction.objects.get(sweep=sweep.row)
    assert (tx.tx_hash, tx.source) == (str(landed.signature), "discovered")
    assert tx.block == (landed.block.slot, str(landed.block.blockhash))
    assert tx.finality == "included"
    entry = JournalEntry.objects.get()
    assert not hasattr(entry, "finality")
    sweep.cluster.finalize()
    assert the_worker_checks(sweep) == ("completed", False, [])
    entry = JournalEntry.objects.get()
    assert entry.finality is not None
    payable = [one for one in postings_of(sweep.row.id) if one.account.name == "partner_payable"]
    assert [abs(one.amount) for one in payable] == [PARTNER_FEE]


def test_sol_as_output_is_what_the_wallet_gained_with_the_fee_of_the_transaction(cluster: SolanaCluster) -> None:
    sweep = LocalSweep(cluster, output=WRAPPED_SOL_MINT)
    before = cluster.lamports(sweep.user.pubkey()) + cluster.lamports(sweep.user_account)
    landed = sweep.land()
    assert the_worker_checks(sweep) == ("completed", True, [])
    amounts = sweep.executions[0].amounts
    assert (amounts.gross_output, amounts.total_fee, amounts.user_amount) == (GROSS, FEE, GROSS - FEE)
    assert cluster.lamports(sweep.user.pubkey()) - before == GROSS - FEE - landed.outcome.fee


def test_a_sweep_of_two_transactions_completes_with_the_second_and_books_both(cluster: SolanaCluster) -> None:
    sweep = LocalSweep(cluster, transactions=2)
    sweep.land(1)
    assert the_worker_checks(sweep) == ("pending", True, [])
    assert [one.status for one in sweep.executions] == ["pending", "executed"]
    sweep.land(0)
    assert the_worker_checks(sweep) == ("completed", True, [])
    assert JournalEntry.objects.count() == 2
    cluster.finalize()
    assert the_worker_checks(sweep) == ("completed", False, [])


@pytest.mark.parametrize(("min_gross", "flags"), [(GROSS, []), (GROSS + 1, ["below_minimum"])])
def test_an_output_below_the_minimum_of_its_own_execution_is_flagged(
    cluster: SolanaCluster, min_gross: int, flags: list[str]
) -> None:
    sweep = LocalSweep(cluster, transactions=2)
    Execution.objects.filter(sweep=sweep.row, position=1).update(min_gross=min_gross)
    sweep.land(0)
    sweep.land(1)
    assert the_worker_checks(sweep) == ("completed", True, flags)


def test_what_landed_is_booked_and_the_rest_reported_as_partial(cluster: SolanaCluster) -> None:
    sweep = LocalSweep(cluster, transactions=2)
    sweep.land(0)
    cluster.expire_blockhashes()
    the_worker_checks(sweep)
    assert the_worker_checks(sweep) == ("completed", False, ["partial"])
    assert [one.status for one in sweep.executions] == ["executed", "expired"]
    assert JournalEntry.objects.count() == 1


# --- expiry -----------------------------------------------------------------------------------------------------------


def test_a_sweep_that_was_not_sent_expires_when_final_blocks_prove_it(sweep: LocalSweep) -> None:
    last_valid = sweep.executions[0].built.last_valid_block_height
    latest = sweep.cluster.bank.blocks.latest.height
    sweep.cluster.bank.advance(last_valid - latest + sweep.cluster.node.final_after_slots)
    assert the_worker_checks(sweep) == ("pending", True, [])
    sweep.cluster.bank.advance()
    assert the_worker_checks(sweep) == ("expired", False, [])
    assert candidates(sweep) == []


@pytest.mark.parametrize(
    "view",
    [
        {"keeps_history": False},
        {"lag_slots": 100},
        {"first_available_slot": 2**39},
        {"pretended_genesis_hash": None},
    ],
    ids=["without history", "lagging", "of pruned history", "of another cluster"],
)
def test_a_sweep_expires_only_if_a_second_provider_can_prove_it(
    sweep: LocalSweep, use_nodes: UseNodes, view: dict[str, object]
) -> None:
    if "pretended_genesis_hash" in view:
        view = {"pretended_genesis_hash": sweep.cluster.bank.blocks.latest.blockhash}
    other = sweep.cluster.add_node(**view)
    sweep.cluster.expire_blockhashes()
    for urls in ((sweep.cluster.url, other), (other, sweep.cluster.url)):
        use_nodes(*urls)
        assert the_worker_checks(sweep) == ("pending", True, [])
        assert the_worker_checks(sweep) == ("pending", True, [])
    use_nodes(sweep.cluster.url, other, sweep.cluster.add_node())
    assert the_worker_checks(sweep) == ("expired", False, [])


def test_a_sweep_does_not_expire_while_a_provider_is_down(sweep: LocalSweep, use_nodes: UseNodes) -> None:
    use_nodes(sweep.cluster.url, CLOSED_PORT)
    sweep.cluster.expire_blockhashes()
    assert the_worker_checks(sweep) == ("pending", True, [])
    assert "Too few providers" in sweep.row.last_error


def test_what_only_the_second_provider_shows_completes_a_sweep(sweep: LocalSweep, use_nodes: UseNodes) -> None:
    forgetful = sweep.cluster.add_node(first_available_slot=2**39)
    use_nodes(forgetful, sweep.cluster.url)
    sweep.land()
    sweep.cluster.expire_blockhashes()
    assert the_worker_checks(sweep) == ("completed", True, [])


def test_a_provider_without_history_does_not_hide_a_transaction(sweep: LocalSweep, use_nodes: UseNodes) -> None:
    use_nodes(sweep.cluster.add_node(keeps_history=False), sweep.cluster.url)
    sweep.land()
    assert the_worker_checks(sweep) == ("completed", True, [])


def test_without_any_provider_nothing_is_learnt(sweep: LocalSweep, use_nodes: UseNodes) -> None:
    use_nodes(CLOSED_PORT)
    assert the_worker_checks(sweep) == ("pending", True, [])
    assert sweep.row.last_error == "No provider answered in time."


# --- failed transactions ----------------------------------------------------------------------------------------------


def test_a_failed_transaction_fails_the_sweep_with_the_programs_reason(sweep: LocalSweep) -> None:
    sweep.empty_maker()
    landed = sweep.land()
    assert landed.outcome.err is not None
    assert the_worker_checks(sweep) == ("failed", True, [])
    assert candidates(sweep) == [(str(landed.signature), "reverted")]
    assert reason(sweep).startswith("The transaction failed: ")
    assert "insufficient funds" in reason(sweep)
    sweep.cluster.expire_blockhashes()
    assert the_worker_checks(sweep) == ("failed", False, [])
    assert not JournalEntry.objects.exists()


def test_a_provider_that_keeps_no_logs_does_not_keep_a_failed_sweep_open(
    sweep: LocalSweep, use_nodes: UseNodes
) -> None:
    sweep.empty_maker()
    sweep.land()
    sweep.cluster.expire_blockhashes()
    late = sweep.land()
    assert late.outcome.err is not None
    sweep.cluster.finalize()
    with fake_node.running(sweep.cluster.url) as node:
        node.alter = lambda method, _params, result: (
            result | {"meta": result["meta"] | {"logMessages": None, "computeUnitsConsumed": 0}}
            if method == "getTransaction"
            else result
        )
        use_nodes(sweep.cluster.url, node.url)
        assert the_worker_checks(sweep) == ("failed", False, [])
        reconciliation.reconcile()
    assert ScannedSlots.objects.get().next_slot > late.block.slot


def test_a_failed_transaction_is_followed_by_one_that_succeeds(sweep: LocalSweep) -> None:
    sweep.empty_maker()
    sweep.land()
    assert the_worker_checks(sweep) == ("failed", True, [])
    sweep.cluster.faucet.give_tokens(sweep.maker.pubkey(), sweep.output, GROSS)
    landed = sweep.land()
    assert the_worker_checks(sweep) == ("completed", True, [])
    assert candidates(sweep)[-1] == (str(landed.signature), "accepted")


# --- blocks that leave the chain --------------------------------------------------------------------------------------


def test_a_transaction_whose_block_is_gone_is_undone_and_books_again_when_it_lands_again(sweep: LocalSweep) -> None:
    landed = sweep.land()
    the_worker_checks(sweep)
    sweep.cluster.drop(landed.signature)
    assert the_worker_checks(sweep)[0] == "completed", "it may only be late at the provider"
    sweep.cluster.finalize()
    assert the_worker_checks(sweep) == ("pending", True, ["reorganised"])
    again = sweep.cluster.send(landed.transaction)
    assert the_worker_checks(sweep)[0] == "completed"
    assert SweepTransaction.objects.get(sweep=sweep.row).block_number == again.block.slot
    kinds = list(JournalEntry.objects.order_by("id").values_list("kind", flat=True))
    assert len(kinds) == 3, "booked, reversed and booked again"


def test_a_transaction_that_lands_in_another_block_is_undone_at_once(sweep: LocalSweep) -> None:
    landed = sweep.land()
    the_worker_checks(sweep)
    sweep.cluster.drop(landed.signature)
    sweep.cluster.send(landed.transaction)
    assert the_worker_checks(sweep) == ("pending", True, ["reorganised"])
    assert the_worker_checks(sweep)[0] == "completed"


def test_one_provider_alone_undoes_nothing(sweep: LocalSweep, use_nodes: UseNodes) -> None:
    forgetful = sweep.cluster.add_node(first_available_slot=2**39)
    use_nodes(forgetful, sweep.cluster.url)
    sweep.land()
    sweep.cluster.expire_blockhashes()
    the_worker_checks(sweep)
    assert the_worker_checks(sweep) == ("completed", True, [])
    assert "do not agree" in sweep.row.last_error
    use_nodes(forgetful, sweep.cluster.url, sweep.cluster.add_node())
    assert the_worker_checks(sweep) == ("completed", False, [])


def test_a_dropped_transaction_that_never_lands_again_leaves_a_failed_sweep(sweep: LocalSweep) -> None:
    landed = sweep.land()
    the_worker_checks(sweep)
    sweep.cluster.drop(landed.signature)
    sweep.cluster.expire_blockhashes()
    assert the_worker_checks(sweep) == ("pending", True, ["reorganised"])
    assert the_worker_checks(sweep) == ("failed", False, ["reorganised"])
    assert candidates(sweep) == [(str(landed.signature), "dropped")]
    assert sweep.row.events.filter(kind=EventKind.REVERSED).exists()


# --- looking ----------------------------------------------------------------------------------------------------------


def test_a_provider_that_stopped_is_passed_over_once_a_sweep_is_overdue(sweep: LocalSweep, use_nodes: UseNodes) -> None:
    stopped = sweep.cluster.add_node(lag_slots=1_000)
    use_nodes(stopped, sweep.cluster.url, sweep.cluster.add_node())
    sweep.cluster.expire_blockhashes()
    assert the_worker_checks(sweep) == ("pending", True, []), "nothing says that it stopped"
    sweep.row.deadline = timezone.now() - timedelta(seconds=settings.SOLANA_EXPIRY_GRACE_SECONDS, minutes=2)
    sweep.row.save()
    the_worker_checks(sweep)
    assert the_worker_checks(sweep) == ("expired", False, [])


def test_following_many_sweeps_takes_one_query(
    cluster: SolanaCluster, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    sweeps = [LocalSweep(cluster, transactions=2).row for _ in range(3)]
    with django_assert_num_queries(1):
        followed = RAILS["solana_v1"].follow(list(read([sweep.id for sweep in sweeps]).values()))
    assert [len(one.executions) for one in followed] == [2, 2, 2]


def test_checks_are_minutes_apart_only_when_the_deadline_is_long_past(sweep: LocalSweep) -> None:
    the_worker_checks(sweep)
    assert seconds_to_next_check(sweep) == pytest.approx(5, abs=1)
    sweep.row.deadline = timezone.now() - timedelta(hours=1)
    sweep.row.save()
    the_worker_checks(sweep)
    assert seconds_to_next_check(sweep) == pytest.approx(300, abs=1)


def seconds_to_next_check(sweep: LocalSweep) -> float:
    at, looked = sweep.row.next_check_at, sweep.row.last_checked_at
    assert at is not None
    assert looked is not None
    return (at - looked).total_seconds()
