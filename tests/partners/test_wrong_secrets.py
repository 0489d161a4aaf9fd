"""Wrong secrets are limited by address and counted by key; the right one passes whatever others send."""

from uuid import uuid4

import pytest
from django.test import Client
from prometheus_client import REGISTRY
from pytest_django import Settings

from partners import keys, wrong_secrets
from partners.models import ApiKey
from sweepapi.modes import Mode

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("two_chains", "patient")]

URL = "/v2/partner"


@pytest.fixture(autouse=True)
def few(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three wrong keys at once, and another one after an hour, for which no test waits."""
    settings.RATE_LIMIT_FACTOR = 1
    monkeypatch.setattr(wrong_secrets, "BURST", 3)
    monkeypatch.setattr(wrong_secrets, "PER_SECOND", 1 / 3600)


def an_address() -> str:
    """Return an address of which no bucket knows yet; what Redis holds outlives a test."""
    number = uuid4().int
    return f"2001:db8:{number >> 16 & 0xFFFF:x}:{number & 0xFFFF:x}::1"


def forged(api_key: str) -> str:
    """Return a well-formed key of the same id with another secret."""
    other = keys.generate(Mode.TEST)
    body = other.plaintext[:-6].replace(other.key_id, api_key.split("_")[2])
    return body + keys._checksum(body)  # noqa: SLF001 the attacker knows the format


def sent(plaintext: str, address: str) -> int:
    return Client(REMOTE_ADDR=address).get(URL, headers={"x-api-key": plaintext}).status_code


def counted(key_id: str) -> float:
    return REGISTRY.get_sample_value("sweepapi_wrong_secrets_total", {"key_id": key_id}) or 0.0


def test_an_address_that_sends_many_wrong_keys_is_told_to_wait_and_the_right_key_passes(api_key: str) -> None:
    address = an_address()
    wrong = [forged(api_key), keys.generate(Mode.TEST).plaintext, "nonsense", forged(api_key)]
    assert [sent(one, address) for one in wrong] == [401, 401, 401, 429]
    assert sent(api_key, address) == 200
    refused = Client(REMOTE_ADDR=address).get(URL, headers={"x-api-key": forged(api_key)})
    assert refused.json()["error"]["code"] == "rate_limited"
    assert 3500 < int(refused.headers["Retry-After"]) <= 3600


def test_other_addresses_are_not_concerned_and_those_of_one_ipv6_network_share_a_limit(api_key: str) -> None:
    address = an_address()
    neighbours = [address.replace("::1", f"::{number}") for number in range(2, 5)]
    assert [sent(forged(api_key), one) for one in neighbours] == [401] * 3
    assert sent(forged(api_key), address) == 429
    assert sent(forged(api_key), an_address()) == 401


def test_what_was_right_before_it_was_revoked_counts_as_wrong(api_key: str) -> None:
    ApiKey.objects.get().revoke()
    address = an_address()
    assert [sent(api_key, address) for _ in range(4)] == [401, 401, 401, 429]


def test_refused_keys_are_counted_by_the_id_of_the_key_if_there_is_one(api_key: str) -> None:
    key_id, strange = api_key.split("_")[2], keys.generate(Mode.TEST)
    unknown = counted("unknown")
    for plaintext in (forged(api_key), strange.plaintext, "nonsense", api_key):
        sent(plaintext, an_address())
    assert (counted(key_id), counted(strange.key_id), counted("unknown") - unknown) == (1, 0, 2)


def test_without_redis_each_process_limits_by_itself(api_key: str, settings: Settings) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1"
    address = an_address()
    assert [sent(forged(api_key), address) for _ in range(4)] == [401, 401, 401, 429]
    assert sent(api_key, address) == 200
