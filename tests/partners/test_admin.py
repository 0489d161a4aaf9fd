"""The admin manages partners and issues keys whose secret is shown once."""

import logging
import re
from collections.abc import Mapping

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.contrib.messages import get_messages
from django.contrib.sessions.models import Session
from django.db.models import ProtectedError
from django.test import Client
from django.urls import reverse

from partners.models import ApiKey, Partner, PayoutWallet
from tests.factories.ledger import book_fee
from tests.factories.partners import PartnerFactory, PayoutWalletFactory, random_address

pytestmark = pytest.mark.django_db

KEY = re.compile(r"swp_test_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}")


@pytest.fixture
def ops() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("ops"))
    return client


def wallets_form(*wallets: Mapping[str, object], initial: int = 0) -> dict[str, object]:
    """Return the fields of the formsets of wallets and keys, as a browser sends them."""
    fields: dict[str, object] = {"api_keys-TOTAL_FORMS": 0, "api_keys-INITIAL_FORMS": 0}
    fields |= {"payout_wallets-TOTAL_FORMS": len(wallets), "payout_wallets-INITIAL_FORMS": initial}
    for index, wallet in enumerate(wallets):
        fields |= {f"payout_wallets-{index}-{name}": value for name, value in wallet.items()}
    return fields


@pytest.mark.usefixtures("two_chains")
def test_a_partner_is_added_with_a_wallet_for_one_network(ops: Client) -> None:
    default, on_base = random_address(), random_address()
    response = ops.post(
        reverse("admin:partners_partner_add"),
        {"name": "Acme", "status": "active", "fee_share_bps": 2500, "payout_wallet": default}
        | wallets_form({"network": "eip155:8453", "address": on_base}),
    )
    assert response.status_code == 302
    partner = Partner.objects.get(name="Acme")
    assert partner.fee_share_bps == 2500
    assert partner.recipient_on("eip155:8453").lower() == on_base
    assert partner.recipient_on("eip155:42161").lower() == default


@pytest.mark.usefixtures("two_chains")
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"fee_share_bps": 10_001}, "between 0 and 10,000"),
        ({"payout_wallet": "0x" + "0" * 40}, "zero address"),
        ({"payout_wallet": "0x5AaEb6053F3E94C9b9A09f33669435E7Ef1BeAed"}, "EIP-55"),
        ({"payout_wallet": "vitalik.eth"}, "40 hex digits"),
    ],
)
def test_a_partner_that_would_lose_money_is_refused_with_the_reason(
    ops: Client, fields: dict[str, object], message: str
) -> None:
    good = {"name": "Acme", "status": "active", "fee_share_bps": 1, "payout_wallet": random_address()}
    response = ops.post(reverse("admin:partners_partner_add"), good | fields | wallets_form())
    assert response.status_code == 200
    assert message in response.content.decode()
    assert not Partner.objects.exists()


@pytest.mark.usefixtures("two_chains")
def test_a_wallet_is_accepted_for_enabled_chains_only(ops: Client) -> None:
    good = {"name": "Acme", "status": "active", "fee_share_bps": 1, "payout_wallet": random_address()}
    wallet = {"network": "eip155:999", "address": random_address()}
    response = ops.post(reverse("admin:partners_partner_add"), good | wallets_form(wallet))
    assert response.status_code == 200
    assert not PayoutWallet.objects.exists()


@pytest.mark.usefixtures("two_chains")
def test_the_wallet_of_a_disabled_chain_is_still_shown(ops: Client, partner: Partner) -> None:
    PayoutWalletFactory.create(partner=partner, network="eip155:777")
    page = ops.get(reverse("admin:partners_partner_change", args=[partner.pk])).content.decode()
    assert '<option value="eip155:777" selected>eip155:777</option>' in page


def test_a_partner_with_ledger_entries_cannot_be_deleted(ops: Client, partner: Partner) -> None:
    book_fee(partner)
    url = reverse("admin:partners_partner_delete", args=[partner.pk])
    ops.post(url, {"post": "yes"})
    assert Partner.objects.filter(pk=partner.pk).exists()
    with pytest.raises(ProtectedError):
        partner.delete()


def issue(ops: Client, partner: Partner) -> tuple[str, str]:
    """Issue a key through the form; return the page and the key on it."""
    response = ops.post(
        reverse("admin:partners_apikey_add"),
        {"partner": str(partner.pk), "name": "production", "expires_at_0": "", "expires_at_1": ""},
    )
    assert response.status_code == 200
    page = response.content.decode()
    [plaintext] = KEY.findall(page)
    assert "no-store" in response.headers["Cache-Control"]
    assert not list(get_messages(response.wsgi_request))
    return page, plaintext


def test_an_issued_key_is_shown_on_the_page_and_works(ops: Client, partner: Partner) -> None:
    _, plaintext = issue(ops, partner)
    assert Client().get("/v2/partner", headers={"x-api-key": plaintext}).status_code == 200


def test_the_secret_is_on_no_other_page_in_no_row_and_in_no_log(
    ops: Client, partner: Partner, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        _, plaintext = issue(ops, partner)
    secret = plaintext.rsplit("_", 1)[1]
    api_key = ApiKey.objects.get()
    urls = [
        reverse("admin:partners_apikey_changelist"),
        reverse("admin:partners_apikey_change", args=[api_key.pk]),
        reverse("admin:partners_apikey_history", args=[api_key.pk]),
        reverse("admin:partners_partner_change", args=[partner.pk]),
        reverse("admin:index"),
    ]
    for url in urls:
        response = ops.get(url)
        assert response.status_code == 200
        assert secret not in response.content.decode()
    kept = [str(vars(row)) for model in (ApiKey, LogEntry) for row in model._default_manager.all()]  # noqa: SLF001
    kept += [str(session.get_decoded()) for session in Session.objects.all()]
    assert secret not in "".join(kept)
    assert secret not in caplog.text


def test_selected_keys_are_revoked_and_the_history_says_so(ops: Client, partner: Partner) -> None:
    _, plaintext = issue(ops, partner)
    api_key = ApiKey.objects.get()
    response = ops.post(
        reverse("admin:partners_apikey_changelist"), {"action": "revoke_keys", "_selected_action": [api_key.pk]}
    )
    assert response.status_code == 302
    assert Client().get("/v2/partner", headers={"x-api-key": plaintext}).json()["error"]["code"] == "invalid_api_key"
    assert "Revoked." in LogEntry.objects.values_list("change_message", flat=True)


def test_keys_are_neither_changed_nor_deleted(ops: Client, partner: Partner) -> None:
    api_key, _ = ApiKey.issue(partner=partner, name="old")
    other = PartnerFactory.create()
    change = reverse("admin:partners_apikey_change", args=[api_key.pk])
    assert ops.post(change, {"partner": str(other.pk), "name": "new"}).status_code == 403
    assert ops.post(reverse("admin:partners_apikey_delete", args=[api_key.pk]), {"post": "yes"}).status_code == 403
    api_key.refresh_from_db()
    assert (api_key.name, api_key.partner) == ("old", partner)


def test_a_user_who_may_only_view_keys_cannot_revoke_them(partner: Partner) -> None:
    api_key, _ = ApiKey.issue(partner=partner, name="tests")
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_apikey"))
    client = Client()
    client.force_login(viewer)
    client.post(
        reverse("admin:partners_apikey_changelist"), {"action": "revoke_keys", "_selected_action": [api_key.pk]}
    )
    api_key.refresh_from_db()
    assert api_key.revoked_at is None
