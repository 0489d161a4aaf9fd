"""The worker compares the executions on final blocks with its own, whatever became of the sweeps meanwhile."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction

from indexer import reconciliation
from ledger.entries.reading import postings_of
from sweepapi import networks
from sweepapi.evm.encoding.responses import Block
from sweepapi.evm.logs import log_query, log_scan
from sweepapi.rpc import ProviderPool
from sweeps.models import Cause, Execution, Sweep, SweepStatus
from sweeps.rails.evm.follow.followed import SEARCH_MARGIN_BLOCKS
from sweeps.rails.evm.models import ScannedBlocks, UnmatchedEvent
from sweeps.rails.registry import RAILS
from sweeps.store import transitions
from sweeps.store.reading import lock_one
from sweeps.store.writing import write
from tests.factories.ledger import random_hash
from tests.factories.sweeps import ExecutionFactory, evm_reading, executed_receipt, found_cancellation
from tests.fake_node import Alter, FakeNode, hiding_logs, lagging, unaltered
from tests.indexer.reconciled import NETWORK, behind_final, cursor, mark, state, warnings
from tests.local_chain import FINAL_AFTER
from tests.partner_app import PartnerApp
from tests.settling import settle

pytestmark = pytest.mark.django_db

Providers = Callable[..., ProviderPool]
Start = Callable[[], FakeNode]


# --- what is found ----------------------------------------------------------------------------------------------------


def test_an_execution_of_a_sweep_that_was_closed_by_mistake_is_booked_as_settled_on_chain(executed: Sweep) -> None:
    reconciliation.reconcile()
    assert state(executed) == ("completed", True, ["executed_after_close"])
    assert [posting.account.name for posting in postings_of(executed.id)] == [
        "fees_charged",
        "partner_settled",
        "protocol_revenue",
    ]


def test_a_sweep_that_was_believed_cancelled_on_chain_loses_that_flag(executed: Sweep) -> None:
    with transaction.atomic():
        stored = lock_one(executed.id)
        (execution,) = stored.executions
        transitions.cancelled(stored, execution, tx_hash=random_hash(), reason="cancelled on chain by ops")
        transitions.move(stored, SweepStatus.VOID, Cause.CANCELLED)
        write([stored])
    reconciliation.reconcile()
    assert state(executed) == ("completed", True, ["executed_after_close", "executed_after_void"])


def test_an_execution_that_was_confirmed_is_not_settled_again(app: PartnerApp) -> None:
    confirmed, _ = app.complete()
    app.chain.mine(FINAL_AFTER)
    reconciliation.reconcile()
    sweep = Sweep.objects.get()
    assert (sweep.check_attempts, sweep.flags) == (confirmed["feeAuthorization"]["checkAttempts"], [])


def test_a_reorganisation_of_what_was_final_clears_the_flag_with_the_booking(executed: Sweep) -> None:
    reconciliation.reconcile()
    number, _ = executed.transactions.get().block
    settle(sweep_id=executed.id, reading=evm_reading(canonical=Block(number, random_hash(), timestamp=1)))
    assert state(executed) == ("pending", True, ["reorganised"])
    assert sum(posting.amount for posting in postings_of(executed.id) if posting.account.name == "fees_charged") == 0


def test_a_closed_sweep_is_not_opened_by_what_one_check_shows_above_the_final_block(executed: Sweep) -> None:
    tx = executed.transactions.create(execution=executed.executions.get(), tx_hash=random_hash())
    settle(sweep_id=executed.id, reading=evm_reading(executed_receipt(tx)))
    assert state(executed) == ("expired", False, [])


# --- what is accepted elsewhere ---------------------------------------------------------------------------------------


def test_an_execution_that_final_blocks_show_elsewhere_than_it_was_accepted_is_booked_there(app: PartnerApp) -> None:
    built = app.build()
    app.approve(built)
    before = app.chain.rpc("evm_snapshot")
    tx_hash = app.chain.sign_and_send(app.user, built)
    app.confirm(built, tx_hash)
    app.chain.roll_back(before)
    app.chain.mine(2, seconds=7)
    assert app.chain.sign_and_send(app.user, built) == tx_hash
    app.chain.mine(FINAL_AFTER)
    sweep = Sweep.objects.get(id=built["sweepId"])
    assert warnings() == ["receipts_missing"]
    assert state(sweep) == ("pending", True, ["reorganised"])
    assert warnings() == []
    assert state(sweep) == ("completed", True, ["reorganised"])
    assert cursor(app.chain.contracts["v5"]) == behind_final(app)


def test_a_cancellation_that_final_blocks_show_voids_the_sweep(app: PartnerApp) -> None:
    built = app.build()
    app.chain.cancel(int(built["feeAuthorization"]["nonce"]))
    app.chain.mine(FINAL_AFTER)
    reconciliation.reconcile()
    assert state(Sweep.objects.get()) == ("void", False, ["cancelled_on_chain"])
    ScannedBlocks.objects.all().delete()
    assert warnings() == []
    assert not UnmatchedEvent.objects.exists()


def test_a_cancellation_that_left_the_chain_is_replaced_by_the_one_that_final_blocks_show(app: PartnerApp) -> None:
    built = app.build()
    tx_hash = app.chain.cancel(int(built["feeAuthorization"]["nonce"]))
    first = found_cancellation(app.user.address)
    settle(sweep_id=UUID(built["sweepId"]), reading=evm_reading(state=True, finding=first))
    assert app.state(built["sweepId"])["cancellation"]["txHash"] != tx_hash
    app.chain.mine(FINAL_AFTER)
    for _ in range(2):
        reconciliation.reconcile()
        ScannedBlocks.objects.all().delete()
    shown = app.state(built["sweepId"])
    assert (shown["status"], shown["open"], shown["cancellation"]["txHash"]) == ("void", False, tx_hash)
    assert [event["txHash"] for event in shown["events"] if event["type"] == "cancelled_on_chain"][1:] == [tx_hash]


# --- how far it was read ----------------------------------------------------------------------------------------------


def test_blocks_are_read_once(app: PartnerApp, executed: Sweep, round_trips: list[list[str]]) -> None:
    reconciliation.reconcile()
    assert cursor(app.chain.contracts["v5"]) == behind_final(app)
    round_trips.clear()
    reconciliation.reconcile()
    assert ["eth_getLogs" in methods for methods in round_trips] == [False]
    app.chain.mine(3)
    reconciliation.reconcile()
    assert cursor(app.chain.contracts["v5"]) == behind_final(app)
    assert state(executed)[0] == "completed"


def test_it_begins_below_the_first_build_at_a_contract(
    app: PartnerApp, start_node: Start, use_providers: Providers
) -> None:
    node = start_node()
    queried: list[str] = []

    def alter(method: str, params: list[Any], result: Any) -> Any:
        if method == "eth_getLogs":
            queried.append(params[0]["fromBlock"])
        return result

    node.alter = alter
    use_providers(node.url)
    app.chain.mine(SEARCH_MARGIN_BLOCKS)
    app.build()
    app.chain.mine(FINAL_AFTER)
    app.build()
    reconciliation.reconcile()
    lowest = min(Execution.objects.values_list("built_at_height", flat=True))
    assert queried == [hex(lowest - SEARCH_MARGIN_BLOCKS)]


def test_it_never_begins_below_the_first_block(app: PartnerApp) -> None:
    app.build()
    Execution.objects.update(built_at_height=1)
    reconciliation.reconcile()
    assert cursor(app.chain.contracts["v5"]) == behind_final(app)


@pytest.mark.usefixtures("chain")
def test_a_contract_without_executions_is_not_read(round_trips: list[list[str]]) -> None:
    reconciliation.reconcile()
    assert (round_trips, ScannedBlocks.objects.count()) == ([], 0)


def test_a_contract_that_new_builds_no_longer_use_is_read_too(app: PartnerApp, executed: Sweep) -> None:
    elsewhere = ExecutionFactory.create().venue
    reconciliation.reconcile()
    assert {row.contract for row in ScannedBlocks.objects.all()} == {app.chain.contracts["v5"], elsewhere}
    assert state(executed)[0] == "completed"


def test_a_run_that_stops_after_settling_is_repeated_and_changes_nothing(app: PartnerApp, executed: Sweep) -> None:
    found = RAILS["evm_v5"].find_executed(networks.current(), NETWORK, app.chain.contracts["v5"])
    ((sweep_id, look),) = next(found).readings
    settle(sweep_id=sweep_id, reading=look)
    del found  # the process ends here
    before = cursor(app.chain.contracts["v5"])
    assert before <= executed.executions.get().built_at_height
    events = Sweep.objects.get().last_event
    reconciliation.reconcile()
    assert (Sweep.objects.get().last_event, len(postings_of(executed.id))) == (events, 3)
    assert cursor(app.chain.contracts["v5"]) == behind_final(app)


def test_nothing_is_passed_over_while_a_receipt_of_an_earlier_span_is_missing(
    app: PartnerApp,
    executed: Sweep,
    use_providers: Providers,
    start_node: Start,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    after = app.execute(app.build())
    app.chain.mine(FINAL_AFTER)
    monkeypatch.setattr(log_scan, "SPAN_LENGTHS", (1,))
    monkeypatch.setattr(log_query, "SPANS_AT_ONCE", 100)
    node = start_node()
    node.alter = lambda method, params, result: (
        None if method == "eth_getTransactionReceipt" and params != [after] else result
    )
    use_providers(node.url)
    assert warnings() == ["receipts_missing"]
    node.alter = unaltered
    before = cursor(app.chain.contracts["v5"])
    reconciliation.reconcile()
    assert state(executed)[0] == "completed"
    assert before == executed.transactions.get().block_number
    assert cursor(app.chain.contracts["v5"]) == behind_final(app)


def test_final_blocks_that_were_replaced_are_read_again(app: PartnerApp, executed: Sweep) -> None:
    reconciliation.reconcile()
    contract = app.chain.contracts["v5"]
    ScannedBlocks.objects.update(last_hash=random_hash())
    app.chain.mine(3)
    assert warnings() == ["final_block_replaced"]
    assert mark(contract) == (max(behind_final(app) - 3 - log_query.SPAN_BLOCKS, 0), None)
    assert warnings() == []
    assert cursor(contract) == behind_final(app)
    assert state(executed)[0] == "completed"


# --- providers --------------------------------------------------------------------------------------------------------


def without_receipts(method: str, _params: list[Any], result: Any) -> Any:
    return None if method == "eth_getTransactionReceipt" else result


@pytest.fixture
def second(app: PartnerApp, use_providers: Providers, start_node: Start) -> FakeNode:
    """The second of two providers."""
    node = start_node()
    use_providers(app.chain.world["rpcUrl"], node.url)
    return node


@pytest.mark.parametrize(("lie", "warned"), [(hiding_logs, ["logs_disagree"]), (lagging(10**6), [])])
def test_two_providers_that_do_not_show_the_same_change_nothing_until_they_do(
    executed: Sweep, second: FakeNode, lie: Alter, warned: list[str]
) -> None:
    second.alter = lie
    assert warnings() == warned
    assert state(executed) == ("expired", False, [])
    second.alter = unaltered
    assert warnings() == []
    assert state(executed) == ("completed", True, ["executed_after_close"])


def behind(blocks: int) -> Alter:
    """Have none of the newest blocks, and so none of their logs."""

    def alter(method: str, params: list[Any], result: Any) -> Any:
        if method == "eth_getLogs":
            return []
        if method == "eth_getBlockByNumber" and params[0] in ("latest", "safe", "finalized"):
            return result | {"number": hex(max(int(result["number"], 16) - blocks, 0))}
        return result

    return alter


@pytest.mark.parametrize("lie", [hiding_logs, behind(2 * FINAL_AFTER)])
def test_the_mark_does_not_move_over_logs_that_only_one_of_two_providers_shows(
    app: PartnerApp, second: FakeNode, lie: Alter
) -> None:
    reconciliation.reconcile()
    contract = app.chain.contracts["v5"]
    app.build()
    reconciliation.reconcile()
    before = mark(contract)
    assert before == (behind_final(app), app.chain.web3.eth.get_block("finalized")["hash"].to_0x_hex())
    app.chain.cancel(1)
    app.chain.mine(FINAL_AFTER)
    second.alter = lie
    warnings()
    assert mark(contract) == before
    second.alter = unaltered
    reconciliation.reconcile()
    assert mark(contract)[0] == behind_final(app) > before[0]


def test_one_of_two_providers_changes_nothing(app: PartnerApp, executed: Sweep, use_providers: Providers) -> None:
    use_providers(app.chain.world["rpcUrl"], "http://127.0.0.1:1")
    assert "scan_failed" in warnings()
    assert state(executed) == ("expired", False, [])


def test_a_chain_that_does_not_answer_is_logged_and_read_later(
    app: PartnerApp, executed: Sweep, use_providers: Providers
) -> None:
    use_providers("http://127.0.0.1:1")
    assert warnings() == ["provider_failed", "scan_failed"]
    assert state(executed) == ("expired", False, [])
    use_providers(app.chain.world["rpcUrl"])
    assert warnings() == []
    assert state(executed) == ("completed", True, ["executed_after_close"])
    assert cursor(app.chain.contracts["v5"]) == behind_final(app)


def test_without_its_receipt_an_execution_is_not_booked_and_not_passed_over(
    app: PartnerApp, executed: Sweep, use_providers: Providers, start_node: Start
) -> None:
    node = start_node()
    node.alter = without_receipts
    use_providers(node.url)
    assert warnings() == ["receipts_missing"]
    assert state(executed) == ("expired", False, [])
    assert cursor(app.chain.contracts["v5"]) < behind_final(app)
    node.alter = unaltered
    reconciliation.reconcile()
    assert state(executed)[0] == "completed"


def test_one_missing_receipt_delays_no_other_execution(
    app: PartnerApp, executed: Sweep, use_providers: Providers, start_node: Start
) -> None:
    built = app.build()
    without = app.execute(built)
    app.chain.mine(FINAL_AFTER)
    node = start_node()
    node.alter = lambda method, params, result: (
        None if (method, params) == ("eth_getTransactionReceipt", [without]) else result
    )
    use_providers(node.url)
    assert warnings() == ["receipts_missing"]
    assert state(executed)[0] == "completed"
    assert cursor(app.chain.contracts["v5"]) < behind_final(app)
    node.alter = unaltered
    assert warnings() == []
    assert Sweep.objects.get(id=built["sweepId"]).status == "completed"
    assert cursor(app.chain.contracts["v5"]) == behind_final(app)


def test_a_receipt_with_other_amounts_than_the_event_is_not_booked(
    app: PartnerApp, executed: Sweep, use_providers: Providers, start_node: Start
) -> None:
    """A liar can't raise the fee of an event that two providers show, even if its amounts are consistent."""
    liar = start_node()
    liar.alter = lambda method, _params, result: (
        result | {"logs": [_doubled(log) for log in result["logs"]]}
        if method == "eth_getTransactionReceipt"
        else result
    )
    use_providers(liar.url)
    assert warnings() == ["receipts_missing"]
    use_providers(liar.url, app.chain.world["rpcUrl"])
    assert warnings() == []
    assert state(executed)[0] == "completed"


def _doubled(log: dict[str, Any]) -> dict[str, Any]:
    """Double every amount of an event, which come after three addresses and the number of tokens."""
    words = [log["data"][2:][start : start + 64] for start in range(0, len(log["data"]) - 2, 64)]
    amounts = [f"{2 * int(word, 16) % 2**256:064x}" for word in words[4:]]
    return log | {"data": "0x" + "".join([*words[:4], *amounts])}
