"""Each key, and all keys of a partner together, may send so many requests; each answer says what is left."""

import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from prometheus_client import REGISTRY
from pytest_django import Settings

from partners.limits import validate_limits
from partners.models import ApiKey, Partner
from sweepapi.api.input.budgets import LARGEST_BODY_BYTES
from sweepapi.limits import shared_buckets
from sweepapi.modes import Mode

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("two_chains", "patient")]

URL = "/v2/partner"
SWEEP_ID = "019bb286-3ae0-7b00-811c-fdc880dd81d4"
HOURLY = 1 / 3600
DEADLINE_SECONDS = shared_buckets.TIMEOUT_SECONDS
OPERATIONS = {
    "build": [
        *("/v2/sweep/build", "/v2/sweep/quote", f"/v2/sweep/build/{SWEEP_ID}/refresh", "/v1/sweep/build"),
        f"/v2/sweep/status/{SWEEP_ID}/finalize",
        *("/v2/webhooks", f"/v2/webhooks/{SWEEP_ID}/ping", f"/v2/webhooks/{SWEEP_ID}/replay"),
    ],
    "discover": ["/v2/sweep/discover", "/v1/sweep/discover"],
    "read": [f"/v2/sweep/status/{SWEEP_ID}/confirm", f"/v2/sweep/status/{SWEEP_ID}/cancel"],
}
READS = [
    URL,
    "/v2/webhooks",
    "/v2/sweep/history",
    "/v1/sweep/history",
    "/v2/ledger/entries",
    f"/v2/sweep/status/{SWEEP_ID}",
]


def limit(partner: Partner, **bursts: int) -> None:
    """Set these bursts by policy; a token is refilled in an hour, for which no test waits."""
    partner.rate_limits = {policy: {"perSecond": HOURLY, "burst": burst} for policy, burst in bursts.items()}
    partner.save()


def other_key(partner: Partner, mode: Mode = Mode.TEST) -> Client:
    _, plaintext = ApiKey.issue(partner=partner, name="other", mode=mode)
    return Client(headers={"x-api-key": plaintext})


def fields(response: Any) -> tuple[str | None, str | None]:
    return response.headers.get("RateLimit-Policy"), response.headers.get("RateLimit")


def test_a_key_that_sent_too_much_is_refused_and_learns_when_to_retry(api: Client, partner: Partner) -> None:
    limit(partner, read=2)
    assert [api.get(URL).status_code for _ in range(3)] == [200, 200, 429]
    response = api.get(URL)
    error = response.json()["error"]
    assert (error["code"], error["retryable"]) == ("rate_limited", True)
    wait = int(response.headers["Retry-After"])
    assert 3500 < wait <= 3600
    assert fields(response) == ('"read";q=2;w=7200', f'"read";r=0;t={wait}')


def test_each_answer_says_what_is_left(api: Client, partner: Partner) -> None:
    limit(partner, read=3)
    policies, left = zip(*(fields(api.get(URL)) for _ in range(3)), strict=True)
    assert set(policies) == {'"read";q=3;w=10800'}
    assert [re.fullmatch(r'"read";r=(\d);t=\d+', one)[1] for one in left] == ["2", "1", "0"]  # type: ignore[index]


def test_the_default_limits_are_those_that_were_promised(api: Client, settings: Settings) -> None:
    settings.RATE_LIMIT_FACTOR = 1
    promised = {"build": '"build";q=60;w=3', "discover": '"discover";q=15;w=3', "read": '"read";q=300;w=3'}
    for policy, paths in OPERATIONS.items():
        for path in paths:
            assert fields(api.post(path, {}, content_type="application/json"))[0] == promised[policy], path
    for path in READS:
        assert fields(api.get(path))[0] == promised["read"], path


def test_a_factor_that_allows_more_than_a_million_requests_a_second_does_not_fail(
    api: Client, settings: Settings
) -> None:
    settings.RATE_LIMIT_FACTOR = 1e9
    assert api.post("/v2/sweep/quote", {}, content_type="application/json").status_code == 400


