"""GET /v2/partner: the partner of a key; and every result of authentication, which all endpoints share."""

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from partners import keys
from partners.models import ApiKey, Partner
from partners.serializers import PartnerSerializer
from sweepapi.modes import Mode
from tests.factories.partners import FeeShareFactory, PartnerFactory, PayoutWalletFactory, requester_of
from tests.openapi import assert_documented

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("two_chains")]

URL = "/v2/partner"


def answer_to(plaintext: str) -> tuple[int, str]:
    response = Client().get(URL, headers={"x-api-key": plaintext})
    return response.status_code, response.json()["error"]["code"]


def test_a_partner_sees_itself(api: Client, partner: Partner) -> None:
    on_base = PayoutWalletFactory.create(partner=partner, network="eip155:8453").address
    response = api.get(URL)
    assert response.status_code == 200
    assert response.json() == {
        "ok": True,
        "data": {
            "id": str(partner.pk),
            "onchainId": f"0x{partner.pk.hex}{'0' * 32}",
            "name": partner.name,
            "status": "active",
            "feeShareBps": 4000,
            "nextFeeShare": None,
            "recipients": [
                {"chain": "base", "chainId": 8453, "address": on_base},
                {"chain": "arbitrum", "chainId": 42161, "address": partner.payout_wallet},
            ],
            "mode": "test",
            "scopes": ["build", "read", "confirm", "ledger", "webhooks"],
        },
    }


def test_a_partner_sees_its_current_share_and_the_next_one(api: Client, partner: Partner) -> None:
    FeeShareFactory.create(partner=partner, share_bps=3000)
    for share_bps, year in ((1000, 2999), (2000, 2998)):
        FeeShareFactory.create(partner=partner, share_bps=share_bps, effective_from=datetime(year, 1, 1, tzinfo=UTC))
    response = api.get(URL)
    assert_documented(response, path=URL)
    data = response.json()["data"]
    assert data["feeShareBps"] == 3000
    assert data["nextFeeShare"] == {"feeShareBps": 2000, "effectiveFrom": "2998-01-01T00:00:00Z"}


