"""Operators see a sweep on one page, request a check, void it and cancel it on chain; they edit nothing."""

import csv
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from html import unescape
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import timezone

from sweepapi import networks
from sweepapi.errors import SweepNotCancellable
from sweepapi.fields import UINT256_MAX
from sweepapi.networks import Networks
from sweepapi.solana.cluster.clusters import load_clusters
from sweeps import wake
from sweeps.admin import APPLIES
from sweeps.models import EventKind, Handling, Sweep, SweepEvent
from sweeps.rails.evm.models import LastHop
from sweeps.rails.evm_v5.models import Cancellation
from sweeps.rails.evm_v5.rail import EvmV5
from sweeps.rails.solana_v1.models import BuiltTransaction
from sweeps.shown.plain_story import plain_story
from sweeps.story import reopening
from sweeps.story.withdrawal import void
from tests.factories.ledger import book_fee
from tests.factories.solana_sweeps import SolanaExecutionFactory, SolanaSweepFactory, random_key, random_signature
from tests.factories.sweeps import (
    CONTRACT,
    FeeAuthorizationFactory,
    SweepFactory,
    SweepTransactionFactory,
    block_at,
    evm_reading,
    executed_receipt,
    note,
)
from tests.operator_browser import ConsoleClient, reverse
from tests.settling import settle

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> list[UUID]:
    """The sweeps that the worker was woken about."""
    sweeps: list[UUID] = []

    def note(sweep_id: UUID, *, at: datetime) -> None:
        assert at <= timezone.now()
        sweeps.append(sweep_id)

    monkeypatch.setattr(wake, "wake", note)
    return sweeps


def page(sweep: Sweep) -> str:
    return reverse("admin:sweeps_sweep_change", args=[sweep.id])


def action(name: str, sweep: Sweep) -> str:
    return reverse(f"admin:sweeps_sweep_{name}", args=[sweep.id])


def missing(text: str, *facts: str) -> list[str]:
    """Return the facts that a page does not show."""
    return [fact for fact in facts if fact not in text]


def requested_cancellations() -> list[dict[str, str]]:
    """Return who requested cancellations on chain, and why."""
    return [event.facts for event in SweepEvent.objects.filter(kind="cancellation_requested")]


def test_the_page_shows_tokens_legs_the_authorization_candidates_and_postings(ops: Client) -> None:
    authorization = FeeAuthorizationFactory.create()
    sweep = authorization.offer.sweep
    token, candidate = sweep.tokens.get(), SweepTransactionFactory.create(sweep=sweep)
    sweep.offers.get().legs.create(
        token=token,
        hop="joined",
        price_limit=0,
        skippable=True,
        expected_output=7,
        min_output=6,
        least_wrapped=5,
        exchange="uniswap_v3",
        target=CONTRACT,
        path=[],
        fee_tiers=[],
        data=b"",
    )
    LastHop.objects.create(offer=sweep.offers.get(), venue="uniswap_v2", pool=sweep.output_asset)
    entry = book_fee(sweep.partner, sweep_ref=sweep.id)
    text = ops.get(page(sweep)).content.decode()
    leg = f"Joined, uniswap_v3 at {CONTRACT}, skippable, at least 5 of the wrapped coin, expected 7, at least 6"
    route = [token.asset, leg, f"uniswap_v2, {sweep.output_asset}", "Tokens that may be left out"]
    booked = [candidate.tx_hash, "partner_settled", str(entry.id)]
    assert missing(text, *route, str(sweep.permit.floors[0]), authorization.digest, *booked) == []
    assert missing(text, "Cancellation on chain") != [], "it was not requested"


