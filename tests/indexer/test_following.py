"""The worker follows our contracts' events, so that a sweep which was not reported is settled by the next poll."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from indexer import checks, following, reconciliation
from indexer.reconciliation import settle_found
from sweepapi.rpc import ProviderPool
from sweeps.models import ChainHead, Sweep
from sweeps.rails.evm.follow.following import EvmReading
from sweeps.rails.evm.reconcile import log_following
from sweeps.story.settle import SettlementOutcome
from sweeps.story.withdrawal import void
from tests.factories.sweeps import SweepTransactionFactory, evm_reading, executed_receipt
from tests.fake_node import FakeNode
from tests.indexer.reconciled import NETWORK, kinds_booked, polled, refuse_to_settle, state, sweep_of
from tests.local_chain import FINAL_AFTER, SAFE_AFTER
from tests.own_permit import send_own, under_reference_of
from tests.partner_app import PartnerApp

pytestmark = pytest.mark.django_db

Providers = Callable[..., ProviderPool]
Start = Callable[[], FakeNode]


# --- executed ---------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("each_mode")
def test_an_execution_that_was_not_reported_is_completed_by_one_poll(app: PartnerApp) -> None:
    built = app.build()
    tx_hash = app.execute(built)
    assert polled() == []
    tx = app.state(built["sweepId"])["transaction"]
    assert state(sweep_of(built)) == ("completed", True, [])
    assert (tx["txHash"], tx["source"], tx["finality"], tx["confirmations"]) == (tx_hash, "discovered", "included", 1)
    assert kinds_booked(sweep_of(built)) == ["sweep_fee"]


def test_a_hash_that_was_reported_too_early_is_accepted_as_the_partners(app: PartnerApp) -> None:
    built = app.build()
    tx_hash = app.execute(built)
    SweepTransactionFactory.create(sweep=sweep_of(built), tx_hash=tx_hash)
    following.follow()
    tx = app.state(built["sweepId"])["transaction"]
    assert (tx["txHash"], tx["source"], tx["status"]) == (tx_hash, "partner", "accepted")


def test_executions_on_both_contract_versions_are_found_by_one_poll(
    app: PartnerApp, use_mode: Callable[[str], object]
) -> None:
    on_v5 = app.build()
    app.execute(on_v5)
    use_mode("v4_fallback")
    on_v4 = app.build()
    app.execute(on_v4)
    following.follow()
    assert [state(sweep_of(one)) for one in (on_v5, on_v4)] == [("completed", True, [])] * 2


def test_a_voided_sweep_that_was_executed_is_flagged(app: PartnerApp) -> None:
    built = app.build()
    void(sweep_id=sweep_of(built).id, reason="requested by the user", requested_by="ops")
    app.execute(built)
    following.follow()
    assert state(sweep_of(built)) == ("completed", True, ["executed_after_void"])


def test_what_is_known_is_not_settled_again(app: PartnerApp) -> None:
    built = app.build()
    app.execute(built)
    following.follow()
    before = sweep_of(built)
    following.follow()
    after = sweep_of(built)
    assert (after.check_attempts, after.last_event) == (before.check_attempts, before.last_event)


def test_a_closed_sweep_is_left_to_the_reconciliation_of_final_blocks(executed: Sweep) -> None:
    ChainHead.objects.create(network=NETWORK, number=0, final_number=0, timestamp=0)
    following.follow()
    assert state(executed) == ("expired", False, [])


# --- reorganisations --------------------------------------------------------------------------------------------------


def checked_long_ago(sweep: Sweep) -> None:
    Sweep.objects.filter(id=sweep.id).update(last_checked_at=timezone.now() - 2 * log_following.RECHECK_INTERVAL)


def test_an_execution_that_moved_to_another_block_is_booked_again(app: PartnerApp) -> None:
    built = app.build()
    app.approve(built)
    before = app.chain.rpc("evm_snapshot")
    tx_hash = app.chain.sign_and_send(app.user, built)
    following.follow()
    sweep = sweep_of(built)
    assert state(sweep) == ("completed", True, [])
    first = sweep.transactions.get().block

    app.chain.roll_back(before)
    app.chain.mine(2, seconds=7)
    following.follow()
    assert state(sweep) == ("completed", True, []), "its block is looked for by the checks"
    assert app.chain.sign_and_send(app.user, built) == tx_hash
    checked_long_ago(sweep)
    following.follow()
    assert state(sweep) == ("pending", True, ["reorganised"])
    following.follow()
    assert state(sweep) == ("completed", True, ["reorganised"])
    assert sweep.transactions.get().block != first
    assert kinds_booked(sweep) == ["sweep_fee", "reversal", "sweep_fee"]


# --- cancelled, and executed on other terms ---------------------------------------------------------------------------


def test_a_cancellation_on_a_safe_block_voids_the_sweep_and_one_above_does_not(app: PartnerApp) -> None:
    built = app.build()
    app.chain.cancel(int(built["feeAuthorization"]["nonce"]))
    following.follow()
    assert state(sweep_of(built)) == ("pending", True, [])
    app.chain.mine(SAFE_AFTER)
    following.follow()
    assert state(sweep_of(built)) == ("void", False, ["cancelled_on_chain"])


def test_a_reference_that_its_user_spent_on_other_terms_fails_the_sweep_once_that_is_safe(
    app: PartnerApp, use_mode: Callable[[str], object]
) -> None:
    use_mode("v4_fallback")
    built, other = app.build(), app.build(output="USDT")
    app.approve(other)
    send_own(app.chain, app.user, under_reference_of(built, other))
    following.follow()
    assert state(sweep_of(built)) == ("pending", True, [])
    app.chain.mine(SAFE_AFTER)
    following.follow()
    assert state(sweep_of(built)) == ("failed", False, ["sweep_ref_used"])


def test_an_execution_on_other_terms_is_rejected_once(app: PartnerApp) -> None:
    built = app.build()
    app.execute(built)
    Sweep.objects.update(protocol_recipient=app.chain.users[3].address)
    for _ in range(3):
        following.follow()
    sweep = sweep_of(built)
    assert [(tx.status, tx.source) for tx in sweep.transactions.all()] == [("rejected", "discovered")]
    assert (sweep.status, sweep.check_attempts) == ("pending", 1)


# --- each of the two ways suffices ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("each_mode")
def test_without_checks_of_hashes_a_sweep_is_completed_and_becomes_final(app: PartnerApp) -> None:
    built = app.build()
    app.execute(built)
    following.follow()
    app.chain.mine(FINAL_AFTER)
    following.follow()
    reconciliation.reconcile()
    Sweep.objects.update(next_check_at=timezone.now() - timedelta(minutes=2))  # nothing checked it
    reconciliation.reconcile()
    assert state(sweep_of(built)) == ("completed", False, [])
    assert app.state(built["sweepId"])["transaction"]["finality"] == "final"


def test_without_following_a_sweep_is_completed_by_its_hash_and_becomes_final(app: PartnerApp) -> None:
    built = app.build()
    SweepTransactionFactory.create(sweep=sweep_of(built), tx_hash=app.execute(built))
    for _ in range(2):
        Sweep.objects.update(next_check_at=timezone.now() - timedelta(minutes=1))
        checks.check_due()
        app.chain.mine(FINAL_AFTER)
    assert state(sweep_of(built)) == ("completed", False, [])
    assert not ChainHead.objects.exists()


# --- what a poll costs ------------------------------------------------------------------------------------------------


def test_a_poll_takes_one_request_and_one_more_for_the_receipts_of_new_executions(
    app: PartnerApp, round_trips: list[list[str]]
) -> None:
    built = [app.build() for _ in range(3)]
    following.follow()
    for one in built:
        app.execute(one)
    round_trips.clear()
    following.follow()
    depths = ["eth_getBlockByNumber"] * 3
    assert round_trips == [[*depths, "eth_getLogs"], ["eth_getTransactionReceipt"] * 3]
    assert {sweep_of(one).status for one in built} == {"completed"}
    round_trips.clear()
    following.follow()
    assert round_trips == [[*depths, "eth_getLogs"]]


@pytest.mark.usefixtures("chain")
def test_a_chain_on_which_nothing_was_offered_is_not_read(round_trips: list[list[str]]) -> None:
    following.follow()
    assert (round_trips, ChainHead.objects.count()) == ([], 0)


def test_the_head_that_a_poll_saw_is_stored(app: PartnerApp) -> None:
    app.build()
    following.follow()
    app.chain.mine(FINAL_AFTER)
    following.follow()
    head, web3 = ChainHead.objects.get(network=NETWORK), app.chain.web3
    tagged = {tag: web3.eth.get_block(tag)["number"] for tag in ("latest", "safe", "finalized")}
    assert (head.number, head.safe_number, head.final_number) == tuple(tagged.values())


# --- runs -------------------------------------------------------------------------------------------------------------


def test_a_chain_that_does_not_answer_is_logged_and_read_by_the_next_poll(
    app: PartnerApp, use_providers: Providers
) -> None:
    built = app.build()
    app.execute(built)
    use_providers("http://127.0.0.1:1")
    assert polled() == ["provider_failed", "poll_failed"]
    use_providers(app.chain.world["rpcUrl"])
    assert polled() == []
    assert state(sweep_of(built)) == ("completed", True, [])


def test_a_sweep_that_cannot_be_settled_keeps_no_other_from_being_settled(
    app: PartnerApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    poisoned, other = app.build(), app.build()
    for one in (poisoned, other):
        app.execute(one)

    refuse_to_settle(monkeypatch, {sweep_of(poisoned).id})
    with pytest.RaisesGroup(RuntimeError, flatten_subgroups=True):
        following.follow()
    assert [sweep_of(one).status for one in (poisoned, other)] == ["pending", "completed"]


def test_what_one_poll_finds_is_settled_in_one_transaction(app: PartnerApp) -> None:
    builds = [app.build() for _ in range(2)]
    for built in builds:
        app.execute(built)
    with CaptureQueriesContext(connection) as captured:
        following.follow()
    assert [sweep_of(one).status for one in builds] == ["completed"] * 2
    assert sum("FROM sweeps_sweep" in query["sql"] and "FOR UPDATE" in query["sql"] for query in captured) == 1


def test_what_was_found_before_an_error_is_settled_and_a_sweep_that_was_found_twice_only_once() -> None:
    tx = SweepTransactionFactory.create()

    def found() -> Iterator[tuple[UUID, EvmReading]]:
        for _ in range(2):
            yield tx.sweep.id, evm_reading(executed_receipt(tx))
        raise RuntimeError

    with pytest.raises(RuntimeError):
        reconciliation.settle_all(found())
    assert state(tx.sweep) == ("completed", True, [])
    assert kinds_booked(tx.sweep) == ["sweep_fee"]


def test_a_chain_is_followed_by_one_run_at_a_time(app: PartnerApp, monkeypatch: pytest.MonkeyPatch) -> None:
    built = app.build()
    app.execute(built)
    meanwhile: list[int] = []

    def poll_in_another_process() -> int:
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))::int", [f"following {NETWORK}"])
                return int(cursor.fetchone()[0])
        finally:
            connection.close()

    def slow(found: Mapping[UUID, EvmReading]) -> SettlementOutcome:
        with ThreadPoolExecutor(1) as thread:
            meanwhile.append(thread.submit(poll_in_another_process).result())
        return settle_found(found)

    monkeypatch.setattr(reconciliation, "settle_found", slow)
    following.follow()
    assert meanwhile == [0]