def test_a_share_that_becomes_effective_during_the_answer_is_not_left_out(
    partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = datetime(2998, 1, 1, tzinfo=UTC)
    FeeShareFactory.create(partner=partner, share_bps=2000, effective_from=start)
    times = iter([start - timedelta(seconds=1), start])
    monkeypatch.setattr(timezone, "now", lambda: next(times))
    data = PartnerSerializer(partner, context={"requester": requester_of(partner)}).data
    assert (data["feeShareBps"], data["nextFeeShare"]["feeShareBps"]) == (4000, 2000)


def test_each_key_authenticates_its_own_partner(api: Client, partner: Partner) -> None:
    other = PartnerFactory.create()
    _, plaintext = ApiKey.issue(partner=other, name="other", mode=Mode.TEST)
    theirs = Client().get(URL, headers={"x-api-key": plaintext}).json()["data"]["name"]
    assert (api.get(URL).json()["data"]["name"], theirs) == (partner.name, other.name)


@pytest.mark.parametrize("headers", [{}, {"x-api-key": ""}, {"authorization": "Bearer x"}])
def test_a_request_without_a_key_is_refused(headers: dict[str, str]) -> None:
    response = Client().get(URL, headers=headers)
    assert (response.status_code, response.json()["error"]["code"]) == (401, "missing_api_key")
    assert response.headers["WWW-Authenticate"] == "x-api-key"


def test_malformed_unknown_revoked_and_expired_keys_get_the_same_answer(partner: Partner) -> None:
    revoked, revoked_plaintext = ApiKey.issue(partner=partner, name="revoked", mode=Mode.TEST)
    revoked.revoke()
    _, expired = ApiKey.issue(
        partner=partner, name="expired", mode=Mode.TEST, expires_at=timezone.now() - timedelta(seconds=1)
    )
    unknown = keys.generate(Mode.TEST).plaintext
    bodies = set()
    for plaintext in ("nonsense", "x" * 10_000, "é" * 70, unknown, revoked_plaintext, expired):
        response = Client().get(URL, headers={"x-api-key": plaintext, "x-request-id": "same"})
        assert response.status_code == 401
        bodies.add(response.content)
    assert len(bodies) == 1
    assert b"invalid_api_key" in bodies.pop()


def test_a_key_with_the_right_id_and_another_secret_is_invalid(api_key: str) -> None:
    """Build a well-formed key from the id of a live one, as an attacker who knows only the id could."""
    key_id = api_key.split("_")[2]
    other = keys.generate(Mode.TEST)
    body = other.plaintext[:-6].replace(other.key_id, key_id)
    forged = body + keys._checksum(body)  # noqa: SLF001 the attacker knows the format
    assert keys.public_part(forged) == (Mode.TEST, key_id)
    assert answer_to(forged) == (401, "invalid_api_key")


def test_a_key_whose_stored_mode_is_another_one_is_invalid(api_key: str) -> None:
    ApiKey.objects.update(mode=Mode.LIVE)
    assert answer_to(api_key) == (401, "invalid_api_key")


def test_keys_are_invalid_under_another_pepper(api_key: str, settings: Settings) -> None:
    settings.API_KEY_PEPPER = "another"
    assert answer_to(api_key) == (401, "invalid_api_key")


def test_a_key_that_will_expire_works_until_then(partner: Partner) -> None:
    _, plaintext = ApiKey.issue(
        partner=partner, name="soon", mode=Mode.TEST, expires_at=timezone.now() + timedelta(minutes=5)
    )
    assert Client().get(URL, headers={"x-api-key": plaintext}).status_code == 200


def test_several_keys_work_at_once_and_revoking_one_does_not_affect_the_others(partner: Partner) -> None:
    old, old_plaintext = ApiKey.issue(partner=partner, name="old", mode=Mode.TEST)
    _, new_plaintext = ApiKey.issue(partner=partner, name="new", mode=Mode.TEST)
    assert Client().get(URL, headers={"x-api-key": old_plaintext}).status_code == 200
    old.revoke()
    assert answer_to(old_plaintext) == (401, "invalid_api_key")
    assert Client().get(URL, headers={"x-api-key": new_plaintext}).status_code == 200


def test_only_a_valid_key_reveals_that_its_partner_is_suspended(partner: Partner, api_key: str) -> None:
    Partner.objects.filter(pk=partner.pk).update(status="suspended")
    assert answer_to(api_key) == (403, "partner_suspended")
    ApiKey.objects.get().revoke()
    assert answer_to(api_key) == (401, "invalid_api_key")


def test_the_last_use_is_recorded_at_most_once_a_minute(
    api: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(6):  # the key; the time of its use; the partner; its wallets; both shares
        api.get(URL)
    first = ApiKey.objects.get().last_used_at
    with django_assert_num_queries(5):
        api.get(URL)
    assert ApiKey.objects.get().last_used_at == first
    assert first is not None
    ApiKey.objects.update(last_used_at=first - timedelta(seconds=61))
    api.get(URL)
    assert ApiKey.objects.get().last_used_at > first  # type: ignore[operator]


def test_unknown_wrong_revoked_and_expired_keys_take_the_same_queries(
    partner: Partner, api_key: str, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    unknown = keys.generate(Mode.TEST)
    body = unknown.plaintext[:-6].replace(unknown.key_id, api_key.split("_")[2])
    wrong = body + keys._checksum(body)  # noqa: SLF001 the attacker knows the format
    revoked, revoked_plaintext = ApiKey.issue(partner=partner, name="revoked", mode=Mode.TEST)
    revoked.revoke()
    ended = timezone.now() - timedelta(seconds=1)
    _, expired = ApiKey.issue(partner=partner, name="expired", mode=Mode.TEST, expires_at=ended)
    for plaintext in (unknown.plaintext, wrong, revoked_plaintext, expired):
        with django_assert_num_queries(1):
            assert answer_to(plaintext) == (401, "invalid_api_key")


def test_a_malformed_key_takes_no_query(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(0):
        assert answer_to("swp_test_nonsense") == (401, "invalid_api_key")


def test_the_use_of_a_refused_key_is_not_recorded(partner: Partner) -> None:
    revoked, plaintext = ApiKey.issue(partner=partner, name="revoked", mode=Mode.TEST)
    revoked.revoke()
    answer_to(plaintext)
    assert ApiKey.objects.get().last_used_at is None


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete", "options"])
def test_only_get_is_allowed(api: Client, method: str) -> None:
    response = getattr(api, method)(URL)
    assert (response.status_code, response.json()["error"]["code"]) == (405, "method_not_allowed")
