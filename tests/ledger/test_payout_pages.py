"""Operators see what is owed, record payouts after a look at what was checked, and reverse mistakes."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from ledger.entries.posting import finalize
from ledger.entries.posting import reverse as reverse_entry
from ledger.models import JournalEntry
from partners.models import Partner
from tests.factories.ledger import BASE, WETH, book_fee, book_payable, book_payout, random_hash, undo_payout
from tests.factories.partners import PartnerFactory, PayoutWalletFactory
from tests.factories.past import fee_at, open_accounts
from tests.factories.sweeps import LOCAL, random_checksum_address
from tests.operator_browser import ConsoleClient, reverse
from tests.payments import Treasury

pytestmark = pytest.mark.django_db

SOLANA = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
SOLANA_USDC = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"


@pytest.fixture
def usdc(treasury: Treasury, partner: Partner) -> str:
    """The token of the local chain in which the partner earned 1,000 units."""
    address = treasury.usdc.address
    book_payable(partner, 1_000, network=LOCAL, asset=address, symbol="USDC", decimals=6)
    return address


def staff(*permissions: str) -> Client:
    """Return a client of a user with these permissions alone."""
    user = User.objects.create_user("staff", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = ConsoleClient()
    client.force_login(user)
    return client


def books(partner: Partner) -> str:
    return reverse("admin:ledger_partnerbooks_change", args=[partner.pk])


def form(partner: Partner) -> str:
    return reverse("admin:ledger_partnerbooks_record_payout", args=[partner.pk])


def page_of(payout: JournalEntry) -> str:
    return reverse("admin:ledger_payout_change", args=[payout.pk])


def given(asset: str, amount: int, tx_hash: str) -> dict[str, str]:
    return {"asset": f"{LOCAL}/{asset}", "amount": str(amount), "tx_hash": tx_hash, "note": "October"}


def confirm(client: Client, partner: Partner, payout: dict[str, str]) -> Any:
    """Have a payout checked, and send the confirmation that is then shown."""
    page = client.post(form(partner), payout)
    return client.post(form(partner), payout | {"confirm": page.context["confirmed"]}, follow=True)


def text(response: Any) -> str:
    assert response.status_code == 200
    content: str = response.content.decode()
    return content


def missing(shown: str, *facts: object) -> list[str]:
    """Return the facts that a page does not show."""
    return [str(fact) for fact in facts if str(fact) not in shown]


# --- balances ---------------------------------------------------------------------------------------------------------


def test_the_page_shows_what_is_owed_and_what_is_available(ops: Client, partner: Partner, usdc: str) -> None:
    book_payable(partner, 77, final=False, network=LOCAL, asset=usdc)
    shown = text(ops.get(books(partner)))
    owed, available = "1077 (0.001077 USDC)", "1000 (0.001 USDC)"
    cells = [f'<td data-head="Owed">{owed}</td>', f'<td data-head="Available">{available}</td>']
    assert missing(shown, usdc, *cells) == []
    assert '<td data-head="Debt"></td>' in shown


def test_amounts_of_an_asset_that_the_ledger_does_not_know_are_shown_in_units(ops: Client, partner: Partner) -> None:
    open_accounts(partner)
    finalize([fee_at(timezone.now(), partner, 1_077).pk])
    paid = book_payout(partner, 77)
    assert '<td data-head="Owed">1000</td>' in text(ops.get(books(partner)))
    assert ">77<" in text(ops.get(page_of(paid)))


def test_a_debt_is_marked_on_the_page_and_in_the_list(ops: Client, partner: Partner) -> None:
    sound = PartnerFactory.create()
    book_payable(sound, 400)
    entry = book_payable(partner, 400)
    book_payout(partner, 300)
    reverse_entry(entry)
    assert "<strong>300 (0.0000000000000003 WETH)</strong>" in text(ops.get(books(partner)))
    rows = ops.get(reverse("admin:ledger_partnerbooks_changelist")).context["cl"].result_list
    assert {row.name: row.is_in_debt for row in rows} == {partner.name: True, sound.name: False}


def test_what_was_settled_on_chain_is_not_owed(ops: Client, partner: Partner) -> None:
    book_fee(partner)
    assert "Nothing was ever owed" in text(ops.get(books(partner)))


def test_nothing_can_be_edited(ops: Client, partner: Partner, usdc: str) -> None:
    paid = book_payout(partner, 1, network=LOCAL, asset=usdc)
    assert ops.get(reverse("admin:ledger_partnerbooks_add")).status_code == 403
    assert ops.get(reverse("admin:ledger_payout_add")).status_code == 403
    assert ops.post(books(partner), {"name": "x"}).status_code == 403
    assert ops.post(page_of(paid), {"recipient": "x"}).status_code == 403
    assert ops.post(reverse("admin:ledger_payout_delete", args=[paid.pk]), {"post": "yes"}).status_code == 403


# --- recording --------------------------------------------------------------------------------------------------------


def test_a_payout_is_shown_as_checked_and_recorded_once_it_is_confirmed(
    ops: Client, treasury: Treasury, partner: Partner, usdc: str
) -> None:
    assert (
        missing(
            text(ops.get(form(partner))), partner.payout_wallet, treasury.account.address, "1000 (0.001 USDC) on local"
        )
        == []
    )
    tx_hash = treasury.pay(partner.payout_wallet, 400)
    shown = text(ops.post(form(partner), given(usdc, 400, tx_hash)))
    block = treasury.chain.receipt(tx_hash)["blockNumber"]
    facts = [partner.payout_wallet, treasury.account.address, tx_hash, f"{block}, which is final", "October"]
    amounts = ["400 (0.0004 USDC)", "1000 (0.001 USDC)", "600 (0.0006 USDC)"]
    assert missing(shown, *facts, *(f"<td>{amount}</td>" for amount in amounts)) == []
    assert not JournalEntry.objects.filter(kind="payout").exists()

    answer = confirm(ops, partner, given(usdc, 400, tx_hash))
    assert missing(text(answer), "The payout was recorded.", '<td data-head="Available">600 (0.0006 USDC)</td>') == []
    entry = JournalEntry.objects.get(kind="payout")
    assert (entry.recorded_by, entry.note, entry.payout.sender) == ("ops", "October", treasury.account.address)
    assert LogEntry.objects.get().get_change_message() == f"Recorded a payout of 400 units of {usdc}: {entry.pk}"


def test_the_confirmation_carries_what_was_given_and_is_checked_again(
    ops: Client, treasury: Treasury, partner: Partner, usdc: str
) -> None:
    tx_hash = treasury.pay(partner.payout_wallet, 400)
    page = ops.post(form(partner), given(usdc, 400, tx_hash))
    carried = {name: page.context["form"][name].value() for name in page.context["form"].fields}
    assert carried == given(usdc, 400, tx_hash)
    confirmed = f"{partner.payout_wallet} checked"
    assert f'<input type="hidden" name="confirm" value="{confirmed}">' in text(page)
    for _ in range(2):
        answer = ops.post(form(partner), carried | {"confirm": confirmed})
    assert "This transaction is already booked" in text(answer)
    assert JournalEntry.objects.filter(kind="payout").count() == 1


def test_what_differs_from_what_was_confirmed_is_shown_again_and_not_recorded(
    ops: Client, partner: Partner, change_networks: Callable[..., Any]
) -> None:
    change_networks(rpc_urls={})
    book_payable(partner, 1_000)
    payout = {"asset": f"{BASE}/{WETH}", "amount": "5", "tx_hash": random_hash(), "note": ""}
    seen = ops.post(form(partner), payout).context["confirmed"]
    partner.payout_wallet = random_checksum_address()
    partner.save()
    for confirmed in (seen, f"{partner.payout_wallet} checked", "yes"):
        again = ops.post(form(partner), payout | {"confirm": confirmed})
        assert missing(text(again), "What was checked has changed", partner.payout_wallet) == []
        assert not JournalEntry.objects.filter(kind="payout").exists()
    ops.post(form(partner), payout | {"confirm": again.context["confirmed"]})
    assert JournalEntry.objects.get(kind="payout").payout.recipient == partner.payout_wallet


def test_a_former_wallet_is_named_as_such(ops: Client, treasury: Treasury, partner: Partner, usdc: str) -> None:
    former, tx_hash = partner.payout_wallet, treasury.pay(partner.payout_wallet, 400)
    partner.payout_wallet = random_checksum_address()
    partner.save()
    assert f"{former}, a former wallet of the partner, until" in text(
        ops.post(form(partner), given(usdc, 400, tx_hash))
    )


def test_a_refusal_is_said_on_the_form_and_nothing_is_recorded(ops: Client, partner: Partner, usdc: str) -> None:
    for confirmed in ({}, {"confirm": "yes"}):
        shown = text(ops.post(form(partner), given(usdc, 1_001, random_hash()) | confirmed))
        assert missing(shown, "1001 units are more than the 1000 that are available.", 'value="1001"') == []
    assert not JournalEntry.objects.filter(kind="payout").exists()


def test_the_form_costs_the_same_queries_however_many_networks_there_are(
    ops: Client, partner: Partner, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    book_payable(partner, 10)
    with CaptureQueriesContext(connection) as first:
        ops.get(form(partner))
    for network in ("eip155:1", "eip155:10"):
        book_payable(partner, 10, network=network)
        PayoutWalletFactory.create(partner=partner, network=network)
    with django_assert_num_queries(len(first)):
        ops.get(form(partner))


def test_the_form_names_no_wallet_where_the_partner_has_none(ops: Client, partner: Partner) -> None:
    book_payable(partner, 10, network=SOLANA, asset=SOLANA_USDC, tx_hash="5" * 88)
    shown = text(ops.get(form(partner)))
    assert "none: add one first" in shown
    assert partner.payout_wallet not in shown


@pytest.mark.parametrize(
    "change",
    [{"amount": "1.5"}, {"amount": "-1"}, {"amount": "1_0"}, {"amount": ""}, {"tx_hash": ""}, {"asset": f"{LOCAL}/x"}],
    ids=str,
)
def test_bad_input_is_refused_by_the_form(ops: Client, partner: Partner, usdc: str, change: dict[str, str]) -> None:
    page = ops.post(form(partner), given(usdc, 1, random_hash()) | change | {"confirm": "yes"})
    assert set(page.context["form"].errors) == set(change)


def test_text_of_operators_is_escaped(ops: Client, treasury: Treasury, partner: Partner, usdc: str) -> None:
    note = {"note": "<img src=x> note"}
    payout = given(usdc, 400, treasury.pay(partner.payout_wallet, 400)) | note
    shown = [text(ops.post(form(partner), payout))]
    confirm(ops, partner, payout)
    shown.append(text(ops.get(page_of(JournalEntry.objects.get(kind="payout")))))
    assert [missing(page, "&lt;img src=x&gt; note") for page in shown] == [[], []]
    assert [page for page in shown if "<img src=x>" in page] == []


# --- payouts ----------------------------------------------------------------------------------------------------------


def test_payouts_are_listed_with_their_amounts_and_states(
    ops: Client, treasury: Treasury, partner: Partner, usdc: str
) -> None:
    undo_payout(book_payout(partner, 11, network=LOCAL, asset=usdc))
    book_payout(partner, 22, network=LOCAL, asset=usdc)
    confirm(ops, partner, given(usdc, 33, treasury.pay(partner.payout_wallet, 33)))
    listed = ops.get(reverse("admin:ledger_payout_changelist"))
    assert [row.amount for row in listed.context["cl"].result_list] == [33, 22, 11]
    assert missing(text(listed), "checked on chain", "not checked", "reversed", "22 (0.000022 USDC)") == []


def test_a_partners_payouts_are_linked_from_its_balances(ops: Client, partner: Partner) -> None:
    other = PartnerFactory.create()
    for one in (partner, other):
        book_payable(one, 400)
        book_payout(one, 100)
    link = f"{reverse('admin:ledger_payout_changelist')}?entry__partner__id__exact={partner.pk}"
    assert link in text(ops.get(books(partner)))
    assert [row.entry.partner for row in ops.get(link).context["cl"].result_list] == [partner]


def test_a_payout_is_reversed_for_a_reason_and_that_is_logged(ops: Client, partner: Partner) -> None:
    book_payable(partner, 400)
    paid = book_payout(partner, 100)
    action = reverse("admin:ledger_payout_reverse_payout", args=[paid.pk])
    ops.post(action, {"_form_submitted": "true", "reason": ""})
    assert not JournalEntry.objects.filter(reverses=paid).exists()
    answer = ops.post(action, {"_form_submitted": "true", "reason": "The wrong hash."})
    assert answer.headers["HX-Redirect"] == page_of(paid)
    reversal = JournalEntry.objects.get(reverses=paid)
    assert (reversal.recorded_by, reversal.note) == ("ops", "The wrong hash.")
    assert LogEntry.objects.get().get_change_message() == "Reversed: The wrong hash."
    assert missing(text(ops.get(page_of(paid))), "The payout was reversed.", reversal.pk, "by ops: The wrong") == []
    ops.post(action, {"_form_submitted": "true", "reason": "again"})
    assert "This payout is reversed already." in text(ops.get(page_of(paid)))


def test_an_entry_shows_its_finality_and_who_recorded_it(ops: Client, partner: Partner) -> None:
    fee = book_payable(partner, 400)
    paid = book_payout(partner, 100)
    final_at = f"{fee.finality.final_at:%Y-%m-%d %H:%M:%S} UTC"
    entry = "admin:ledger_journalentry_change"
    assert final_at in text(ops.get(reverse(entry, args=[fee.pk])))
    assert missing(text(ops.get(reverse(entry, args=[paid.pk]))), ">ops<", "A payout.") == []


def test_a_payout_is_looked_up_on_chain_again_and_nothing_changes(
    ops: Client, treasury: Treasury, partner: Partner, usdc: str, change_networks: Callable[..., Any]
) -> None:
    snapshot = treasury.chain.rpc("evm_snapshot")
    tx_hash = treasury.pay(partner.payout_wallet, 400)
    block = treasury.chain.receipt(tx_hash)["blockNumber"]
    confirm(ops, partner, given(usdc, 400, tx_hash))
    paid = JournalEntry.objects.get(kind="payout")
    action = reverse("admin:ledger_payout_check_again", args=[paid.pk])

    def found() -> str:
        answer = ops.post(action, {"_form_submitted": "true"})
        return text(ops.get(answer.headers["HX-Redirect"]))

    assert f"It was paid in block {block}, which is final." in found()
    treasury.chain.roll_back(snapshot)
    assert "No provider knows a mined transaction with this hash. (not_found)" in found()
    change_networks(rpc_urls={})
    assert "Nothing was checked: this network has no provider." in found()
    assert not JournalEntry.objects.filter(reverses=paid).exists()


@pytest.mark.parametrize("row", ["x", "7", str(uuid4())])
def test_an_action_on_an_unknown_row_is_not_found(ops: Client, row: str) -> None:
    for name in ("partnerbooks_record_payout", "payout_check_again", "payout_reverse_payout"):
        action = reverse(f"admin:ledger_{name}", args=[row])
        assert ops.post(action, {"_form_submitted": "true", "reason": "x"}).status_code == 404


# --- permissions ------------------------------------------------------------------------------------------------------


def test_who_may_view_may_not_record_or_reverse(partner: Partner) -> None:
    book_payable(partner, 400)
    paid = book_payout(partner, 100)
    viewer = staff("view_partnerbooks", "view_payout")
    assert "Record a payout" not in text(viewer.get(books(partner)))
    assert viewer.get(form(partner)).status_code == 403
    action = reverse("admin:ledger_payout_reverse_payout", args=[paid.pk])
    assert viewer.post(action, {"_form_submitted": "true", "reason": "x"}).status_code == 403


def test_recording_has_a_permission_of_its_own(partner: Partner) -> None:
    book_payable(partner, 400)
    clerk = staff("view_partnerbooks", "record_payout")
    assert "Record a payout" in text(clerk.get(books(partner)))
    assert clerk.get(form(partner)).status_code == 200


def test_who_may_record_but_not_view_a_page_may_not_use_its_action(partner: Partner) -> None:
    book_payable(partner, 400)
    paid = book_payout(partner, 100)
    clerk = staff("record_payout")
    assert clerk.get(form(partner)).status_code == 403
    action = reverse("admin:ledger_payout_reverse_payout", args=[paid.pk])
    assert clerk.post(action, {"_form_submitted": "true", "reason": "x"}).status_code == 403


def test_the_actions_refuse_a_post_without_a_csrf_token(partner: Partner) -> None:
    book_payable(partner, 400)
    paid = book_payout(partner, 100)
    browser = ConsoleClient(enforce_csrf_checks=True)
    browser.force_login(User.objects.create_superuser("ops"))
    assert browser.post(form(partner), given(WETH, 1, random_hash()) | {"confirm": "yes"}).status_code == 403
    for name in ("reverse_payout", "check_again"):
        action = reverse(f"admin:ledger_payout_{name}", args=[paid.pk])
        assert browser.post(action, {"_form_submitted": "true", "reason": "x"}).status_code == 403
    assert JournalEntry.objects.count() == 2


def test_who_may_not_view_the_ledger_sees_nothing(partner: Partner) -> None:
    assert staff("view_partner").get(books(partner)).status_code == 403
