"""The admin manages partners and issues keys whose secret is shown once."""

import logging
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.contrib.messages import get_messages
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone
from django.utils.html import strip_tags
from eth_utils.address import to_checksum_address

from partners.models import SCOPES, ApiKey, FeeShare, Partner, PayoutWallet
from sweepapi.modes import Mode
from tests.factories.partners import FeeShareFactory, PartnerFactory, PayoutWalletFactory, random_address
from tests.operator_browser import ConsoleClient, reverse
from tests.solana_cluster import SolanaCluster

pytestmark = pytest.mark.django_db

KEY = re.compile(r"swp_test_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}")


def rows_of(prefix: str, rows: Sequence[Mapping[str, object]], *, initial: int = 0) -> dict[str, object]:
    """Return the fields of a formset, as a browser sends them."""
    fields: dict[str, object] = {f"{prefix}-TOTAL_FORMS": len(rows), f"{prefix}-INITIAL_FORMS": initial}
    for index, row in enumerate(rows):
        fields |= {f"{prefix}-{index}-{name}": value for name, value in row.items()}
    return fields


def new_partner(*wallets: Mapping[str, object], **changes: object) -> dict[str, object]:
    """Return the form of a partner with 1 bps of the fee."""
    facts = {"name": "Acme", "status": "active", "payout_wallet": random_address(), "share_bps": 1} | changes
    share = {"share_bps": facts.pop("share_bps")}
    return facts | rows_of("fee_shares", [share]) | rows_of("payout_wallets", wallets) | rows_of("api_keys", [])


@pytest.mark.usefixtures("two_chains")
def test_a_partner_is_added_with_a_wallet_for_one_network(ops: Client) -> None:
    default, on_base = random_address(), random_address()
    response = ops.post(
        reverse("admin:partners_partner_add"),
        new_partner({"network": "eip155:8453", "address": on_base}, share_bps=2500, payout_wallet=default),
    )
    assert response.status_code == 302
    partner = Partner.objects.get(name="Acme")
    assert partner.share_bps_at(timezone.now()) == 2500
    assert partner.recipient_on("eip155:8453") == to_checksum_address(on_base)
    assert partner.recipient_on("eip155:42161") == to_checksum_address(default)


@pytest.mark.usefixtures("two_chains")
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"share_bps": ""}, "This field is required"),
        ({"share_bps": 10_001}, "between 0 and 10,000"),
        ({"payout_wallet": "0x" + "0" * 40}, "zero address"),
        ({"payout_wallet": "0x5AaEb6053F3E94C9b9A09f33669435E7Ef1BeAed"}, "EIP-55"),
        ({"payout_wallet": "vitalik.eth"}, "40 hex digits"),
    ],
)
def test_a_partner_that_would_lose_money_is_refused_with_the_reason(
    ops: Client, fields: dict[str, object], message: str
) -> None:
    response = ops.post(reverse("admin:partners_partner_add"), new_partner(**fields))
    assert response.status_code == 200
    assert message in response.content.decode()
    assert not Partner.objects.exists()


@pytest.mark.usefixtures("two_chains")
def test_a_wallet_is_accepted_for_enabled_chains_only(ops: Client) -> None:
    wallet = {"network": "eip155:999", "address": random_address()}
    response = ops.post(reverse("admin:partners_partner_add"), new_partner(wallet))
    assert response.status_code == 200
    assert not PayoutWallet.objects.exists()


def test_a_wallet_on_solana_is_added(ops: Client, cluster: SolanaCluster) -> None:
    wallet = {"network": cluster.network, "address": str(cluster.fee_wallet)}
    assert ops.post(reverse("admin:partners_partner_add"), new_partner(wallet)).status_code == 302
    assert Partner.objects.get().recipient_on(cluster.network) == str(cluster.fee_wallet)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        (random_address(), "Solana takes a base58 key"),
        ("1" * 32, "zero address"),
        ("1" * 33, "32 bytes in base58"),
        ("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt", "32 bytes in base58"),
        ("alice.sol", "32 bytes in base58"),
    ],
)
def test_a_bad_wallet_on_solana_is_refused_with_the_reason(
    ops: Client, cluster: SolanaCluster, address: str, message: str
) -> None:
    response = ops.post(
        reverse("admin:partners_partner_add"), new_partner({"network": cluster.network, "address": address})
    )
    assert message in response.content.decode()
    assert not Partner.objects.exists()