def test_the_page_and_the_search_show_what_the_partner_chose(ops: Client) -> None:
    SweepFactory.create()
    says = {"wallet_atomic": "ready", "gas_is_sponsored": True}
    sweep = SweepFactory.create(
        client_reference="order 1017", accepted_impact_bps=2345, unlimited_approvals=True, **says
    )
    text = ops.get(page(sweep)).content.decode()
    assert missing(text, "order 1017", "2345", "unlimited", "ready", "sponsored") == []
    found = ops.get(reverse("admin:sweeps_sweep_changelist"), {"q": "order 1017"}).content.decode()
    assert missing(found, str(sweep.id), "1 result") == []


def test_the_page_tells_the_story_of_the_sweep_and_what_it_waits_for(ops: Client) -> None:
    tx = SweepTransactionFactory.create()
    assert missing(ops.get(page(tx.sweep)).content.decode(), "No receipt yet for 1 reported transaction.") == []
    settle(sweep_id=tx.sweep.id, reading=evm_reading(executed_receipt(tx)))
    text = ops.get(page(tx.sweep)).content.decode()
    story = ["The transaction executed the sweep in block 100.", "The fee was booked.", "The sweep was executed."]
    assert missing(text, *story, "sweep_completed", "Its block is not final yet.") == []
    assert [text.index(sentence) for sentence in story] == sorted(text.index(sentence) for sentence in story)


def test_the_timeline_says_who_voided_the_sweep_and_why(ops: Client) -> None:
    sweep = SweepFactory.create()
    void(sweep_id=sweep.id, reason="wrong wallet", requested_by="alice")
    assert missing(ops.get(page(sweep)).content.decode(), "Reason: wrong wallet", "Requested by: alice") == []


def test_text_from_people_and_from_the_chain_is_escaped(ops: Client) -> None:
    tx = SweepTransactionFactory.create(
        status="rejected", reason="<img src=x> tx", sweep__last_error="<img src=x> error"
    )
    note(tx.sweep, EventKind.REJECTED, tx_hash=tx.tx_hash, reason="<img src=x> mismatch")
    note(tx.sweep, EventKind.CANCELLATION_REQUESTED, reason="<img src=x> why", requested_by="<img src=x>")
    tx.sweep.tokens.update(symbol="<img src=x>")
    text = ops.get(page(tx.sweep)).content.decode()
    assert "<img src=x>" not in text
    shown = ["tx", "error", "mismatch", "why"]
    assert missing(text, *(f"&lt;img src=x&gt; {place}" for place in shown)) == []


def test_transactions_link_to_the_explorer_where_the_network_has_one(
    ops: Client, change_networks: Callable[..., Networks]
) -> None:
    tx = SweepTransactionFactory.create()
    note(tx.sweep, EventKind.REPORTED, tx_hash=tx.tx_hash)
    link = f'href="https://explorer.example/tx/{tx.tx_hash}"'
    assert missing(ops.get(page(tx.sweep)).content.decode(), link) == [link]
    local = replace(networks.current().chain(tx.sweep.network), block_explorer_url="https://explorer.example")
    change_networks(chains={local.name: local})
    text = ops.get(page(tx.sweep)).content.decode()
    assert text.count(link) == len(["the timeline", "the transactions"])
    assert 'rel="noopener noreferrer"' in text


def test_a_sweep_on_solana_is_shown_with_all_its_executions(
    ops: Client, change_networks: Callable[..., Networks]
) -> None:
    shipped = load_clusters(settings.BASE_DIR / "config" / "clusters.toml")
    change_networks(clusters=shipped)
    sweep = SolanaSweepFactory.create()
    second = SolanaExecutionFactory.create(sweep=sweep, position=1)
    tx = SweepTransactionFactory.create(sweep=sweep, execution=second, tx_hash=random_signature())
    for execution in sweep.executions.all():
        BuiltTransaction.objects.create(
            execution=execution,
            last_valid_block_height=10**9,
            awaited_until_height=10**9,
            fee_account=random_key(),
            instructions=[],
        )
    text = ops.get(page(sweep)).content.decode()
    executions = [execution.execution_id for execution in sweep.executions.all()]
    tokens = [token.asset for token in sweep.tokens.all()]
    link = f'href="https://explorer.solana.com/tx/{tx.tx_hash}"'
    assert missing(text, sweep.wallet, *executions, *tokens, "No. 1", "No. 2", link, "Transaction 2: reference") == []
    listed = ops.get(reverse("admin:sweeps_sweep_changelist")).content.decode()
    assert missing(listed, "solana_v1", f"{sweep.wallet[:6]}…{sweep.wallet[-4:]}") == []


