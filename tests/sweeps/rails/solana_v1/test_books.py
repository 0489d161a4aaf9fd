"""The books of a cluster are compared with its fee accounts; lost sweeps are adopted for the partner that ops name."""

from collections.abc import Callable

import pytest
from solders.pubkey import Pubkey
from solders.system_program import TransferParams, transfer
from spl.token.constants import WRAPPED_SOL_MINT

from dev.solana.history.records import Landed
from indexer import books, reconciliation
from ledger.balances import balance_of
from ledger.entries import posting
from ledger.models import JournalEntry
from partners.models import Partner
from sweepapi import networks
from sweepapi.rpc import ProviderPool
from sweepapi.rpc.errors import ChainUnavailableError
from sweeps.books.comparison import Adoption, Report
from sweeps.models import Comparison, Execution, Sweep
from sweeps.rails.solana_v1 import auditing
from tests.factories.ledger import book_fee
from tests.factories.solana_sweeps import random_signature
from tests.lost_commits import lost_commits
from tests.solana_sweeps import with_reference
from tests.solana_user import DOLLAR, SolanaUser

pytestmark = pytest.mark.django_db

WITHOUT_FEE = 50  # units, of which the fee is less than one


def compared(user: SolanaUser) -> Report:
    return books.compare(networks.current(), user.cluster.network, first=None, last=None)


def problems(user: SolanaUser) -> list[str]:
    return [difference.problem.value for difference in compared(user).differences]


def repaired(user: SolanaUser, **named: Partner) -> list[Adoption]:
    return list(books.repair(networks.current(), user.cluster.network, compared(user).blocks, named=named, by="ops"))


def executed(user: SolanaUser, *, version: int = 0, amount: int = 5 * DOLLAR) -> Landed:
    """Build a sweep, and execute it in a final slot."""
    (landed,) = user.send(user.build({user.hold(): amount}, accepts_uneconomic=True), version=version)
    user.cluster.finalize()
    return landed


def lost(user: SolanaUser) -> Landed:
    with lost_commits():
        return executed(user)


def test_books_that_say_what_the_cluster_says_do_not_differ(user: SolanaUser) -> None:
    executed(user)
    assert problems(user) == ["event_not_recorded"]
    reconciliation.reconcile()
    assert problems(user) == []
    assert compared(user).events == 1


def test_a_sweep_that_was_lost_is_found_even_if_it_was_the_only_one(user: SolanaUser) -> None:
    landed = lost(user)
    (difference,) = compared(user).differences
    assert (difference.problem, difference.tx_hash, difference.block_number) == (
        "event_without_sweep",
        str(landed.signature),
        landed.block.slot,
    )


def test_it_waits_for_operators_to_name_its_partner(user: SolanaUser) -> None:
    lost(user)
    assert [one.refusal for one in repaired(user)] == ["It names no partner: name one for this transaction."]
    assert not Sweep.objects.exists()


def test_it_is_adopted_with_what_its_transaction_paid(user: SolanaUser, partner: Partner) -> None:
    landed = lost(user)
    (adoption,) = repaired(user, **{str(landed.signature): partner})
    sweep = Sweep.objects.get()
    assert (adoption.sweep_id, sweep.status, sweep.is_open, sweep.flags) == (sweep.id, "completed", False, ["adopted"])
    assert (sweep.wallet, sweep.output_symbol) == (str(user.key), "USDC")
    execution = sweep.executions.get()
    assert execution.user_amount == user.balance(user.cluster.usdc)
    balance = balance_of(partner, network=sweep.network, asset=sweep.output_asset)
    assert balance is not None
    assert balance.available == execution.partner_fee
    assert problems(user) == []


def test_it_is_adopted_with_its_output_in_sol(user: SolanaUser, partner: Partner) -> None:
    with lost_commits():
        (landed,) = user.send(user.build({user.hold(): 5 * DOLLAR}, output_asset=str(WRAPPED_SOL_MINT)))
    user.cluster.finalize()
    repaired(user, **{str(landed.signature): partner})
    assert problems(user) == []


@pytest.mark.parametrize("version", [0, 1])
def test_it_is_the_same_as_the_sweep_that_was_lost(user: SolanaUser, partner: Partner, version: int) -> None:
    with lost_commits():
        landed = executed(user, version=version)
        reconciliation.reconcile()
        before = Execution.objects.get()
    repaired(user, **{str(landed.signature): partner})
    after = Execution.objects.get()
    assert (after.execution_id, after.amounts) == (before.execution_id, before.amounts)


def test_adopting_again_changes_nothing(user: SolanaUser, partner: Partner) -> None:
    named = {str(lost(user).signature): partner}
    repaired(user, **named)
    assert repaired(user, **named) == []
    reconciliation.reconcile()
    assert Sweep.objects.count() == JournalEntry.objects.count() == 1