@pytest.mark.usefixtures("two_chains")
def test_the_wallet_of_a_disabled_chain_is_still_shown(ops: Client, partner: Partner) -> None:
    PayoutWalletFactory.create(partner=partner, network="eip155:777")
    page = ops.get(reverse("admin:partners_partner_change", args=[partner.pk])).content.decode()
    assert '<option value="eip155:777" selected>eip155:777</option>' in page


def test_a_partner_cannot_be_deleted(ops: Client, partner: Partner) -> None:
    response = ops.post(reverse("admin:partners_partner_delete", args=[partner.pk]), {"post": "yes"})
    assert response.status_code == 403


def test_a_partner_without_a_share_is_refused(ops: Client) -> None:
    form = new_partner() | rows_of("fee_shares", [])
    assert "at least 1 form" in ops.post(reverse("admin:partners_partner_add"), form).content.decode()
    assert not Partner.objects.exists()


def test_the_first_share_is_effective_at_once_whatever_time_is_sent(ops: Client) -> None:
    form = new_partner() | {"fee_shares-0-effective_from_0": "2999-01-31", "fee_shares-0-effective_from_1": "12:00"}
    assert ops.post(reverse("admin:partners_partner_add"), form).status_code == 302
    share = FeeShare.objects.get()
    assert share.effective_from == share.created_at


def test_a_user_who_may_add_partners_enters_their_first_share_and_no_other() -> None:
    user = User.objects.create_user("sales", is_staff=True)
    names = ["add_partner", "change_partner", "view_feeshare"]
    user.user_permissions.set(Permission.objects.filter(codename__in=names))
    client = ConsoleClient()
    client.force_login(user)
    assert client.post(reverse("admin:partners_partner_add"), new_partner(share_bps=2500)).status_code == 302
    partner = Partner.objects.get()
    form = changed(partner, {"share_bps": 9999, "effective_from_0": "", "effective_from_1": ""})
    client.post(reverse("admin:partners_partner_change", args=[partner.pk]), form)
    assert partner.fee_shares.get().share_bps == 2500


def changed(partner: Partner, *shares: Mapping[str, object]) -> dict[str, object]:
    """Return the form of a partner with its stored shares, newest first as on the page, and these after them."""
    stored = [{"id": share.pk, "partner": partner.pk} for share in partner.fee_shares.all()]
    added = [{"partner": partner.pk, **share} for share in shares]
    facts = {"name": partner.name, "status": "active", "payout_wallet": partner.payout_wallet}
    rows = rows_of("fee_shares", [*stored, *added], initial=len(stored))
    return facts | rows | rows_of("payout_wallets", []) | rows_of("api_keys", [])


def test_a_share_without_a_time_is_effective_at_once_and_in_the_partners_history(ops: Client, partner: Partner) -> None:
    url = reverse("admin:partners_partner_change", args=[partner.pk])
    form = changed(partner, {"share_bps": 2500, "effective_from_0": "", "effective_from_1": ""})
    assert ops.post(url, form).status_code == 302
    share = partner.fee_shares.latest("id")
    assert share.effective_from == share.created_at
    assert partner.share_bps_at(timezone.now()) == 2500
    assert f"{share}" in LogEntry.objects.get().get_change_message()


def test_a_share_is_scheduled(ops: Client, partner: Partner) -> None:
    url = reverse("admin:partners_partner_change", args=[partner.pk])
    form = changed(partner, {"share_bps": 2500, "effective_from_0": "2999-01-31", "effective_from_1": "12:00"})
    assert ops.post(url, form).status_code == 302
    assert partner.fee_shares.latest("id").effective_from == datetime(2999, 1, 31, 12, tzinfo=UTC)
    assert partner.share_bps_at(timezone.now()) == 4000


