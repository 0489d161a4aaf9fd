"""A V4 sweep is executed after its close, with a permit of the user's own: it is found, booked and flagged."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone
from eth_account.signers.local import LocalAccount
from structlog.testing import capture_logs

from indexer import checks, reconciliation
from ledger.balances import Balance, balance_of
from ledger.entries.reading import postings_of
from ledger.models import Finality
from partners.models import Partner
from sweepapi.networks import Networks
from sweeps.models import Sweep
from sweeps.rails.evm.models import ScannedBlocks
from sweeps.story.withdrawal import void
from tests.factories.ledger import random_hash
from tests.local_chain import FINAL_AFTER, SAFE_AFTER
from tests.own_permit import send_own, under_reference_of
from tests.partner_app import PartnerApp

pytestmark = pytest.mark.django_db

FAR_APART = 1000  # seconds: longer than any permit of ours lives


@pytest.fixture(autouse=True)
def fallback(change_networks: Callable[..., Networks]) -> None:
    """Build on V4."""
    change_networks(default_build_mode="v4_fallback")


def expire(app: PartnerApp, built: dict[str, Any]) -> Sweep:
    """Let our permit run out unused, and the worker close the sweep."""
    app.approve(built)
    app.chain.mine(seconds=FAR_APART)
    app.chain.mine(SAFE_AFTER)
    check_again()
    sweep = stored(built)
    assert not sweep.is_open
    return sweep


def execute(
    app: PartnerApp, built: dict[str, Any], *, user: LocalAccount | None = None, blocks: int = FINAL_AFTER
) -> str:
    """Execute with a permit of the user's own, and mine blocks, by default until that is final."""
    tx_hash = send_own(app.chain, user or app.user, built)
    assert app.chain.receipt(tx_hash)["status"] == 1
    app.chain.mine(blocks)
    return tx_hash


def stored(built: dict[str, Any]) -> Sweep:
    return Sweep.objects.get(id=built["sweepId"])


def state(built: dict[str, Any]) -> tuple[str, bool, list[str]]:
    sweep = stored(built)
    return sweep.status, sweep.is_open, sweep.flags


def accounts_booked(built: dict[str, Any]) -> set[str]:
    return {posting.account.name for posting in postings_of(UUID(built["sweepId"]))}


def balance(partner: Partner, built: dict[str, Any]) -> Balance:
    sweep = stored(built)
    found = balance_of(partner, network=sweep.network, asset=sweep.output_asset)
    assert found is not None
    return found


def check_again() -> None:
    """Let the worker check the only open sweep."""
    Sweep.objects.filter(is_open=True).update(next_check_at=timezone.now() - timedelta(minutes=1))
    assert checks.check_due() == 1


# --- executed as it was built -----------------------------------------------------------------------------------------


def test_an_expired_sweep_that_is_executed_later_is_completed_flagged_and_booked_to_the_payable(
    app: PartnerApp,
) -> None:
    built = app.build()
    assert expire(app, built).status == "expired"
    tx_hash = execute(app, built)
    reconciliation.reconcile()
    assert state(built) == ("completed", True, ["executed_after_close"])
    assert accounts_booked(built) == {"fees_charged", "partner_payable", "protocol_revenue"}
    shown = app.state(built["sweepId"])
    assert (shown["status"], shown["flags"], shown["feeAuthorization"]["txHash"]) == (
        "completed",
        ["executed_after_close"],
        tx_hash,
    )


def test_the_next_check_finds_its_block_final_and_closes_it_again(app: PartnerApp) -> None:
    built = app.build()
    expire(app, built)
    execute(app, built)
    reconciliation.reconcile()
    check_again()
    assert state(built) == ("completed", False, ["executed_after_close"])
    assert [event["type"] for event in app.state(built["sweepId"])["events"]] == [
        "sweep_pending",
        "sweep_expired",
        "closed",
        "reopened",
        "flag_raised",
        "transaction_discovered",
        "transaction_accepted",
        "entry_posted",
        "sweep_completed",
        "finality_reached",
        "closed",
    ]


def test_its_fee_is_payable_from_the_closing_check_on(app: PartnerApp, partner: Partner) -> None:
    built = app.build()
    expire(app, built)
    execute(app, built)
    reconciliation.reconcile()
    execution = stored(built).executions.get()
    fee = execution.amounts.partner_fee
    assert fee > 0
    assert (balance(partner, built).owed, balance(partner, built).available) == (fee, 0)
    check_again()
    assert Finality.objects.get().entry == execution.ledger_entry
    assert (balance(partner, built).owed, balance(partner, built).available) == (fee, fee)


def test_a_reorganisation_takes_what_is_payable_with_it(app: PartnerApp, partner: Partner) -> None:
    built = app.build()
    expire(app, built)
    before = app.chain.rpc("evm_snapshot")
    execute(app, built)
    reconciliation.reconcile()
    assert balance(partner, built).owed > 0
    app.chain.roll_back(before)
    app.chain.mine(3 * FINAL_AFTER)
    check_again()
    assert state(built) == ("pending", True, ["reorganised"])
    assert (balance(partner, built).owed, balance(partner, built).available) == (0, 0)
    assert not Finality.objects.exists()