def test_tables_name_their_rows_and_columns(ops: Client) -> None:
    tx = SweepTransactionFactory.create()
    settle(sweep_id=tx.sweep.id, reading=evm_reading(executed_receipt(tx)))
    text = ops.get(page(tx.sweep)).content.decode()
    heads = ["What happened", "Event", "Account", "Direction"]
    assert missing(text, *(f'<th scope="col">{head}</th>' for head in heads)) == []
    assert missing(text, '<th scope="row">entry_posted</th>', '<th scope="row">Partner fee</th>') == []


def test_amounts_are_shown_to_the_unit_and_in_whole_tokens(ops: Client) -> None:
    sweep = SweepFactory.create(min_gross=UINT256_MAX)
    sweep.tokens.update(amount=10**18 + 1, decimals=18, symbol="DAI")
    digits = str(UINT256_MAX)
    minimum = f"{digits} ({digits[:-18]}.{digits[-18:]} OUT)"
    text = ops.get(page(sweep)).content.decode()
    assert missing(text, minimum, "1000000000000000001 (1.000000000000000001 DAI)") == []


def test_the_list_shows_what_is_open_and_times_to_the_second(ops: Client) -> None:
    sweep = SweepFactory.create(wallet="0x60B2740F90AB5164072234853C496406De4489F7", flags=["partial", "reorganised"])
    text = ops.get(reverse("admin:sweeps_sweep_changelist")).content.decode()
    created = f"{sweep.created_at:%Y-%m-%d %H:%M:%S} UTC"
    assert missing(text, str(sweep.id), created, "nothing sent", "partial, reorganised", ">0x60B2…89F7</span>") == []


def test_the_page_shows_the_next_check_to_the_second(ops: Client) -> None:
    sweep = SweepFactory.create()
    assert sweep.next_check_at is not None
    text = ops.get(page(sweep)).content.decode()
    assert missing(text, f"{sweep.next_check_at:%Y-%m-%d %H:%M:%S} UTC") == []
    assert f"{sweep.next_check_at:%f}" not in text


def test_nothing_can_be_added_changed_or_deleted(ops: Client) -> None:
    sweep = SweepFactory.create()
    assert ops.get(reverse("admin:sweeps_sweep_add")).status_code == 403
    assert ops.post(page(sweep), {"wallet": "0x" + "00" * 20}).status_code == 403
    assert ops.post(reverse("admin:sweeps_sweep_delete", args=[sweep.id]), {"post": "yes"}).status_code == 403


def test_check_now_makes_the_sweep_due_and_wakes_the_worker(ops: Client, woken: list[UUID]) -> None:
    sweep = SweepFactory.create(next_check_at=timezone.now() + timedelta(days=1))
    answer = ops.post(action("check_now", sweep), {"_form_submitted": "true"})
    assert answer.headers["HX-Redirect"] == page(sweep)
    sweep.refresh_from_db()
    assert sweep.next_check_at is not None
    assert sweep.next_check_at <= timezone.now()
    assert woken == [sweep.id]


