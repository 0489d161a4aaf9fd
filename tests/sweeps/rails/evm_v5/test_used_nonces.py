"""A nonce was used and no transaction was reported: the worker finds out whether it was cancelled or executed."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.utils import timezone
from eth_account import Account
from eth_account.signers.local import LocalAccount

from indexer import checks
from ledger.entries.reading import postings_of
from sweepapi.evm.contracts.v5 import CANCELLED_TOPIC
from sweepapi.evm.logs import log_query
from sweepapi.rpc import ProviderPool
from sweeps.models import Execution, Sweep, SweepTransaction
from sweeps.rails.evm.follow import followed
from sweeps.story.withdrawal import void
from tests.factories.ledger import random_hash
from tests.factories.sweeps import SweepTransactionFactory
from tests.fake_node import Alter, FakeNode
from tests.local_chain import SAFE_AFTER
from tests.partner_app import PartnerApp, error_of

pytestmark = pytest.mark.django_db

FAR_APART = 1000  # seconds: longer than any authorization lives

Providers = Callable[..., ProviderPool]
Start = Callable[[], FakeNode]


def check(built: dict[str, Any]) -> Sweep:
    """Make the sweep due now, check it as its message would, and return it as stored."""
    Sweep.objects.filter(id=built["sweepId"]).update(next_check_at=timezone.now())
    checks.check_one(UUID(built["sweepId"]))
    return Sweep.objects.get(id=built["sweepId"])


def cancel(app: PartnerApp, built: dict[str, Any], *, by: Any = None) -> str:
    """Cancel on chain with a wallet."""
    return app.chain.cancel(int(built["feeAuthorization"]["nonce"]), by=by)


def seconds_until_due(sweep: Sweep) -> float:
    assert sweep.next_check_at is not None
    return (sweep.next_check_at - timezone.now()).total_seconds()


# --- cancelled --------------------------------------------------------------------------------------------------------


def test_a_cancelled_sweep_is_void_and_closed_and_names_who_cancelled_it_and_how(app: PartnerApp) -> None:
    built = app.build()
    tx_hash = cancel(app, built)
    app.chain.mine(SAFE_AFTER)
    sweep = check(built)
    assert (sweep.status, sweep.is_open, sweep.flags) == ("void", False, ["cancelled_on_chain"])
    assert sweep.void_reason == f"cancelled on chain by {app.chain.holder('ops').address}"
    assert sweep.voided_at is not None
    state = app.state(built["sweepId"])
    assert (state["status"], state["open"], state["flags"]) == ("void", False, ["cancelled_on_chain"])
    assert state["cancellation"] == {"requestedAt": None, "txHash": tx_hash}
    assert error_of(app.post_confirm(built["sweepId"], random_hash())) == (409, "sweep_void")
    assert checks.check_due() == 0


def test_the_fee_signer_can_cancel_it_too(app: PartnerApp) -> None:
    built = app.build()
    signer: LocalAccount = Account.from_key(settings.FEE_SIGNER_KEY)
    app.chain.give_coins(signer.address)
    cancel(app, built, by=signer)
    app.chain.mine(SAFE_AFTER)
    assert f"by {signer.address}" in check(built).void_reason


def test_another_wallet_cannot_cancel_it(app: PartnerApp) -> None:
    built = app.build()
    assert app.chain.receipt(cancel(app, built, by=app.user))["status"] == 0
    app.chain.mine(SAFE_AFTER)
    assert check(built).status == "pending"


def test_a_cancellation_that_is_not_safe_yet_closes_nothing(app: PartnerApp) -> None:
    built = app.build()
    cancel(app, built)
    app.chain.mine(SAFE_AFTER - 2)
    sweep = check(built)
    assert (sweep.status, sweep.is_open, sweep.flags) == ("pending", True, [])


def test_a_cancellation_that_left_the_chain_leaves_the_sweep_executable(app: PartnerApp) -> None:
    built = app.build()
    before = app.chain.rpc("evm_snapshot")
    cancel(app, built)
    check(built)
    app.chain.roll_back(before)
    assert app.confirm(built, app.execute(built))["status"] == "completed"


def test_candidates_that_were_submitted_before_are_dropped(app: PartnerApp) -> None:
    built = app.build()
    app.confirm(built, random_hash(), status=202)
    cancel(app, built)
    app.chain.mine(SAFE_AFTER)
    assert check(built).status == "void"
    tx = SweepTransaction.objects.get()
    assert (tx.status, tx.reason) == ("dropped", "The authorization was cancelled on chain.")


def test_a_transaction_that_came_too_late_reverts_and_the_sweep_ends_void(app: PartnerApp) -> None:
    built = app.build()
    cancel(app, built)
    late = app.execute(built)
    assert app.confirm(built, late, status=202)["awaits"] == "agreement", "something unknown used the nonce"
    app.chain.mine(SAFE_AFTER)
    sweep = check(built)
    assert (sweep.status, sweep.is_open) == ("void", False)
    assert SweepTransaction.objects.get().status == "reverted"


def test_a_candidate_that_executed_something_else_does_not_hide_a_cancellation(app: PartnerApp) -> None:
    built, other = app.build(), app.build()
    app.post_confirm(built["sweepId"], app.execute(other))
    cancel(app, built)
    app.chain.mine(SAFE_AFTER)
    assert check(built).status == "void"


def test_a_sweep_that_ops_voided_keeps_its_reason_and_is_closed(app: PartnerApp) -> None:
    built = app.build()
    voided = void(sweep_id=UUID(built["sweepId"]), reason="requested by the user", requested_by="ops")
    cancel(app, built)
    app.chain.mine(SAFE_AFTER)
    sweep = check(built)
    assert (sweep.status, sweep.is_open, sweep.voided_at) == ("void", False, voided.voided_at)
    assert sweep.void_reason.startswith("requested by the user; cancelled on chain by ")


def test_a_cancellation_after_the_deadline_still_counts(app: PartnerApp) -> None:
    built = app.build()
    app.chain.mine(seconds=FAR_APART)
    cancel(app, built)
    app.chain.mine(SAFE_AFTER)
    assert checks.check_due() == 1
    assert Sweep.objects.get().status == "void"


def test_a_sweep_whose_execution_left_the_chain_can_be_cancelled(app: PartnerApp) -> None:
    built = app.build()
    app.approve(built)
    before = app.chain.rpc("evm_snapshot")
    app.confirm(built, app.chain.sign_and_send(app.user, built))
    app.chain.roll_back(before)
    cancel(app, built)
    app.chain.mine(SAFE_AFTER, seconds=7)
    check(built)
    sweep = check(built)
    assert (sweep.status, sweep.is_open, sweep.executions.get().gross_output) == ("void", False, None)
    assert sum(posting.amount for posting in postings_of(sweep.id) if posting.account.partner) == 0


def test_a_nonce_that_a_reported_transaction_explains_is_not_searched_for(
    app: PartnerApp, round_trips: list[list[str]]
) -> None:
    built = app.build()
    SweepTransactionFactory.create(sweep=Sweep.objects.get(), tx_hash=app.execute(built))
    app.chain.mine(SAFE_AFTER)
    round_trips.clear()
    assert check(built).status == "completed"
    assert not any("eth_getLogs" in methods for methods in round_trips)


def test_a_completed_sweep_is_never_searched_for(app: PartnerApp, round_trips: list[list[str]]) -> None:
    built = app.build()
    app.confirm(built, app.execute(built))
    app.chain.mine(SAFE_AFTER)
    round_trips.clear()
    check(built)
    assert len(round_trips) == 1


def test_a_confirm_never_searches_however_deep_the_transaction_lies(
    app: PartnerApp, round_trips: list[list[str]]
) -> None:
    built = app.build()
    tx_hash = app.execute(built)
    app.chain.mine(SAFE_AFTER)
    round_trips.clear()
    app.confirm(built, tx_hash)
    assert not any("eth_getLogs" in methods for methods in round_trips)
    assert len(round_trips) == 2, "the receipt, and the block at its height"


# --- several providers, and lies --------------------------------------------------------------------------------------


def no_logs(method: str, _params: list[Any], result: Any) -> Any:
    return [] if method == "eth_getLogs" else result


@pytest.mark.parametrize("blind_is_first", [True, False])
def test_a_cancellation_that_only_one_of_two_providers_shows_closes_nothing(
    app: PartnerApp, use_providers: Providers, start_node: Start, *, blind_is_first: bool
) -> None:
    built = app.build()
    cancel(app, built)
    app.chain.mine(SAFE_AFTER)
    blind = start_node()
    blind.alter = no_logs
    urls = [blind.url, app.chain.world["rpcUrl"]]
    use_providers(*(urls if blind_is_first else reversed(urls)))
    sweep = check(built)
    assert (sweep.status, sweep.is_open, sweep.flags) == ("pending", True, ["nonce_used"])
    assert sweep.last_error == "The providers disagree about the event that used the nonce."
    assert seconds_until_due(sweep) < 30
    use_providers(app.chain.world["rpcUrl"], app.chain.world["rpcUrl"])
    assert check(built).status == "void"


def test_a_provider_that_invents_a_cancellation_closes_nothing(
    app: PartnerApp, use_providers: Providers, start_node: Start
) -> None:
    built, other = app.build(), app.build()
    cancel(app, other)
    app.chain.mine(SAFE_AFTER)
    ours, others = (f"0x{int(sweep['feeAuthorization']['nonce']):064x}" for sweep in (built, other))
    liar = start_node()

    def invent(method: str, params: list[Any], result: Any) -> Any:
        if method == "eth_call":
            return result[:-1] + "1"  # the last word: the nonce is used
        if method == "eth_getLogs" and params[0]["topics"][1] == ours:
            topics = [params[0]["topics"][0][1], ours, "0x" + "00" * 12 + app.chain.holder("ops").address[2:]]
            return [{**a_log, "topics": topics}]
        return result

    found = app.chain.rpc(
        "eth_getLogs", {"fromBlock": "0x0", "address": app.chain.contracts["v5"], "topics": [CANCELLED_TOPIC, others]}
    )
    (a_log,) = found
    liar.alter = invent
    use_providers(liar.url, app.chain.world["rpcUrl"])
    sweep = check(built)
    assert (sweep.status, sweep.is_open) == ("pending", True)
    use_providers(app.chain.world["rpcUrl"])
    assert check(built).flags == [], "it is unused after all"
    use_providers(liar.url)
    assert check(built).status == "void", "a single provider is trusted"


def test_a_refused_log_query_is_reported_and_retried(
    app: PartnerApp, use_providers: Providers, start_node: Start
) -> None:
    built = app.build()
    cancel(app, built)
    app.chain.mine(SAFE_AFTER)
    stingy = start_node()
    stingy.alter = lambda method, _params, result: None if method == "eth_getLogs" else result
    use_providers(stingy.url)
    sweep = check(built)
    assert (sweep.status, sweep.last_error) == (
        "pending",
        "The nonce is used, but the event that used it has not been found yet.",
    )
    stingy.alter = lambda _method, _params, result: result
    assert check(built).status == "void"


def test_a_provider_that_fails_during_the_search_only_delays_it(
    app: PartnerApp, use_providers: Providers, start_node: Start
) -> None:
    built = app.build()
    cancel(app, built)
    app.chain.mine(SAFE_AFTER)
    dying = start_node()
    dying.refuse = lambda batch: any(request["method"] == "eth_getLogs" for request in batch)
    use_providers(dying.url)
    sweep = check(built)
    assert (sweep.status, sweep.flags, sweep.lease_token) == ("pending", ["nonce_used"], None)


# --- executed ---------------------------------------------------------------------------------------------------------


def test_an_unreported_execution_is_discovered_and_booked(app: PartnerApp) -> None:
    built = app.build()
    tx_hash = app.execute(built)
    app.chain.mine(SAFE_AFTER)
    sweep = check(built)
    assert (sweep.status, sweep.is_open, sweep.flags) == ("completed", True, [])
    state = app.state(built["sweepId"])
    assert (state["transaction"]["txHash"], state["transaction"]["source"]) == (tx_hash, "discovered")
    assert state["transaction"]["status"] == "accepted"
    assert len(state["ledger"]["entries"]) == 3
    assert app.confirm(built, tx_hash)["transactions"] == state["transactions"]


def test_an_execution_wins_over_expiry(app: PartnerApp) -> None:
    built = app.build()
    app.execute(built)
    app.chain.mine(seconds=FAR_APART)
    app.chain.mine(SAFE_AFTER)
    assert checks.check_due() == 1
    assert Sweep.objects.get(id=built["sweepId"]).status == "completed"


def test_an_execution_after_ops_voided_it_is_found_and_flagged(app: PartnerApp) -> None:
    built = app.build()
    void(sweep_id=UUID(built["sweepId"]), reason="asked for", requested_by="ops")
    app.execute(built)
    app.chain.mine(SAFE_AFTER)
    sweep = check(built)
    assert (sweep.status, sweep.flags) == ("completed", ["executed_after_void"])


def test_a_wrong_hash_that_was_reported_does_not_hide_the_right_one(app: PartnerApp) -> None:
    built = app.build()
    app.confirm(built, random_hash(), status=202)
    app.execute(built)
    app.chain.mine(SAFE_AFTER)
    assert check(built).status == "completed"
    assert [(tx.status, tx.source) for tx in SweepTransaction.objects.order_by("id")] == [
        ("replaced", "partner"),
        ("accepted", "discovered"),
    ]


def test_ten_reported_hashes_leave_room_for_the_right_one(app: PartnerApp) -> None:
    built = app.build()
    SweepTransactionFactory.create_batch(10, sweep=Sweep.objects.get())
    app.execute(built)
    app.chain.mine(SAFE_AFTER)
    assert check(built).status == "completed"


def test_a_log_that_one_provider_does_not_show_is_found_at_another(
    app: PartnerApp, use_providers: Providers, start_node: Start
) -> None:
    built = app.build()
    app.execute(built)
    app.chain.mine(SAFE_AFTER)
    blind = start_node()
    blind.alter = no_logs
    use_providers(blind.url, app.chain.world["rpcUrl"])
    assert check(built).status == "completed"


def receipts_with(lie: dict[str, Any] | None) -> Alter:
    """Return what falsifies every receipt, or hides it."""
    return lambda method, _params, result: (
        (result | lie if lie else None) if method == "eth_getTransactionReceipt" else result
    )


@pytest.mark.parametrize(
    "lie",
    [
        {"status": "0x0"},
        {"blockHash": "0x" + "ab" * 32},
        {"blockNumber": "0x1"},
        {"blockNumber": "0x7fffffff"},
        {"logs": []},
        None,
    ],
)
def test_a_hint_that_its_receipt_does_not_confirm_changes_nothing(
    app: PartnerApp, use_providers: Providers, start_node: Start, lie: dict[str, Any] | None
) -> None:
    built = app.build()
    app.execute(built)
    app.chain.mine(SAFE_AFTER)
    liar = start_node()
    liar.alter = receipts_with(lie)
    use_providers(liar.url)
    sweep = check(built)
    assert (sweep.status, sweep.flags, sweep.transactions.count()) == ("pending", ["nonce_used"], 0)
    assert sweep.last_error == "An event shows an execution, but no receipt confirms it."


@pytest.mark.parametrize("lie", [{"logs": []}, {"status": "0x0"}, None])
def test_a_receipt_that_one_of_two_providers_withholds_never_counts_until_a_third_shows_it(
    app: PartnerApp, use_providers: Providers, start_node: Start, lie: dict[str, Any] | None
) -> None:
    built = app.build()
    app.execute(built)
    app.chain.mine(SAFE_AFTER)
    liar = start_node()
    liar.alter = receipts_with(lie)
    use_providers(liar.url, app.chain.world["rpcUrl"])
    assert check(built).status == "pending"
    SweepTransaction.objects.update(shown_since=timezone.now() - timedelta(minutes=1))
    assert check(built).status == "pending"
    use_providers(liar.url, app.chain.world["rpcUrl"], app.chain.world["rpcUrl"])
    assert check(built).status == "completed"


# --- the search -------------------------------------------------------------------------------------------------------


def test_a_long_search_is_done_in_steps_whose_progress_is_kept(
    app: PartnerApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_query, "SPAN_BLOCKS", 5)
    monkeypatch.setattr(log_query, "SPANS_AT_ONCE", 2)
    monkeypatch.setattr(followed, "SEARCH_MARGIN_BLOCKS", 0)
    built = app.build()
    built_at = Execution.objects.get().built_at_height
    app.chain.mine(25)
    cancel(app, built)
    app.chain.mine(SAFE_AFTER)
    seen = []
    for _ in range(3):
        sweep = check(built)
        seen.append((sweep.status, sweep.executions.get().search_cursor))
        assert sweep.status == "void" or seconds_until_due(sweep) < 30
    assert seen == [("pending", str(built_at + 10)), ("pending", str(built_at + 20)), ("void", "")]


def test_the_search_starts_at_the_build_and_ends_at_the_safe_block(
    app: PartnerApp, use_providers: Providers, start_node: Start
) -> None:
    built = app.build()
    built_at = app.chain.web3.eth.block_number
    cancel(app, built)
    app.chain.mine(SAFE_AFTER)
    queries: list[dict[str, Any]] = []
    node = start_node()

    def note(method: str, params: list[Any], result: Any) -> Any:
        queries.extend(params if method == "eth_getLogs" else [])
        return result

    node.alter = note
    use_providers(node.url)
    check(built)
    (query,) = queries
    assert int(query["fromBlock"], 16) == max(built_at - followed.SEARCH_MARGIN_BLOCKS, 0)
    assert int(query["toBlock"], 16) == app.chain.web3.eth.get_block("safe")["number"]
    assert query["address"] == app.chain.contracts["v5"]


def test_several_sweeps_are_searched_together(app: PartnerApp, round_trips: list[list[str]]) -> None:
    cancelled, executed, neither = app.build(), app.build(), app.build()
    cancel(app, cancelled)
    app.execute(executed)
    app.chain.mine(SAFE_AFTER)
    Sweep.objects.update(next_check_at=timezone.now() - timedelta(minutes=1))
    round_trips.clear()
    assert checks.check_due() == 3
    statuses = [Sweep.objects.get(id=built["sweepId"]).status for built in (cancelled, executed, neither)]
    assert statuses == ["void", "completed", "pending"]
    assert len(round_trips) == 4, "the safe block's time, the sightings, the logs, the receipt"