def test_operations_of_a_policy_share_its_bucket_and_others_have_their_own(api: Client, partner: Partner) -> None:
    limit(partner, build=len(OPERATIONS["build"]), discover=1, read=1)
    for path in OPERATIONS["build"]:
        assert api.post(path, {}, content_type="application/json").status_code != 429
    assert api.post("/v2/sweep/quote", {}, content_type="application/json").status_code == 429
    assert api.post("/v2/sweep/discover", {}, content_type="application/json").status_code == 400
    assert api.get(URL).status_code == 200


def test_the_keys_of_a_partner_share_four_times_the_limit(api: Client, partner: Partner) -> None:
    limit(partner, read=1)
    clients = [api, *(other_key(partner) for _ in range(4))]
    assert [client.get(URL).status_code for client in clients] == [200, 200, 200, 200, 429]
    refused = clients[-1].get(URL)
    assert fields(refused)[0] == '"read-partner";q=4;w=3600'


def test_a_request_that_the_partners_limit_refuses_costs_the_key_nothing(api: Client, partner: Partner) -> None:
    limit(partner, read=2)
    for client in [api, *(other_key(partner) for _ in range(3))]:
        assert [client.get(URL).status_code for _ in range(2)] == [200, 200]
    late = other_key(partner)
    assert late.get(URL).status_code == 429
    limit(partner, read=20)
    assert fields(late.get(URL))[1].startswith('"read";r=19;')  # type: ignore[union-attr]


def test_test_keys_do_not_use_up_the_limit_of_live_keys(api: Client, partner: Partner) -> None:
    limit(partner, read=1)
    for client in [api, *(other_key(partner) for _ in range(4))]:
        client.get(URL)
    assert other_key(partner, Mode.LIVE).get(URL).status_code == 200


def test_a_refused_key_is_not_counted_and_learns_nothing(partner: Partner) -> None:
    client = other_key(partner)
    ApiKey.objects.get().revoke()
    assert fields(client.get(URL)) == (None, None)


@pytest.mark.usefixtures("unmeasured")
def test_public_endpoints_are_not_counted(anonymous: Client) -> None:
    for path in ("/v2/status", "/v1/status", "/v2/openapi.json"):
        assert fields(anonymous.get(path)) == (None, None)


# --- refused bodies ---------------------------------------------------------------------------------------------------

CONFIRM = f"/v2/sweep/status/{SWEEP_ID}/confirm"
HASH = {"txHash": "0x" + "ab" * 32}


def test_refused_bodies_have_a_limit_of_their_own_and_a_key_at_it_can_still_read(api: Client, partner: Partner) -> None:
    limit(partner, refused=3)
    sent: list[dict[str, Any]] = [{}, {"txHash": 1}, {"unknown": 1}, {}, HASH]
    statuses = [api.post(CONFIRM, body, content_type="application/json").status_code for body in sent]
    assert statuses == [400, 400, 400, 429, 429]
    assert fields(api.post("/v2/webhooks", {}, content_type="application/json"))[0] == '"refused";q=3;w=10800'
    assert api.get(URL).status_code == 200


def test_a_body_that_is_too_long_or_no_json_is_refused_as_well(api: Client, partner: Partner) -> None:
    limit(partner, refused=2)
    sent = [(b" " * (LARGEST_BODY_BYTES + 1), "application/json"), (b"{}", "text/plain"), (b"{}", "application/json")]
    assert [api.post(CONFIRM, body, content_type=kind).status_code for body, kind in sent] == [413, 415, 429]


def test_a_body_that_is_read_costs_no_refusal_whatever_becomes_of_it(api: Client, partner: Partner) -> None:
    limit(partner, refused=1)
    statuses = [api.post(CONFIRM, HASH, content_type="application/json").status_code for _ in range(3)]
    assert statuses == [404] * 3
    assert fields(api.post(CONFIRM, HASH, content_type="application/json"))[0].startswith('"read";')  # type: ignore[union-attr]
    assert api.post(CONFIRM, {}, content_type="application/json").status_code == 400


@pytest.mark.usefixtures("silent_redis")
def test_without_redis_each_process_limits_refused_bodies_and_right_ones_pass(api: Client, partner: Partner) -> None:
    limit(partner, read=1, refused=2)
    sent = [HASH, HASH, {}, {}, {}, HASH]
    statuses = [api.post(CONFIRM, body, content_type="application/json").status_code for body in sent]
    assert statuses == [404, 404, 400, 400, 429, 429]