def test_a_stranger_who_names_the_reference_of_an_adopted_sweep_does_not_stop_the_scan(
    user: SolanaUser, partner: Partner
) -> None:
    repaired(user, **{str(lost(user).signature): partner})
    reference = Pubkey.from_string(Execution.objects.get().execution_id)
    cluster, stranger = user.cluster, user.cluster.create_wallet()
    fee_account = cluster.faucet.associated_account(cluster.fee_wallet, cluster.usdc)
    gift = transfer(TransferParams(from_pubkey=stranger.pubkey(), to_pubkey=fee_account, lamports=1))
    cluster.send(cluster.sign(stranger, [with_reference(gift, reference)]))
    executed(user)
    reconciliation.reconcile()
    assert set(Sweep.objects.values_list("status", flat=True)) == {"completed"}
    assert repaired(user) == []


def test_partners_see_it(user: SolanaUser, partner: Partner, api: Callable[..., object]) -> None:
    (adoption,) = repaired(user, **{str(lost(user).signature): partner})
    shown = api.get(f"/v1/sweep/status/{adoption.sweep_id}").json()["data"]  # type: ignore[attr-defined]
    assert (shown["status"], shown["flags"], shown["expiresAt"], shown["fees"]["expectedFees"]) == (
        "completed",
        ["adopted"],
        None,
        None,
    )


def test_a_repair_settles_what_is_known(user: SolanaUser) -> None:
    executed(user)
    assert repaired(user) == []
    assert Sweep.objects.get().status == "completed"


def test_a_sweep_whose_fee_rounds_to_zero_is_compared_too(user: SolanaUser) -> None:
    executed(user, amount=WITHOUT_FEE)
    assert problems(user) == ["event_not_recorded"]
    reconciliation.reconcile()
    assert problems(user) == []
    assert not JournalEntry.objects.exists()
    Execution.objects.update(user_amount=WITHOUT_FEE + 1, gross_output=WITHOUT_FEE + 1)
    assert problems(user) == ["other_amounts"]


def test_what_paid_no_fee_and_is_not_known_is_not_a_difference(user: SolanaUser) -> None:
    with lost_commits():
        executed(user, amount=WITHOUT_FEE)
    assert problems(user) == []
    assert repaired(user) == []


def test_an_execution_that_no_transaction_shows_is_a_difference(user: SolanaUser) -> None:
    executed(user)
    reconciliation.reconcile()
    Sweep.objects.get().transactions.update(tx_hash=random_signature())
    assert problems(user) == ["other_transaction", "event_missing"]


def test_amounts_and_entries_are_compared(user: SolanaUser) -> None:
    executed(user)
    reconciliation.reconcile()
    execution = Execution.objects.get()
    amounts = execution.amounts
    Execution.objects.update(user_amount=amounts.user_amount + 1, gross_output=amounts.gross_output + 1)
    assert problems(user) == ["other_amounts"]
    posting.reverse(JournalEntry.objects.get())
    assert problems(user) == ["other_amounts", "entry_missing"]


def test_an_entry_of_no_sweep_is_found(user: SolanaUser, partner: Partner) -> None:
    executed(user)
    reconciliation.reconcile()
    entry = book_fee(partner, network=user.cluster.network, tx_hash=random_signature())
    (difference,) = compared(user).differences
    assert (difference.problem, difference.tx_hash) == ("entry_without_execution", entry.tx_hash)


def test_a_gift_to_the_fee_account_is_not_a_difference(user: SolanaUser) -> None:
    cluster = user.cluster
    executed(user)
    reconciliation.reconcile()
    cluster.faucet.give_tokens(cluster.fee_wallet, cluster.usdc, DOLLAR)
    cluster.finalize()
    assert problems(user) == []


def test_two_providers_have_to_show_the_same(user: SolanaUser, use_nodes: Callable[..., ProviderPool]) -> None:
    lost(user)
    use_nodes(user.cluster.url, "http://127.0.0.1:1", timeout_seconds=1.0)
    with pytest.raises(ChainUnavailableError):
        compared(user)


@pytest.mark.parametrize("slot_seconds", [0.21, 0.4])
def test_the_last_day_has_at_least_the_slots_of_a_day_whatever_a_slot_takes(
    user: SolanaUser, slot_seconds: float
) -> None:
    user.cluster.bank.slot_seconds, user.cluster.node.first_available_slot = slot_seconds, 0
    blocks = auditing.SolanaAuditor().last_day(networks.current(), user.cluster.network, compared=None)
    assert 24 * 3600 < (blocks.last - blocks.first) * slot_seconds < 1.2 * 24 * 3600


def test_the_last_day_is_compared_by_beat(user: SolanaUser) -> None:
    landed = lost(user)
    books.compare_last_day()
    assert not Comparison.objects.filter(network=user.cluster.network).exists(), "it may not be settled yet"
    user.cluster.bank.advance(skipped_slots=auditing.UNSETTLED_SLOTS)
    user.cluster.finalize()
    books.compare_last_day()
    compared_to = Comparison.objects.get(network=user.cluster.network)
    assert (compared_to.differences, compared_to.last_block >= landed.block.slot) == (1, True)