def test_check_again_opens_a_closed_sweep_for_a_reason_and_is_logged(
    ops: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reopening, "wake", lambda _sweep_id, at: at)
    tx = SweepTransactionFactory.create()
    ops.post(action("check_again", tx.sweep), {"_form_submitted": "true", "reason": "The chain halted."})
    assert missing(ops.get(page(tx.sweep)).content.decode(), "Only a completed sweep that is closed") == []
    settle(sweep_id=tx.sweep.id, reading=evm_reading(executed_receipt(tx)))
    final = evm_reading(executed_receipt(tx), head_number=200, final_number=100, canonical=block_at(100))
    settle(sweep_id=tx.sweep.id, reading=final)
    ops.post(action("check_again", tx.sweep), {"_form_submitted": "true", "reason": ""})
    assert not Sweep.objects.get().is_open
    answer = ops.post(action("check_again", tx.sweep), {"_form_submitted": "true", "reason": "The chain halted."})
    assert answer.headers["HX-Redirect"] == page(tx.sweep)
    assert Sweep.objects.get().is_open
    assert LogEntry.objects.get().get_change_message() == "Opened again: The chain halted."
    assert missing(ops.get(page(tx.sweep)).content.decode(), "Requested by: ops", "Reason: The chain halted.") == []


def test_opening_a_dialog_changes_nothing(ops: Client, woken: list[UUID]) -> None:
    sweep = SweepFactory.create()
    assert ops.get(action("check_now", sweep)).status_code == 200
    assert ops.get(action("void", sweep)).status_code == 200
    assert woken == []
    sweep.refresh_from_db()
    assert sweep.status == "pending"


def test_a_void_needs_a_reason_and_is_logged(ops: Client) -> None:
    sweep = SweepFactory.create()
    ops.post(action("void", sweep), {"_form_submitted": "true", "reason": ""})
    sweep.refresh_from_db()
    assert sweep.status == "pending"
    ops.post(action("void", sweep), {"_form_submitted": "true", "reason": "wrong wallet"})
    sweep.refresh_from_db()
    assert (sweep.status, sweep.is_open, sweep.void_reason) == ("void", True, "wrong wallet")
    assert LogEntry.objects.get().get_change_message() == "Voided: wrong wallet"


def test_a_void_may_be_cancelled_on_chain_as_well_and_the_log_says_so(ops: Client) -> None:
    sweep = SweepFactory.create()
    ops.post(action("void", sweep), {"_form_submitted": "true", "reason": "stolen key", "cancel_on_chain": "on"})
    assert Cancellation.objects.get().execution == sweep.executions.get()
    assert requested_cancellations() == [{"reason": "stolen key", "requested_by": "ops"}]
    assert LogEntry.objects.get().get_change_message() == "Voided and asked to cancel on chain: stolen key"
    assert missing(ops.get(page(sweep)).content.decode(), "The worker was asked to cancel it on chain.") == []


def test_the_page_shows_how_far_a_cancellation_is(ops: Client) -> None:
    sweep = SweepFactory.create()
    void(sweep_id=sweep.id, reason="stolen key", requested_by="alice", cancels=True)
    cancellation = Cancellation.objects.get()
    cancellation.last_error = "No money for gas."
    cancellation.save()
    transaction = cancellation.transactions.create(
        network=sweep.network,
        account=sweep.wallet,
        account_nonce=77,
        attempt=0,
        gas=60_000,
        max_fee=31_000_000_001,
        priority_fee=1,
        tx_hash="0x" + "cd" * 32,
        raw=b"\x02",
    )
    text = ops.get(page(sweep)).content.decode()
    assert text.index("No money for gas.") < text.index("Timeline"), "what is in the way is said at the top"
    shown = ["Requested by: alice", "No money for gas.", transaction.tx_hash, "nonce 77", "31.000000001 gwei"]
    assert missing(text, *shown) == []


def test_a_sweep_with_a_submitted_transaction_is_not_voided_and_the_page_says_why(ops: Client) -> None:
    sweep = SweepTransactionFactory.create().sweep
    ops.post(action("void", sweep), {"_form_submitted": "true", "reason": "late"})
    assert missing(ops.get(page(sweep)).content.decode(), "a transaction was submitted for it") == []
    sweep.refresh_from_db()
    assert sweep.status == "pending"