# --- without Redis ----------------------------------------------------------------------------------------------------


class SilentRedis:
    """A server that accepts connections and never answers."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._listening.settimeout(0)
        self._accepted: list[socket.socket] = []
        self.url = f"redis://127.0.0.1:{self._listening.getsockname()[1]}"

    def tries(self) -> int:
        """Return how often it was connected to until now."""
        with suppress(BlockingIOError):
            while True:
                self._accepted.append(self._listening.accept()[0])
        return len(self._accepted)

    def close(self) -> None:
        for one in (self._listening, *self._accepted):
            one.close()


@pytest.fixture
def silent_redis(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[SilentRedis]:
    """The Redis that the service uses does not answer within the real deadline."""
    monkeypatch.setattr(shared_buckets, "TIMEOUT_SECONDS", DEADLINE_SECONDS)
    server = SilentRedis()
    settings.REDIS_URL = server.url
    yield server
    server.close()


def fallbacks(policy: str) -> float:
    return REGISTRY.get_sample_value("sweepapi_rate_limit_fallback_total", {"policy": policy}) or 0.0


@pytest.mark.usefixtures("silent_redis")
def test_without_redis_each_process_limits_builds_and_discovers_and_reads_pass(api: Client, partner: Partner) -> None:
    limit(partner, build=1, discover=1, read=1)
    before = {policy: fallbacks(policy) for policy in OPERATIONS}
    for path in ("/v2/sweep/quote", "/v2/sweep/discover"):
        statuses = [api.post(path, {}, content_type="application/json").status_code for _ in range(2)]
        assert statuses == [400, 429]
    reads = [api.get(URL) for _ in range(5)]
    assert {response.status_code for response in reads} == {200}
    assert {fields(response) for response in reads} == {(None, None)}
    assert {policy: fallbacks(policy) - before[policy] for policy in OPERATIONS} == {
        "build": 2,
        "discover": 2,
        "read": 5,
    }


def test_a_silent_redis_is_left_alone_for_a_second_and_then_tried_once(
    api: Client, silent_redis: SilentRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("sweepapi.postgres.breaker.monotonic", lambda: now[0])
    tries = []
    for now[0] in (0.0, 0.5, 0.99, 1.01, 1.5):
        assert api.get(URL).status_code == 200
        tries.append(silent_redis.tries())
    assert tries == [1, 1, 1, 2, 2]


def test_redis_is_used_again_once_it_answers(api: Client, partner: Partner, settings: Settings) -> None:
    limit(partner, read=5)
    real, settings.REDIS_URL = settings.REDIS_URL, "redis://127.0.0.1:1"
    assert fields(api.get(URL)) == (None, None)
    settings.REDIS_URL = real
    shared_buckets._shared.cache_clear()  # noqa: SLF001 instead of waiting
    assert fields(api.get(URL))[0] == '"read";q=5;w=18000'


# --- limits of a partner ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        {"reads": {"perSecond": 1, "burst": 1}},
        {"read": 5},
        {"read": {"perSecond": 1}},
        {"read": {"perSecond": 1, "burst": 1, "more": 1}},
        {"read": {"perSecond": 0, "burst": 1}},
        {"read": {"perSecond": 1e-20, "burst": 1}},
        {"read": {"perSecond": "1", "burst": 1}},
        {"read": {"perSecond": True, "burst": 1}},
        {"read": {"perSecond": 1e9, "burst": 1}},
        {"read": {"perSecond": float("nan"), "burst": 1}},
        {"read": {"perSecond": 1, "burst": 0}},
        {"read": {"perSecond": 1, "burst": 1.5}},
        {"read": {"perSecond": 1, "burst": 10**9}},
    ],
)
def test_limits_that_cannot_be_kept_are_refused(wrong: object) -> None:
    with pytest.raises(ValidationError):
        validate_limits(wrong)


def test_limits_of_a_partner_are_validated_before_they_are_stored(partner: Partner) -> None:
    partner.rate_limits = {"read": {"perSecond": 0, "burst": 1}}
    with pytest.raises(ValidationError, match="perSecond"):
        partner.full_clean()