def test_a_share_from_a_past_time_is_refused_with_the_reason(ops: Client, partner: Partner) -> None:
    url = reverse("admin:partners_partner_change", args=[partner.pk])
    form = changed(partner, {"share_bps": 2500, "effective_from_0": "2026-01-31", "effective_from_1": "12:00"})
    assert "sweeps were built with the earlier share" in ops.post(url, form).content.decode()
    assert partner.fee_shares.count() == 1


def test_a_stored_share_is_neither_changed_nor_deleted(ops: Client, partner: Partner) -> None:
    before = list(partner.fee_shares.values())
    forged = {"fee_shares-0-share_bps": 1, "fee_shares-0-DELETE": "on"}
    url = reverse("admin:partners_partner_change", args=[partner.pk])
    assert ops.post(url, changed(partner) | forged).status_code == 302
    assert list(partner.fee_shares.values()) == before


def test_the_page_shows_shares_newest_first_and_which_one_counts(ops: Client, partner: Partner) -> None:
    now = timezone.now()
    for share_bps, days in ((1111, -3), (2222, -2), (3333, -2), (4444, 2), (5555, 2), (6666, 3)):
        FeeShareFactory.create(partner=partner, share_bps=share_bps, effective_from=now + timedelta(days=days))
    page = ops.get(reverse("admin:partners_partner_change", args=[partner.pk])).content.decode()
    text = " ".join(strip_tags(page[page.index('id="fee_shares-group"') :]).split())
    shown = re.findall(r"(\d{4}) \d{4}-.*? (past|current|replaced|scheduled) ", text)
    assert shown == [
        ("6666", "scheduled"),
        ("5555", "scheduled"),
        ("4444", "replaced"),
        ("3333", "current"),
        ("2222", "replaced"),
        ("1111", "past"),
        ("4000", "past"),
    ]


def test_the_list_of_partners_shows_the_current_share(ops: Client, partner: Partner) -> None:
    FeeShareFactory.create(partner=partner, share_bps=2345)
    FeeShareFactory.create(partner=partner, share_bps=3456, effective_from=timezone.now() + timedelta(days=1))
    page = ops.get(reverse("admin:partners_partner_changelist")).content.decode()
    assert "2345" in page
    assert "3456" not in page


def new_key(partner: Partner, **changes: object) -> dict[str, object]:
    """Return the form of a key that may do everything."""
    times = {"expires_at_0": "", "expires_at_1": ""}
    rights = {"mode": "test", "scopes": SCOPES, "allowed_ips": ""}
    return {"partner": str(partner.pk), "name": "production", **rights, **times, **changes}


def issue(ops: Client, partner: Partner) -> tuple[str, str]:
    """Issue a key through the form; return the page and the key on it."""
    return shown_once(ops.post(reverse("admin:partners_apikey_add"), new_key(partner)))


def shown_once(response: Any) -> tuple[str, str]:
    """Return the page and the key on it, which is nowhere else in the response."""
    assert response.status_code == 200
    page = response.content.decode()
    [plaintext] = KEY.findall(page)
    assert "no-store" in response.headers["Cache-Control"]
    assert not list(get_messages(response.wsgi_request))
    return page, plaintext


def test_an_issued_key_is_shown_on_the_page_and_works(ops: Client, partner: Partner) -> None:
    _, plaintext = issue(ops, partner)
    assert Client().get("/v2/partner", headers={"x-api-key": plaintext}).status_code == 200