def test_a_sweep_with_a_submitted_transaction_is_cancelled_on_chain_for_a_reason_and_that_is_logged(
    ops: Client,
) -> None:
    sweep = SweepTransactionFactory.create().sweep
    ops.post(action("cancel_on_chain", sweep), {"_form_submitted": "true", "reason": ""})
    assert Cancellation.objects.count() == 0
    answer = ops.post(action("cancel_on_chain", sweep), {"_form_submitted": "true", "reason": "stolen key"})
    assert answer.headers["HX-Redirect"] == page(sweep)
    assert Cancellation.objects.get().execution == sweep.executions.get()
    assert requested_cancellations() == [{"reason": "stolen key", "requested_by": "ops"}]
    assert LogEntry.objects.get().get_change_message() == "Asked to cancel on chain: stolen key"
    assert missing(ops.get(page(sweep)).content.decode(), "The worker was asked to cancel", "stolen key") == []
    ops.post(action("cancel_on_chain", sweep), {"_form_submitted": "true", "reason": "again"})
    assert missing(ops.get(page(sweep)).content.decode(), "The worker was asked to cancel this sweep before") == []


def test_a_closed_sweep_is_not_cancelled_and_the_page_says_why(ops: Client) -> None:
    closed = {"is_open": False, "closed_at": timezone.now(), "next_check_at": None}
    sweep = SweepFactory.create(status="expired", **closed)
    ops.post(action("cancel_on_chain", sweep), {"_form_submitted": "true", "reason": "late"})
    text = ops.get(page(sweep)).content.decode()
    assert missing(text, "there is nothing to cancel", "Nothing; it is closed.") == []
    assert (Cancellation.objects.count(), LogEntry.objects.count()) == (0, 0)


