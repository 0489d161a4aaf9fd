"""The worker checks due sweeps on the local chain: completion, expiry, finality, reorganisations."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from celery import current_app
from django.db import IntegrityError
from django.utils import timezone
from pytest_django import Settings

from indexer import checks, tasks
from ledger.entries.reading import postings_of
from ledger.models import JournalEntry
from partners.models import Partner
from sweepapi.evm.chain.chains import Chain, FinalityRule
from sweepapi.evm.logs.sightings import read_sightings
from sweepapi.rpc import ProviderPool
from sweeps.models import Execution, Sweep, SweepTransaction
from sweeps.rails.evm.follow import following
from sweeps.story.withdrawal import void
from tests.factories.ledger import book_fee, random_hash
from tests.factories.sweeps import SweepTransactionFactory
from tests.fake_node import FakeNode
from tests.local_chain import FINAL_AFTER, SAFE_AFTER
from tests.partner_app import PartnerApp

pytestmark = pytest.mark.django_db

FAR_APART = 1000  # seconds: longer than any authorization lives


def look_at(built: dict[str, Any]) -> datetime | None:
    """Make the sweep due now and check it as its message would."""
    sweep_id = UUID(built["sweepId"])
    Sweep.objects.filter(id=sweep_id).update(next_check_at=timezone.now())
    return checks.check_one(sweep_id)


def status_of(built: dict[str, Any]) -> tuple[str, bool]:
    sweep = Sweep.objects.get(id=built["sweepId"])
    return sweep.status, sweep.is_open


def kinds_booked(built: dict[str, Any]) -> list[str]:
    """Return the kinds of the sweep's entries in order."""
    entries = {posting.entry_id: posting.entry.kind for posting in postings_of(UUID(built["sweepId"]))}
    return list(entries.values())


def submitted(built: dict[str, Any], tx_hash: str | None = None) -> SweepTransaction:
    """Report a hash whose confirm saw nothing."""
    return SweepTransactionFactory.create(
        sweep=Sweep.objects.get(id=built["sweepId"]), tx_hash=tx_hash or random_hash()
    )


# --- completion -------------------------------------------------------------------------------------------------------


def test_a_submitted_transaction_that_was_mined_completes_the_sweep(app: PartnerApp) -> None:
    built = app.build()
    submitted(built, app.execute(built))
    assert look_at(built) is None, "no message waits for a completed sweep"
    assert status_of(built) == ("completed", True)


def test_an_unmined_transaction_gets_another_message_at_its_next_check_time(app: PartnerApp) -> None:
    built = app.build()
    submitted(built)
    again_at = look_at(built)
    assert again_at == Sweep.objects.get().next_check_at
    assert again_at is not None
    assert again_at > timezone.now()