def test_a_key_is_issued_with_its_rights(ops: Client, partner: Partner) -> None:
    page = ops.get(reverse("admin:partners_apikey_add")).content.decode()
    assert len(re.findall(r'<input[^>]*name="scopes"[^>]* checked', page)) == len(SCOPES)
    form = new_key(partner, mode="live", scopes=["read", "ledger"], allowed_ips="198.51.100.7,10.0.0.0/8")
    assert ops.post(reverse("admin:partners_apikey_add"), form).status_code == 200
    key = ApiKey.objects.get()
    assert (key.mode, key.scopes, key.allowed_ips) == ("live", ["read", "ledger"], ["198.51.100.7", "10.0.0.0/8"])


@pytest.mark.parametrize(
    "wrong", [{"scopes": []}, {"scopes": ["admin"]}, {"mode": "dev"}, {"mode": ""}, {"allowed_ips": "10.0.0.1/8"}]
)
def test_a_key_with_rights_that_do_not_exist_is_not_issued(
    ops: Client, partner: Partner, wrong: dict[str, object]
) -> None:
    page = ops.post(reverse("admin:partners_apikey_add"), new_key(partner, **wrong)).content.decode()
    assert "errorlist" in page or "text-red" in page
    assert not ApiKey.objects.exists()


def rotate(client: Client, *api_keys: ApiKey) -> Any:
    chosen = {"action": "rotate_key", "_selected_action": [key.pk for key in api_keys]}
    return client.post(reverse("admin:partners_apikey_changelist"), chosen)


def test_a_rotated_keys_successor_is_shown_once_and_both_work(ops: Client, partner: Partner) -> None:
    _, old_plaintext = issue(ops, partner)
    old = ApiKey.objects.get()
    _, plaintext = shown_once(rotate(ops, old))
    for key in (old_plaintext, plaintext):
        assert Client().get("/v2/partner", headers={"x-api-key": key}).status_code == 200
    successor = ApiKey.objects.exclude(pk=old.pk).get()
    assert f"Replaced by {successor.key_id}." in LogEntry.objects.values_list("change_message", flat=True)
    again = rotate(ops, old)
    assert f"The key was replaced by {successor.key_id}." in [str(said) for said in get_messages(again.wsgi_request)]
    assert ApiKey.objects.count() == 2


def test_only_one_key_is_rotated_at_a_time(ops: Client, partner: Partner) -> None:
    pair = [ApiKey.issue(partner=partner, name=name, mode=Mode.TEST)[0] for name in ("one", "two")]
    assert rotate(ops, *pair).status_code == 302
    assert ApiKey.objects.count() == 2


def test_a_user_who_may_only_revoke_keys_cannot_rotate_them(partner: Partner) -> None:
    api_key, _ = ApiKey.issue(partner=partner, name="tests", mode=Mode.TEST)
    user = User.objects.create_user("support", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=["view_apikey", "change_apikey"]))
    client = ConsoleClient()
    client.force_login(user)
    rotate(client, api_key)
    assert ApiKey.objects.count() == 1


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


def test_keys_are_neither_changed_nor_deleted(ops: Client, partner: Partner) -> None:
    api_key, _ = ApiKey.issue(partner=partner, name="old", mode=Mode.TEST)
    other = PartnerFactory.create()
    change = reverse("admin:partners_apikey_change", args=[api_key.pk])
    assert ops.post(change, {"partner": str(other.pk), "name": "new"}).status_code == 403
    assert ops.post(reverse("admin:partners_apikey_delete", args=[api_key.pk]), {"post": "yes"}).status_code == 403
    api_key.refresh_from_db()
    assert (api_key.name, api_key.partner) == ("old", partner)


def test_a_user_who_may_only_view_keys_cannot_revoke_them(partner: Partner) -> None:
    api_key, _ = ApiKey.issue(partner=partner, name="tests", mode=Mode.TEST)
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_apikey"))
    client = ConsoleClient()
    client.force_login(viewer)
    action = reverse("admin:partners_apikey_revoke", args=[api_key.pk])
    assert client.post(action, {"_form_submitted": "true", "reason": "x"}).status_code == 403
    api_key.refresh_from_db()
    assert api_key.revoked_at is None
