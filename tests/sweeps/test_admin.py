"""Operations see a sweep on one page, ask for a check, and void; they edit nothing."""

from datetime import datetime, timedelta
from uuid import UUID

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from sweeps import nudge, voiding
from sweeps.models import Cancellation, Sweep
from tests.factories.ledger import book_fee
from tests.factories.sweeps import SweepFactory, SweepTokenFactory, SweepTransactionFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def ops() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("ops"))
    return client


@pytest.fixture
def nudged(monkeypatch: pytest.MonkeyPatch) -> list[UUID]:
    """The sweeps that the worker was told about."""
    told: list[UUID] = []

    def note(sweep_id: UUID, *, at: datetime) -> None:
        assert at <= timezone.now()
        told.append(sweep_id)

    monkeypatch.setattr(nudge, "nudge", note)
    return told


def page(sweep: Sweep) -> str:
    return reverse("admin:sweeps_sweep_change", args=[sweep.id])


def action(name: str, sweep: Sweep) -> str:
    return reverse(f"admin:sweeps_sweep_{name}", args=[sweep.id])


def test_the_page_shows_tokens_authorization_candidates_and_postings(ops: Client) -> None:
    sweep = SweepFactory.create()
    token, candidate = SweepTokenFactory.create(sweep=sweep), SweepTransactionFactory.create(sweep=sweep)
    entry = book_fee(sweep.partner, sweep_ref=sweep.id)
    text = ops.get(page(sweep)).content.decode()
    shown = [token.mint, "Prefunded", sweep.authorization.digest, candidate.tx_hash, "partner_settled", str(entry.id)]
    assert [fact for fact in shown if fact not in text] == []
    assert "Requested by" not in text, "nobody wants it cancelled"


def test_nothing_can_be_added_changed_or_deleted(ops: Client) -> None:
    sweep = SweepFactory.create()
    assert ops.get(reverse("admin:sweeps_sweep_add")).status_code == 403
    assert ops.post(page(sweep), {"wallet": "0x" + "00" * 20}).status_code == 403
    assert ops.post(reverse("admin:sweeps_sweep_delete", args=[sweep.id]), {"post": "yes"}).status_code == 403


def test_check_now_makes_the_sweep_due_and_nudges_the_worker(ops: Client, nudged: list[UUID]) -> None:
    sweep = SweepFactory.create(next_check_at=timezone.now() + timedelta(days=1))
    answer = ops.post(action("check_now", sweep), {"_form_submitted": "true"})
    assert answer.headers["HX-Redirect"] == page(sweep)
    sweep.refresh_from_db()
    assert sweep.next_check_at is not None
    assert sweep.next_check_at <= timezone.now()
    assert nudged == [sweep.id]


def test_a_look_at_the_dialog_changes_nothing(ops: Client, nudged: list[UUID]) -> None:
    sweep = SweepFactory.create()
    assert ops.get(action("check_now", sweep)).status_code == 200
    assert ops.get(action("void", sweep)).status_code == 200
    assert nudged == []
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


def test_a_void_may_be_cancelled_on_chain_too_and_the_log_says_so(ops: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(voiding, "nudge_cancellations", lambda: told.append("worker"))
    sweep = SweepFactory.create()
    ops.post(action("void", sweep), {"_form_submitted": "true", "reason": "stolen key", "cancel_on_chain": "on"})
    wish = Cancellation.objects.get()
    assert (wish.sweep, wish.requested_by, told) == (sweep, "ops", ["worker"])
    assert LogEntry.objects.get().get_change_message() == "Voided and asked to cancel on chain: stolen key"
    assert "The worker was asked to cancel it on chain." in ops.get(page(sweep)).content.decode()


def test_the_page_shows_how_far_a_cancellation_is(ops: Client) -> None:
    sweep = SweepFactory.create(status="void", voided_at=timezone.now(), void_reason="stolen key")
    wish = Cancellation.objects.create(
        sweep=sweep, requested_by="alice", reason="as above", last_error="No money for gas."
    )
    transaction = wish.transactions.create(
        chain_id=sweep.chain_id,
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
    shown = ["Requested by", "alice", "No money for gas.", transaction.tx_hash, "nonce 77", "31.000000001 gwei"]
    assert [fact for fact in shown if fact not in text] == []


def test_a_sweep_with_a_submitted_transaction_is_not_voided(ops: Client) -> None:
    sweep = SweepTransactionFactory.create().sweep
    ops.post(action("void", sweep), {"_form_submitted": "true", "reason": "late"})
    sweep.refresh_from_db()
    assert sweep.status == "pending"


def test_a_sweep_with_a_submitted_transaction_is_cancelled_on_chain_for_a_reason_and_that_is_logged(
    ops: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(voiding, "nudge_cancellations", lambda: told.append("worker"))
    sweep = SweepTransactionFactory.create().sweep
    ops.post(action("cancel_on_chain", sweep), {"_form_submitted": "true", "reason": ""})
    assert Cancellation.objects.count() == 0
    answer = ops.post(action("cancel_on_chain", sweep), {"_form_submitted": "true", "reason": "stolen key"})
    assert answer.headers["HX-Redirect"] == page(sweep)
    wish = Cancellation.objects.get()
    assert (wish.sweep, wish.requested_by, wish.reason, told) == (sweep, "ops", "stolen key", ["worker"])
    assert LogEntry.objects.get().get_change_message() == "Asked to cancel on chain: stolen key"
    text = ops.get(page(sweep)).content.decode()
    assert [fact for fact in ("The worker was asked to cancel", "stolen key") if fact not in text] == []
    ops.post(action("cancel_on_chain", sweep), {"_form_submitted": "true", "reason": "again"})
    assert "The worker was asked to cancel this sweep before" in ops.get(page(sweep)).content.decode()


def test_a_closed_sweep_is_not_cancelled_and_the_page_says_why(ops: Client) -> None:
    closed = {"is_open": False, "closed_at": timezone.now(), "next_check_at": None}
    sweep = SweepFactory.create(status="expired", **closed)
    ops.post(action("cancel_on_chain", sweep), {"_form_submitted": "true", "reason": "late"})
    assert "there is nothing left to cancel" in ops.get(page(sweep)).content.decode()
    assert (Cancellation.objects.count(), LogEntry.objects.count()) == (0, 0)


def test_who_may_only_view_may_not_act() -> None:
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_sweep"))
    client = Client()
    client.force_login(viewer)
    sweep = SweepFactory.create()
    assert client.get(page(sweep)).status_code == 200
    assert client.post(action("void", sweep), {"_form_submitted": "true", "reason": "x"}).status_code == 403
    assert client.post(action("cancel_on_chain", sweep), {"_form_submitted": "true", "reason": "x"}).status_code == 403
    assert client.post(action("check_now", sweep), {"_form_submitted": "true"}).status_code == 403