def test_the_task_sends_its_next_message_only_if_it_made_the_check(
    app: PartnerApp, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.FIRST_CHECK_SECONDS = 60
    built = app.build()
    submitted(built)
    sent: list[tuple[UUID, datetime]] = []
    monkeypatch.setattr(tasks, "wake", lambda sweep_id, at: sent.append((sweep_id, at)))
    Sweep.objects.update(next_check_at=timezone.now())
    for _ in range(3):
        tasks.check_sweep(built["sweepId"])
    sweep = Sweep.objects.get()
    assert sent == [(sweep.id, sweep.next_check_at)]
    assert sweep.check_attempts == 1


def test_the_tasks_have_the_names_that_confirm_and_beat_use() -> None:
    assert {"indexer.check_sweep", "indexer.check_due"} <= set(current_app.tasks)
    assert current_app.conf.beat_schedule["check_due"]["task"] == "indexer.check_due"


def test_many_due_sweeps_are_read_in_one_round_trip(app: PartnerApp, round_trips: list[list[str]]) -> None:
    sweeps = [app.build() for _ in range(5)]
    for built in sweeps:
        submitted(built)
    Sweep.objects.update(next_check_at=timezone.now() - timedelta(minutes=1))
    round_trips.clear()
    assert checks.check_due() == 5
    assert len(round_trips) == 2, "the safe block's time, and everything else"


def test_a_message_checks_only_its_own_sweep(app: PartnerApp) -> None:
    first, second = app.build(), app.build()
    Sweep.objects.update(next_check_at=timezone.now())
    checks.check_one(UUID(first["sweepId"]))
    assert Sweep.objects.get(id=second["sweepId"]).check_attempts == 0


def test_a_message_about_an_unknown_sweep_does_nothing() -> None:
    assert checks.check_one(uuid4()) is None


def test_a_check_that_lost_its_lease_leaves_the_row_to_the_new_holder(
    app: PartnerApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = app.build()
    submitted(built, app.execute(built))
    thief = uuid4()

    def slow_read(**question: Any) -> Any:
        seen = read_sightings(**question)
        Sweep.objects.update(lease_token=thief)
        return seen

    monkeypatch.setattr(following, "read_sightings", slow_read)
    assert look_at(built) is None
    assert status_of(built) == ("pending", True)
    assert Sweep.objects.get().lease_token == thief


def test_a_sweep_that_cannot_be_settled_is_loud_and_holds_up_no_other(app: PartnerApp, partner: Partner) -> None:
    broken, sound = app.build(), app.build()
    submitted(broken, app.execute(broken))
    submitted(sound, app.execute(sound))
    book_fee(partner, execution_ref=Execution.objects.get(sweep_id=broken["sweepId"]).id)  # as if it was booked before
    minutes_ago = timezone.now() - timedelta(minutes=1)
    Sweep.objects.update(next_check_at=minutes_ago)
    Sweep.objects.filter(id=broken["sweepId"]).update(next_check_at=minutes_ago - timedelta(minutes=1))  # the first
    with pytest.raises(ExceptionGroup) as raised:
        checks.check_due()
    assert [type(error) for error in raised.value.exceptions] == [IntegrityError]
    assert status_of(sound) == ("completed", True)
    assert status_of(broken) == ("pending", True)
    assert checks.check_due() == 0, "the broken sweep keeps its lease"


def test_a_chain_that_does_not_answer_only_delays_the_check(
    app: PartnerApp, use_providers: Callable[..., ProviderPool], caplog: pytest.LogCaptureFixture
) -> None:
    built = app.build()
    submitted(built)
    use_providers("http://127.0.0.1:1/secret-of-the-provider")
    look_at(built)
    sweep = Sweep.objects.get()
    assert (sweep.status, sweep.check_attempts, sweep.lease_token) == ("pending", 0, None)
    assert sweep.next_check_at is not None
    assert sweep.next_check_at > timezone.now()
    assert sweep.last_error == "No provider answered in time."
    assert "secret-of-the-provider" not in caplog.text
    assert checks.check_due() == 0


def test_after_a_long_outage_of_all_providers_the_next_check_follows_at_once(
    app: PartnerApp, use_providers: Callable[..., ProviderPool], settings: Settings
) -> None:
    built = app.build()
    submitted(built)
    Sweep.objects.update(last_checked_at=timezone.now() - timedelta(hours=1))
    use_providers("http://127.0.0.1:1")
    look_at(built)
    next_check_at = Sweep.objects.get().next_check_at
    assert next_check_at is not None
    assert next_check_at - timezone.now() <= timedelta(seconds=settings.FIRST_CHECK_SECONDS)


# --- expiry -----------------------------------------------------------------------------------------------------------


def test_an_unsubmitted_sweep_expires_when_a_safe_block_is_past_its_deadline_and_not_before(app: PartnerApp) -> None:
    built = app.build()
    app.chain.mine(seconds=FAR_APART)
    assert checks.check_due() == 0, "the head is past the deadline, the safe block is not"
    app.chain.mine(SAFE_AFTER)
    assert checks.check_due() == 1
    assert status_of(built) == ("expired", False)
    assert checks.check_due() == 0


def test_the_servers_clock_does_not_expire_a_sweep(app: PartnerApp) -> None:
    built = app.build()
    Sweep.objects.update(next_check_at=timezone.now() - timedelta(hours=1))
    assert checks.check_due() == 1
    assert status_of(built) == ("pending", True)


def test_a_sweep_whose_candidates_were_never_mined_fails_and_they_are_dropped(app: PartnerApp) -> None:
    built = app.build()
    submitted(built)
    app.chain.mine(seconds=FAR_APART)
    app.chain.mine(SAFE_AFTER)
    look_at(built)
    assert status_of(built) == ("failed", False)
    assert SweepTransaction.objects.get().status == "dropped"


def test_a_void_sweep_is_closed_as_void(app: PartnerApp) -> None:
    built = app.build()
    void(sweep_id=UUID(built["sweepId"]), reason="asked for", requested_by="ops")
    app.chain.mine(seconds=FAR_APART)
    app.chain.mine(SAFE_AFTER)
    assert checks.check_due() == 1
    assert status_of(built) == ("void", False)


# --- finality ---------------------------------------------------------------------------------------------------------


def test_a_completed_sweep_is_closed_once_its_block_is_final(app: PartnerApp) -> None:
    built = app.build()
    app.confirm(built, app.execute(built))
    seen = []
    for blocks in (0, SAFE_AFTER, SAFE_AFTER):
        app.chain.mine(blocks)
        look_at(built)
        seen.append((SweepTransaction.objects.get().finality, status_of(built)))
    assert seen == [
        ("included", ("completed", True)),
        ("safe", ("completed", True)),
        ("final", ("completed", False)),
    ]
    state = app.state(built["sweepId"])
    assert (state["open"], state["transaction"]["confirmations"]) == (False, 1 + 2 * SAFE_AFTER)


def test_finality_by_depth_works_where_a_chain_has_no_tags(app: PartnerApp, change_chain: Callable[..., Chain]) -> None:
    change_chain(finality=FinalityRule(safe=2, final=5, recheck_seconds=3, max_head_age_seconds=None))
    built = app.build()
    app.confirm(built, app.execute(built))
    app.chain.mine(4)
    look_at(built)
    assert SweepTransaction.objects.get().finality == "safe"
    app.chain.mine(1)
    look_at(built)
    assert status_of(built) == ("completed", False)


def test_expiry_by_depth_works_where_a_chain_has_no_tags(app: PartnerApp, change_chain: Callable[..., Chain]) -> None:
    change_chain(finality=FinalityRule(safe=2, final=5, recheck_seconds=3, max_head_age_seconds=None))
    built = app.build()
    app.chain.mine(2, seconds=FAR_APART)
    look_at(built)
    assert status_of(built) == ("pending", True)
    app.chain.mine(1)
    look_at(built)
    assert status_of(built) == ("expired", False)


# --- reorganisations --------------------------------------------------------------------------------------------------


def test_a_reorganisation_undoes_the_completion_and_a_new_block_books_it_again(app: PartnerApp) -> None:
    built = app.build()
    app.approve(built)
    before = app.chain.rpc("evm_snapshot")
    tx_hash = app.chain.sign_and_send(app.user, built)
    app.confirm(built, tx_hash)

    app.chain.roll_back(before)
    look_at(built)
    assert status_of(built) == ("completed", True), "a lower head is not a reorganisation"

    app.chain.mine(2, seconds=7)
    look_at(built)
    sweep = Sweep.objects.get()
    assert (sweep.status, sweep.flags) == ("pending", ["reorganised"])
    assert Execution.objects.get().booking_epoch == 1
    assert SweepTransaction.objects.get().status == "submitted"
    assert kinds_booked(built) == ["sweep_fee", "reversal"]

    assert app.chain.sign_and_send(app.user, built) == tx_hash
    look_at(built)
    assert status_of(built) == ("completed", True)
    assert kinds_booked(built) == ["sweep_fee", "reversal", "sweep_fee"]
    assert [entry.booking_epoch for entry in JournalEntry.objects.order_by("posted_at")] == [0, 0, 1]


def test_a_sweep_that_left_the_chain_for_good_fails_and_its_postings_cancel_out(
    app: PartnerApp, partner: Partner
) -> None:
    built = app.build()
    app.approve(built)
    before = app.chain.rpc("evm_snapshot")
    app.confirm(built, app.chain.sign_and_send(app.user, built))
    app.chain.roll_back(before)
    app.chain.mine(2, seconds=FAR_APART)
    app.chain.mine(SAFE_AFTER)
    for _ in range(2):
        look_at(built)
    assert status_of(built) == ("failed", False)
    assert sum(p.amount for p in postings_of(UUID(built["sweepId"])) if p.account.partner == partner) == 0


# --- several providers ------------------------------------------------------------------------------------------------


def test_two_providers_must_agree_that_a_block_is_final(
    app: PartnerApp, use_providers: Callable[..., ProviderPool], start_node: Callable[[], FakeNode]
) -> None:
    doubter = start_node()
    doubter.alter = lambda method, params, result: (
        result | {"number": "0x0"} if (method, params[:1]) == ("eth_getBlockByNumber", ["finalized"]) else result
    )
    use_providers(app.chain.world["rpcUrl"], doubter.url)
    built = app.build()
    app.confirm(built, app.execute(built))
    app.chain.mine(FINAL_AFTER)
    look_at(built)
    assert status_of(built) == ("completed", True)
    awaited = "No second provider shows the same of the accepted block yet."
    assert Sweep.objects.get().last_error == awaited
    doubter.alter = lambda _method, _params, result: result
    look_at(built)
    assert status_of(built) == ("completed", False)


def test_one_lying_provider_cannot_expire_a_sweep(
    app: PartnerApp, use_providers: Callable[..., ProviderPool], start_node: Callable[[], FakeNode]
) -> None:
    built = app.build()
    app.execute(built)
    app.chain.mine(SAFE_AFTER, seconds=1)
    app.chain.mine(SAFE_AFTER, seconds=FAR_APART)
    app.chain.mine(SAFE_AFTER)
    liar = start_node()
    liar.alter = lambda method, _params, result: forget_nonce(result) if method == "eth_call" else result
    use_providers(liar.url, app.chain.world["rpcUrl"])
    look_at(built)
    assert status_of(built) == ("pending", True)
    use_providers(liar.url)
    look_at(built)
    assert status_of(built) == ("expired", False), "a single provider is trusted"


def forget_nonce(result: str) -> str:
    """Set the last word, whether the nonce was used, to false."""
    assert int(result[-64:], 16) == 1
    return result[:-64] + "0" * 64


def test_a_second_provider_must_confirm_a_reorganisation(
    app: PartnerApp, use_providers: Callable[..., ProviderPool], start_node: Callable[[], FakeNode]
) -> None:
    built = app.build()
    state = app.confirm(built, app.execute(built))
    height = hex(state["transaction"]["blockNumber"])
    liar = start_node()
    liar.alter = lambda method, params, result: (
        result | {"hash": random_hash()} if (method, params[:1]) == ("eth_getBlockByNumber", [height]) else result
    )
    use_providers(liar.url, app.chain.world["rpcUrl"])
    look_at(built)
    assert status_of(built) == ("completed", True)
    assert kinds_booked(built) == ["sweep_fee"]


def test_nothing_closes_while_the_second_provider_is_down(
    app: PartnerApp, use_providers: Callable[..., ProviderPool]
) -> None:
    use_providers(app.chain.world["rpcUrl"], "http://127.0.0.1:1")
    built = app.build()
    app.chain.mine(seconds=FAR_APART)
    app.chain.mine(SAFE_AFTER)
    look_at(built)
    assert status_of(built) == ("pending", True)
