"""Every way in which the books can differ from the events on final blocks is found, and nothing else."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from indexer import books, reconciliation
from ledger.entries import posting
from ledger.models import JournalEntry
from sweepapi import networks
from sweepapi.rpc.errors import ChainUnavailableError
from sweeps.books.comparison import Report
from sweeps.models import Execution, Sweep, SweepTransaction
from sweeps.rails.evm.models import UnmatchedEvent
from sweeps.rails.evm.reconcile.unmatched import explain
from sweeps.story.executions import fee_of
from tests.factories.ledger import book_fee, post_sweep_fees, random_hash
from tests.fake_node import hiding_logs
from tests.indexer.reconciled import NETWORK, sweep_of
from tests.local_chain import FINAL_AFTER
from tests.lost_commits import lost_commits
from tests.partner_app import PartnerApp

pytestmark = pytest.mark.django_db

MODES = ["v5_partner_fees", "v4_fallback"]


def compared() -> Report:
    return books.compare(networks.current(), NETWORK, first=None, last=None)


def problems() -> list[str]:
    return [difference.problem.value for difference in compared().differences]


@pytest.fixture
def completed(app: PartnerApp) -> Sweep:
    """A V5 sweep in a final block, which is booked."""
    state, _ = app.complete()
    app.chain.mine(FINAL_AFTER)
    return Sweep.objects.get(id=state["sweepId"])


# --- events -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_books_that_say_what_the_chain_says_do_not_differ(app: PartnerApp, use_mode: Any, mode: str) -> None:
    use_mode(mode)
    app.complete()
    app.complete()
    app.build()
    app.chain.mine(FINAL_AFTER)
    report = compared()
    assert (report.events, report.differences) == (2, [])


def test_a_cancellation_that_was_recorded_is_not_a_difference(app: PartnerApp) -> None:
    built = app.build()
    app.chain.cancel(int(built["feeAuthorization"]["nonce"]))
    app.chain.mine(FINAL_AFTER)
    assert problems() == ["event_not_recorded"]
    reconciliation.reconcile()
    assert sweep_of(built).status == "void"
    assert problems() == []


@pytest.mark.parametrize("mode", MODES)
def test_the_execution_of_a_sweep_that_was_lost_is_found_even_if_it_was_the_only_one(
    app: PartnerApp, use_mode: Any, mode: str
) -> None:
    use_mode(mode)
    with lost_commits():
        state, tx_hash = app.complete()
    app.chain.mine(FINAL_AFTER)
    (difference,) = compared().differences
    assert (difference.problem, difference.tx_hash) == ("event_without_sweep", tx_hash)
    assert (difference.venue, difference.sweep_id) == (state["contractAddress"], None)
    assert difference.block_number == app.chain.receipt(tx_hash)["blockNumber"]


def test_what_operators_explained_is_not_a_difference(app: PartnerApp) -> None:
    app.build()
    app.chain.cancel(2**255 + 7)
    app.chain.mine(FINAL_AFTER)
    assert problems() == ["event_without_sweep"]
    reconciliation.reconcile()
    explain(event_id=UnmatchedEvent.objects.get().pk, explanation="A test by ops.", explained_by="ops")
    assert problems() == []


def test_an_execution_of_a_closed_sweep_is_not_recorded(executed: Sweep) -> None:
    (difference,) = compared().differences
    assert (difference.problem, difference.sweep_id) == ("event_not_recorded", executed.id)
    assert difference.message == "SweepExecutedV5: Executed on chain, and expired in our books."


def test_an_execution_whose_block_left_the_chain_has_no_event(app: PartnerApp) -> None:
    built = app.build()
    app.approve(built)
    before = app.chain.rpc("evm_snapshot")
    app.confirm(built, app.chain.sign_and_send(app.user, built))
    app.chain.roll_back(before)
    app.chain.mine(FINAL_AFTER)
    (difference,) = compared().differences
    assert (difference.problem, difference.sweep_id) == ("event_missing", sweep_of(built).id)


def test_a_cancellation_in_our_books_only_has_no_event(app: PartnerApp) -> None:
    built = app.build()
    app.chain.mine(FINAL_AFTER)
    Execution.objects.update(status=Execution.Status.CANCELLED, cancellation_tx_hash=random_hash())
    (difference,) = compared().differences
    assert (difference.problem, difference.sweep_id) == ("event_missing", sweep_of(built).id)
    assert difference.message == "Cancelled in our books, and it can still be executed on chain."


def test_another_transaction_in_our_books_is_a_difference(completed: Sweep) -> None:
    completed.transactions.update(tx_hash=random_hash())
    assert problems() == ["other_transaction"]


def test_other_amounts_in_our_books_are_differences(completed: Sweep) -> None:
    execution = completed.executions.get()
    assert execution.gross_output is not None
    assert execution.user_amount is not None
    completed.executions.update(gross_output=execution.gross_output + 1, user_amount=execution.user_amount + 1)
    found = compared().differences
    assert [(one.problem.value, one.sweep_id) for one in found] == [("other_amounts", completed.id)] * 2
    assert found[0].message == (
        f"SweepExecutedV5: The gross output is {execution.gross_output} on chain, "
        f"and {execution.gross_output + 1} in our books."
    )


# --- entries ----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("completed")
def test_an_entry_that_was_reversed_is_missing() -> None:
    posting.reverse(JournalEntry.objects.get())
    assert problems() == ["entry_missing"]


def test_an_entry_that_is_booked_twice_is_doubled(completed: Sweep) -> None:
    book_again(completed)
    assert problems() == ["entry_doubled", "entry_without_execution"]


def test_an_entry_with_other_amounts_differs(completed: Sweep) -> None:
    book_again(completed, more=1)
    found = compared().differences
    assert [one.problem.value for one in found] == ["entry_differs", "entry_without_execution"]
    fee = completed.executions.get().total_fee
    assert fee is not None
    assert f"fees_charged {2 * fee + 1}" in found[0].message
    assert f"fees_charged {fee}" in found[0].message.partition("and ")[2]


def test_an_entry_of_no_sweep_is_found(completed: Sweep) -> None:
    entry = book_fee(completed.partner, network=NETWORK)
    (difference,) = compared().differences
    assert (difference.problem, difference.tx_hash) == ("entry_without_execution", entry.tx_hash)


def book_again(sweep: Sweep, *, more: int = 0) -> None:
    execution = sweep.executions.get()
    execution.booking_epoch += 1
    amounts = execution.amounts
    execution.total_fee = amounts.total_fee + more
    post_sweep_fees([fee_of(sweep, execution, random_hash(), execution.amounts)])


# --- what is read -----------------------------------------------------------------------------------------------------


def test_only_final_blocks_of_the_range_are_compared(app: PartnerApp) -> None:
    with lost_commits():
        _, tx_hash = app.complete()
    app.chain.mine(FINAL_AFTER - 2)
    assert problems() == []
    app.chain.mine(2)
    block = app.chain.receipt(tx_hash)["blockNumber"]
    assert len(books.compare(networks.current(), NETWORK, first=block, last=block).differences) == 1
    assert books.compare(networks.current(), NETWORK, first=block + 1, last=None).differences == []
    assert books.compare(networks.current(), NETWORK, first=None, last=block - 1).differences == []


@pytest.mark.usefixtures("app", "completed")
def test_a_range_without_blocks_has_nothing_to_compare() -> None:
    assert books.compare(networks.current(), NETWORK, first=10**9, last=None).events == 0


@pytest.mark.usefixtures("completed")
def test_nothing_is_concluded_unless_two_providers_show_the_same(start_node: Any, use_providers: Any) -> None:
    honest, hiding = start_node(), start_node()
    hiding.alter = hiding_logs
    use_providers(honest.url, hiding.url)
    with pytest.raises(ChainUnavailableError, match="do not show the same events"):
        compared()


@pytest.mark.usefixtures("executed")
def test_comparing_changes_nothing() -> None:
    before = list(Sweep.objects.values()), SweepTransaction.objects.count(), UnmatchedEvent.objects.count()
    compared()
    assert (list(Sweep.objects.values()), SweepTransaction.objects.count(), UnmatchedEvent.objects.count()) == before


def test_a_span_is_compared_in_the_same_number_of_queries_however_many_events_it_has(app: PartnerApp) -> None:
    counts = []
    for sweeps in (1, 3):
        for _ in range(sweeps):
            app.complete()
        app.chain.mine(FINAL_AFTER)
        with CaptureQueriesContext(connection) as queries:
            compared()
        counts.append(len(queries))
    assert counts[0] == counts[1]
