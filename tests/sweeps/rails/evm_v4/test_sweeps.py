"""V4 sweeps on the real chain: what is answered, what the contract's state means, and what only users of V4 can do."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone
from pytest_django import Settings

from indexer import checks
from ledger.models import JournalEntry
from sweepapi import networks
from sweepapi.errors import SweepNotCancellable
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.encoding.abi import Function
from sweeps.models import Sweep
from sweeps.rails.evm_v4.terms import sweep_ref_of
from sweeps.story.withdrawal import cancel_on_chain, void
from tests.administration import DELAY_SECONDS, Administration
from tests.factories.sweeps import LOCAL, random_checksum_address
from tests.local_chain import FINAL_AFTER, SAFE_AFTER
from tests.openapi import assert_documented
from tests.own_permit import send_own, under_reference_of
from tests.partner_app import PartnerApp, details_of, error_of

pytestmark = pytest.mark.django_db

TTL_SECONDS = 900
UseMode = Callable[[str], object]
SET_FEE = Function("setFee(uint16,address)")


@pytest.fixture(autouse=True)
def fallback(use_mode: UseMode) -> None:
    """Build on V4."""
    use_mode("v4_fallback")


def the_worker_checks(app: PartnerApp, built: dict[str, Any]) -> dict[str, Any]:
    """Have the worker check the sweep now, and return its status object."""
    Sweep.objects.filter(id=built["sweepId"]).update(next_check_at=timezone.now() - timedelta(minutes=1))
    assert checks.check_due() == 1
    return app.state(built["sweepId"])


def outcome(state: dict[str, Any]) -> tuple[str, bool, list[str]]:
    return state["status"], state["open"], state["flags"]


# --- building ---------------------------------------------------------------------------------------------------------


def test_the_answer_has_the_fields_of_v5_and_no_authorization(app: PartnerApp, use_mode: UseMode) -> None:
    response = app.post_build(app.body())
    assert response.status_code == 201
    assert_documented(response, path="/v2/sweep/build")
    built = response.json()["data"]
    assert (built["mode"], built["contractVersion"], built["feeMode"]) == ("v4_fallback", "v4", "offchain_accounting")
    assert built["contractAddress"] == built["permit2"]["message"]["spender"] == app.chain.contracts["v4"]
    assert built["feeAuthorization"] is None
    use_mode("v5_partner_fees")
    assert list(built) == list(app.build())


def test_the_user_signs_the_fee_and_the_sweeps_reference(app: PartnerApp) -> None:
    built = app.build()
    sweep_ref = sweep_ref_of(UUID(built["sweepId"]))
    assert built["permit2"]["message"]["witness"] == {
        "outputToken": app.chain.token("WETH").address,
        "floors": [built["estimatedOutput"]["minUser"]],
        "maxSkipped": "0",
        "feeBps": "75",
        "sweepRef": sweep_ref,
    }
    execution = Sweep.objects.get().executions.get()
    assert (execution.venue, execution.execution_id) == (app.chain.contracts["v4"], sweep_ref)


def test_the_fee_summary_has_the_partners_terms(app: PartnerApp) -> None:
    summary = app.build()["feeSummary"]
    assert (summary["totalFeeBps"], summary["partnerShareBps"]) == (75, 4000)
    assert int(summary["partnerFee"]) == int(summary["totalFee"]) * 4000 // 10_000


def test_a_contract_with_another_fee_than_the_configured_one_builds_nothing(
    app: PartnerApp, settings: Settings
) -> None:
    settings.TOTAL_FEE_BPS = 74
    response = app.post_build(app.body())
    assert error_of(response) == (503, "build_disabled")
    assert response.json()["error"]["message"] == "The contract's fee is not the configured one."
    assert response.headers["Retry-After"] == "60"
    assert not Sweep.objects.exists()


def test_a_contract_that_pays_another_recipient_builds_nothing(
    app: PartnerApp, change_chain: Callable[..., Chain]
) -> None:
    change_chain(protocol_recipient=random_checksum_address())
    assert error_of(app.post_build(app.body())) == (503, "build_disabled")


def test_only_a_pause_of_v4_stops_building_on_it(app: PartnerApp) -> None:
    app.chain.pause()
    assert app.build()["contractVersion"] == "v4"
    app.chain.pause(app.chain.contracts["v4"])
    assert error_of(app.post_build(app.body())) == (503, "build_disabled")


def test_a_chain_without_a_v4_contract_is_not_supported(app: PartnerApp, change_chain: Callable[..., Chain]) -> None:
    change_chain(v4_contract=None)
    assert error_of(app.post_build(app.body())) == (400, "unsupported_chain")


# --- confirming -------------------------------------------------------------------------------------------------------


def test_a_sweep_of_another_contract_version_is_not_this_one(app: PartnerApp, use_mode: UseMode) -> None:
    on_v4 = app.build()
    use_mode("v5_partner_fees")
    on_v5 = app.build()
    hash_v4, hash_v5 = app.execute(on_v4), app.execute(on_v5)
    for built, wrong_hash in ((on_v4, hash_v5), (on_v5, hash_v4)):
        assert app.confirm(built, wrong_hash, status=202)["awaits"] == "agreement", "something unknown executed it"
    for built, tx_hash in ((on_v4, hash_v4), (on_v5, hash_v5)):
        assert app.confirm(built, tx_hash)["status"] == "completed"


def test_a_fee_that_changed_between_build_and_execution_is_named_as_the_reason(app: PartnerApp) -> None:
    change = (SET_FEE, 50, networks.current().chain(LOCAL).protocol_recipient)
    roles = Administration(app.chain)
    roles.schedule("v4", *change)
    app.chain.mine(seconds=DELAY_SECONDS)
    built = app.build()
    roles.call(roles.owner, "v4", *change)
    response = app.post_confirm(built["sweepId"], app.execute(built))
    assert error_of(response) == (422, "transaction_reverted")
    (detail,) = response.json()["error"]["details"]
    assert detail["message"] == "The contract's fee changed to 50 bps; the user signed 75 bps."


# --- what only users of V4 can do -------------------------------------------------------------------------------------


def test_a_users_own_permit_executes_the_sweep_if_it_matches(app: PartnerApp) -> None:
    built = app.build()
    app.approve(built)
    own = send_own(app.chain, app.user, built)
    ours = app.chain.sign_and_send(app.user, built)
    assert app.confirm(built, ours, status=202)["awaits"] == "agreement", "something unknown executed it"
    assert app.confirm(built, own)["status"] == "completed"
    response = app.post_confirm(built["sweepId"], ours)
    assert error_of(response) == (409, "sweep_already_confirmed")


def test_an_execution_that_was_not_reported_is_found_and_booked(app: PartnerApp) -> None:
    built = app.build()
    tx_hash = app.execute(built)
    app.chain.mine(SAFE_AFTER)
    state = the_worker_checks(app, built)
    assert outcome(state) == ("completed", True, [])
    assert [(tx["txHash"], tx["source"]) for tx in state["transactions"]] == [(tx_hash, "discovered")]
    assert {entry["account"] for entry in state["ledger"]["entries"]} == {
        "fees_charged",
        "partner_payable",
        "protocol_revenue",
    }


@pytest.mark.parametrize("reported", [True, False])
def test_a_reference_that_its_user_spent_on_other_terms_fails_the_sweep(app: PartnerApp, *, reported: bool) -> None:
    built, other = app.build(), app.build(output="USDT")
    app.approve(built)
    taken = send_own(app.chain, app.user, under_reference_of(built, other))
    app.chain.mine(SAFE_AFTER)
    if reported:
        response = app.post_confirm(built["sweepId"], taken)
        assert error_of(response) == (422, "event_mismatch")
        assert details_of(response) == {("outputToken", "differs")}
    state = the_worker_checks(app, built)
    assert outcome(state) == ("failed", False, ["sweep_ref_used"])
    last = [event for event in state["events"] if event["txHash"] == taken][-2:]
    assert [event["type"] for event in last] == ["transaction_rejected", "sweep_failed"]
    assert last[-1]["message"].startswith("The user executed the sweep's reference on other terms")
    assert [event["type"] for event in state["events"]].count("transaction_rejected") == 1
    assert not JournalEntry.objects.exists()


def test_another_users_event_under_the_same_reference_does_not_count(app: PartnerApp) -> None:
    built, other = app.build(), app.build(wallet=app.chain.users[1].address)
    app.approve(other, user=app.chain.users[1])
    copied = send_own(app.chain, app.chain.users[1], under_reference_of(built, other))
    app.chain.mine(SAFE_AFTER)
    response = app.post_confirm(built["sweepId"], copied)
    assert details_of(response) == {("sweepRef", "differs")}
    assert outcome(the_worker_checks(app, built)) == ("pending", True, [])
    assert app.confirm(built, app.execute(built))["status"] == "completed"


# --- ending -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tried", [False, True])
def test_a_permit_that_ran_out_unused_on_a_safe_block_ends_the_sweep(app: PartnerApp, *, tried: bool) -> None:
    built = app.build()
    if tried:
        app.post_confirm(built["sweepId"], app.chain.sign_and_send(app.user, built))  # without an approval
    app.chain.mine(SAFE_AFTER, seconds=TTL_SECONDS + 60)
    state = the_worker_checks(app, built)
    assert outcome(state) == ("failed" if tried else "expired", False, [])


def test_a_cancellation_on_chain_is_refused_with_the_reason(app: PartnerApp) -> None:
    sweep_id = UUID(app.build()["sweepId"])
    with pytest.raises(SweepNotCancellable, match="only the user can"):
        cancel_on_chain(sweep_id=sweep_id, reason="test", requested_by="ops")
    with pytest.raises(SweepNotCancellable, match="only the user can"):
        void(sweep_id=sweep_id, reason="test", requested_by="ops", cancels=True)
    sweep = Sweep.objects.get()
    assert (sweep.status, sweep.cancellation_requested_at, sweep.events.count()) == ("pending", None, 1)


def test_a_void_sweep_that_is_executed_is_booked_and_flagged(app: PartnerApp) -> None:
    built = app.build()
    void(sweep_id=UUID(built["sweepId"]), reason="test", requested_by="ops")
    app.execute(built)
    app.chain.mine(SAFE_AFTER)
    assert outcome(the_worker_checks(app, built)) == ("completed", True, ["executed_after_void"])


def test_a_void_sweep_closes_when_its_permit_ran_out(app: PartnerApp) -> None:
    built = app.build()
    void(sweep_id=UUID(built["sweepId"]), reason="test", requested_by="ops")
    app.chain.mine(SAFE_AFTER, seconds=TTL_SECONDS + 60)
    assert outcome(the_worker_checks(app, built)) == ("void", False, [])


def test_a_block_that_leaves_the_chain_takes_the_payable_with_it(app: PartnerApp) -> None:
    built = app.build()
    app.approve(built)
    snapshot = app.chain.rpc("evm_snapshot")
    app.confirm(built, app.chain.sign_and_send(app.user, built))
    app.chain.roll_back(snapshot)
    app.chain.mine(2)
    assert outcome(the_worker_checks(app, built)) == ("pending", True, ["reorganised"])
    kinds = list(JournalEntry.objects.order_by("posted_at").values_list("kind", flat=True))
    assert kinds == ["sweep_fee", "reversal"]
    again = app.confirm(built, app.chain.sign_and_send(app.user, built))
    assert again["status"] == "completed"
    app.chain.mine(FINAL_AFTER)
    assert not the_worker_checks(app, built)["open"]


# --- switching the mode -----------------------------------------------------------------------------------------------


def test_sweeps_in_flight_keep_their_own_contract_when_the_mode_changes(app: PartnerApp, use_mode: UseMode) -> None:
    app.approve(app.build())
    sent: list[tuple[dict[str, Any], str]] = []
    unsent = []
    for mode in ("v4_fallback", "v5_partner_fees", "v4_fallback", "v5_partner_fees"):
        use_mode(mode)
        built, never_sent = app.build(), app.build()
        assert built["mode"] == mode
        sent.append((built, app.execute(built)))
        unsent.append(never_sent)
    for mode in ("v4_fallback", "v5_partner_fees"):
        use_mode(mode)
        for built, tx_hash in sent:
            state = app.confirm(built, tx_hash)
            assert (state["status"], state["mode"]) == ("completed", built["mode"])
    app.chain.mine(FINAL_AFTER, seconds=TTL_SECONDS + 60)
    Sweep.objects.update(next_check_at=timezone.now() - timedelta(minutes=1))
    assert checks.check_due() == 9
    assert [outcome(app.state(built["sweepId"])) for built, _ in sent] == [("completed", False, [])] * 4
    assert [outcome(app.state(built["sweepId"])) for built in unsent] == [("expired", False, [])] * 4