@pytest.mark.parametrize("name", ["void", "cancel_on_chain"])
def test_the_page_says_why_a_rail_cannot_cancel(ops: Client, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def refuse(_sweep: Sweep) -> None:
        raise SweepNotCancellable("This contract has no cancellation.")

    monkeypatch.setattr(EvmV5, "withdraw", staticmethod(refuse))
    sweep = SweepFactory.create()
    ops.post(action(name, sweep), {"_form_submitted": "true", "reason": "why", "cancel_on_chain": "on"})
    assert missing(ops.get(page(sweep)).content.decode(), "This contract has no cancellation.") == []
    assert (Sweep.objects.get().status, LogEntry.objects.count()) == ("pending", 0)


def test_a_user_who_may_only_view_may_not_act() -> None:
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_sweep"))
    client = ConsoleClient()
    client.force_login(viewer)
    sweep = SweepFactory.create()
    assert client.get(page(sweep)).status_code == 200
    assert client.post(action("void", sweep), {"_form_submitted": "true", "reason": "x"}).status_code == 403
    assert client.post(action("cancel_on_chain", sweep), {"_form_submitted": "true", "reason": "x"}).status_code == 403
    assert client.post(action("check_again", sweep), {"_form_submitted": "true", "reason": "x"}).status_code == 403
    assert client.post(action("check_now", sweep), {"_form_submitted": "true"}).status_code == 403


@pytest.mark.parametrize("name", ["check_now", "check_again", "void", "cancel_on_chain"])
def test_an_action_on_a_malformed_id_is_not_found(ops: Client, name: str) -> None:
    answer = ops.post(reverse(f"admin:sweeps_sweep_{name}", args=["x"]), {"_form_submitted": "true", "reason": "x"})
    assert answer.status_code == 404


def test_an_operator_takes_a_sweep_and_the_list_names_them(ops: Client) -> None:
    sweep = SweepFactory.create()
    ops.post(action("take", sweep), {"_form_submitted": "true"})
    assert Handling.objects.get(sweep=sweep).is_taken
    assert LogEntry.objects.get().get_change_message() == "Taken."
    (row,) = ops.get(reverse("admin:sweeps_sweep_changelist"), {"queue": "unsent"}).context["cl"].result_list
    assert [one.operator for one in row.handlings.all()] == ["ops"]


def test_flags_are_acknowledged_with_a_note_and_leave_the_queue(ops: Client) -> None:
    sweep = SweepFactory.create(flags=["below_minimum"])
    queue = {"queue": "flagged"}
    lists = reverse("admin:sweeps_sweep_changelist")
    assert list(ops.get(lists, queue).context["cl"].result_list) == [sweep]
    ops.post(action("acknowledge", sweep), {"_form_submitted": "true", "reason": ""})
    assert not Handling.objects.exists(), "it needs a note"
    ops.post(action("acknowledge", sweep), {"_form_submitted": "true", "reason": "The pool was thin."})
    assert Handling.objects.values_list("flags", "note").get() == (["below_minimum"], "The pool was thin.")
    assert list(ops.get(lists, queue).context["cl"].result_list) == []
    assert "acknowledged below_minimum" in ops.get(page(sweep)).content.decode()


def test_a_queue_has_what_waits_the_longest_first(ops: Client) -> None:
    first, second = SweepFactory.create(), SweepFactory.create()
    lists = reverse("admin:sweeps_sweep_changelist")
    assert list(ops.get(lists, {"queue": "unsent"}).context["cl"].result_list) == [first, second]
    assert list(ops.get(lists).context["cl"].result_list) == [second, first]


@pytest.mark.parametrize(
    ("facts", "offered"),
    [
        ({}, {"take", "check_now", "void", "cancel_on_chain"}),
        ({"flags": ["below_minimum"]}, {"take", "acknowledge", "check_now", "void", "cancel_on_chain"}),
        ({"status": "expired", "is_open": False, "closed_at": timezone.now(), "next_check_at": None}, set()),
    ],
)
def test_a_page_offers_what_may_apply_to_its_sweep(ops: Client, facts: dict[str, Any], offered: set[str]) -> None:
    sweep = SweepFactory.create(**facts)
    links = re.findall(rf"{sweep.id}/([a-z-]+)/", ops.get(page(sweep)).content.decode())
    assert {link.replace("-", "_") for link in links} & APPLIES.keys() == offered


def test_the_story_for_the_partner_has_amounts_and_events_and_nothing_of_operators(ops: Client) -> None:
    sweep = SweepFactory.create(client_reference="order 7")
    ops.post(action("void", sweep), {"_form_submitted": "true", "reason": "between us"})
    story = plain_story(Sweep.objects.get(id=sweep.id), networks.current())
    assert f"Sweep {sweep.id} on local, void" in story
    assert "Your reference: order 7" in story
    assert "The sweep was voided." in story
    assert "between us" not in story
    assert "ops" not in story
    assert story in unescape(ops.get(page(sweep)).content.decode())


def test_the_selected_sweeps_are_a_file_without_formulas(ops: Client) -> None:
    done, waiting, _other = (SweepFactory.create(client_reference=text) for text in ("=1+1", "order 8", "order 9"))
    settle(sweep_id=done.id, reading=evm_reading(executed_receipt(SweepTransactionFactory.create(sweep=done))))
    chosen = {"action": "download", "_selected_action": [str(done.id), str(waiting.id)]}
    answer = ops.post(reverse("admin:sweeps_sweep_changelist"), chosen)
    rows = list(csv.DictReader(b"".join(answer.streaming_content).decode().splitlines()))  # type: ignore[attr-defined]
    by_id = {row["id"]: row for row in rows}
    assert by_id.keys() == {str(done.id), str(waiting.id)}
    assert by_id[str(done.id)]["reference"] == "'=1+1"
    assert (by_id[str(waiting.id)]["gross"], by_id[str(waiting.id)]["transaction"]) == ("", "")
    assert float(by_id[str(done.id)]["gross"]) > 0