def test_a_sweep_that_is_found_twice_is_booked_once(app: PartnerApp) -> None:
    built = app.build()
    expire(app, built)
    execute(app, built)
    reconciliation.reconcile()
    ScannedBlocks.objects.all().delete()
    reconciliation.reconcile()
    check_again()
    ScannedBlocks.objects.all().delete()
    reconciliation.reconcile()
    assert state(built) == ("completed", False, ["executed_after_close"])
    assert len(postings_of(UUID(built["sweepId"]))) == 3


def test_a_voided_sweep_that_was_closed_and_then_executed_has_both_flags(app: PartnerApp) -> None:
    built = app.build()
    void(sweep_id=UUID(built["sweepId"]), reason="requested by the user", requested_by="ops")
    assert expire(app, built).status == "void"
    execute(app, built)
    reconciliation.reconcile()
    assert state(built) == ("completed", True, ["executed_after_close", "executed_after_void"])
    assert accounts_booked(built) == {"fees_charged", "partner_payable", "protocol_revenue"}


def test_a_failed_sweep_whose_reported_hash_was_never_mined_is_completed_by_the_other(app: PartnerApp) -> None:
    built = app.build()
    app.post_confirm(built["sweepId"], random_hash())
    assert expire(app, built).status == "failed"
    execute(app, built)
    reconciliation.reconcile()
    assert state(built) == ("completed", True, ["executed_after_close"])
    assert [tx.status for tx in stored(built).transactions.all()] == ["dropped", "accepted"]


def test_an_open_sweep_that_was_not_confirmed_is_completed_without_the_flag(app: PartnerApp) -> None:
    built = app.build()
    app.approve(built)
    execute(app, built)
    reconciliation.reconcile()
    assert state(built) == ("completed", True, [])


def test_an_execution_counts_only_from_its_final_block_on(app: PartnerApp) -> None:
    built = app.build()
    expire(app, built)
    execute(app, built, blocks=FINAL_AFTER - 2)
    reconciliation.reconcile()
    assert state(built) == ("expired", False, [])
    app.chain.mine()
    reconciliation.reconcile()
    assert state(built) == ("completed", True, ["executed_after_close"])


# --- executed otherwise -----------------------------------------------------------------------------------------------


def test_an_execution_on_other_terms_leaves_the_sweep_closed_and_is_noted_once(app: PartnerApp) -> None:
    built = app.build()
    expire(app, built)
    other = app.build(output="USDT")
    tx_hash = execute(app, under_reference_of(built, other))
    with capture_logs() as logs:
        reconciliation.reconcile()
        ScannedBlocks.objects.all().delete()
        reconciliation.reconcile()
    (warning,) = [entry for entry in logs if entry["event"] == "late_execution_differs"]
    assert (warning["sweep_id"], warning["tx_hash"], warning["log_level"]) == (built["sweepId"], tx_hash, "warning")
    assert warning["reason"].startswith("outputToken: the event has ")
    assert state(built) == ("expired", False, [])
    assert accounts_booked(built) == set()
    assert [(event.kind, event.tx_hash) for event in stored(built).events.order_by("sequence")] == [
        ("status", None),
        ("status", None),
        ("closed", None),
        ("transaction_rejected", tx_hash),
    ]
    assert app.state(built["sweepId"])["events"][-1]["message"].endswith(warning["reason"])


def test_an_open_sweep_whose_reference_was_used_on_other_terms_fails_and_is_not_warned_of_again(
    app: PartnerApp,
) -> None:
    built = app.build()
    other = app.build(output="USDT")
    app.approve(other)
    execute(app, under_reference_of(built, other))
    with capture_logs() as logs:
        reconciliation.reconcile()
        ScannedBlocks.objects.all().delete()
        reconciliation.reconcile()
    assert state(built) == ("failed", False, ["sweep_ref_used"])
    assert "late_execution_differs" not in [entry["event"] for entry in logs]
    assert state(other) == ("pending", True, [])


def test_another_users_execution_under_the_same_reference_is_not_ours(app: PartnerApp) -> None:
    built = app.build()
    expire(app, built)
    stranger = app.chain.users[1]
    theirs = app.build(wallet=stranger.address)
    app.approve(theirs, user=stranger)
    execute(app, under_reference_of(built, theirs), user=stranger)
    with capture_logs() as logs:
        reconciliation.reconcile()
    assert state(built) == ("expired", False, [])
    (alert,) = [entry for entry in logs if entry["log_level"] != "info"]
    assert (alert["event"], alert["reason"]) == (
        "unmatched_event",
        "Our execution with this identity is of another wallet.",
    )


def test_two_users_of_one_reference_in_one_span_are_told_apart(app: PartnerApp) -> None:
    built = app.build()
    expire(app, built)
    stranger = app.chain.users[1]
    theirs = app.build(wallet=stranger.address)
    app.approve(theirs, user=stranger)
    tx_hash = execute(app, built)
    execute(app, under_reference_of(built, theirs), user=stranger)
    reconciliation.reconcile()
    assert stored(built).transactions.get().tx_hash == tx_hash
