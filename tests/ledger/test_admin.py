"""The admin shows the ledger, and no one can write to it there."""

import pytest
from django.test import Client

from ledger.entries.posting import reverse as reverse_entry
from ledger.models import Account, JournalEntry
from partners.models import Partner
from sweepapi import networks
from sweepapi.fields import UINT256_MAX
from tests.factories.ledger import book_fee
from tests.operator_browser import reverse

pytestmark = pytest.mark.django_db


def test_an_entry_is_shown_with_its_postings_to_the_unit(ops: Client, partner: Partner) -> None:
    entry = book_fee(partner, total_fee=UINT256_MAX, partner_fee=400)
    page = ops.get(reverse("admin:ledger_journalentry_change", args=[entry.pk])).content.decode()
    for text in ("fees_charged", "partner_settled", "protocol_revenue", str(UINT256_MAX), str(UINT256_MAX - 400)):
        assert text in page


@pytest.mark.usefixtures("two_chains")
def test_an_entry_links_to_its_transaction_and_to_its_reversal(ops: Client, partner: Partner) -> None:
    entry = book_fee(partner, network="eip155:8453")
    reversal = reverse_entry(entry)
    page = ops.get(reverse("admin:ledger_journalentry_change", args=[entry.pk])).content.decode()
    assert f'href="https://basescan.org/tx/{entry.tx_hash}"' in page
    assert reverse("admin:ledger_journalentry_change", args=[reversal.pk]) in page
    listed = ops.get(reverse("admin:ledger_journalentry_changelist")).content.decode()
    assert f'href="https://basescan.org/tx/{entry.tx_hash}"' in listed


def test_accounts_are_listed_with_exact_balances(ops: Client, partner: Partner) -> None:
    book_fee(partner, total_fee=UINT256_MAX, partner_fee=400)
    book_fee(partner, total_fee=UINT256_MAX, partner_fee=400)
    page = ops.get(reverse("admin:ledger_account_changelist")).content.decode()
    assert str(2 * UINT256_MAX) in page
    assert "-800" in page


@pytest.mark.usefixtures("two_chains")
@pytest.mark.parametrize("name", ["account", "journalentry"])
def test_networks_are_shown_and_filtered_by_name(ops: Client, partner: Partner, name: str) -> None:
    for network in ("eip155:8453", "eip155:42161"):
        book_fee(partner, network=network)
    page = ops.get(reverse(f"admin:ledger_{name}_changelist"), {"network": "eip155:8453"})
    assert {row.network for row in page.context["cl"].result_list} == {"eip155:8453"}
    [offered] = [spec for spec in page.context["cl"].filter_specs if spec.title == "network"]
    displayed = [choice["display"] for choice in offered.choices(page.context["cl"])]
    assert displayed == ["All", *networks.current().names.values()]
    assert {"arbitrum", "base"} < set(displayed)
    assert "field-show_network" in page.content.decode()


@pytest.mark.parametrize("name", ["account", "journalentry"])
def test_not_even_a_superuser_can_write(ops: Client, partner: Partner, name: str) -> None:
    book_fee(partner)
    row = (Account if name == "account" else JournalEntry)._default_manager.first()  # noqa: SLF001
    assert row is not None
    assert ops.get(reverse(f"admin:ledger_{name}_changelist")).status_code == 200
    assert ops.get(reverse(f"admin:ledger_{name}_add")).status_code == 403
    assert ops.post(reverse(f"admin:ledger_{name}_change", args=[row.pk]), {"name": "x"}).status_code == 403
    assert ops.post(reverse(f"admin:ledger_{name}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403
