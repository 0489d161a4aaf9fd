"""/v2/webhooks: partners manage their endpoints by themselves, each only its own."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from partners.models import ApiKey, IdempotencyRecord, Partner
from partners.webhooks import outbox, signing
from partners.webhooks.models import WebhookDelivery, WebhookEndpoint, WebhookMessage
from partners.webhooks.public_events import SWEEP_TYPES
from sweepapi.modes import Mode
from tests.factories.partners import PartnerFactory
from tests.factories.webhooks import a_message, an_endpoint
from tests.openapi import assert_documented
from tests.partners.webhooks.stepwise import StepwiseDeliverer
from tests.webhook_receiver import Receiver

pytestmark = pytest.mark.django_db

URL = "/v2/webhooks"
ONE = f"{URL}/{{webhook_id}}"
TARGET = "https://partner.example/hooks"
JSON = "application/json"


def post(api: Client, path: str, body: dict[str, Any] | None = None) -> Any:
    return api.post(path, body or {}, content_type=JSON)


def created(api: Client, **choices: Any) -> dict[str, Any]:
    response = post(api, URL, {"url": TARGET, **choices})
    assert response.status_code == 201
    assert_documented(response, path=URL)
    data: dict[str, Any] = response.json()["data"]
    return data


def error_of(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


def refused_fields(response: Any) -> list[tuple[str, str]]:
    assert error_of(response) == (400, "invalid_request")
    return [(detail["field"], detail["code"]) for detail in response.json()["error"]["details"]]


@pytest.fixture
def theirs() -> WebhookEndpoint:
    """An endpoint of another partner."""
    return an_endpoint(PartnerFactory.create())


def test_a_new_endpoint_receives_everything_thin_and_instantly(api: Client) -> None:
    data = created(api)
    endpoint = data["endpoint"]
    assert {name: endpoint[name] for name in ("url", "description", "types", "timing", "payload", "enabled")} == {
        "url": TARGET,
        "description": "",
        "types": None,
        "timing": "instant",
        "payload": "thin",
        "enabled": True,
    }
    assert endpoint["health"] == {"failures": 0, "failingSince": None, "pausedUntil": None}
    stored = WebhookEndpoint.objects.get()
    assert data["secret"] == signing.decrypt(stored.secret, endpoint_id=stored.id)
    assert (str(stored.id), stored.mode) == (endpoint["id"], "test")


def test_no_answer_with_a_secret_is_kept_for_an_idempotency_key(api: Client) -> None:
    headers = {"Idempotency-Key": "order-1"}
    response = api.post(URL, {"url": TARGET}, content_type=JSON, headers=headers)
    assert response.status_code == 201
    rotate = f"{URL}/{response.json()['data']['endpoint']['id']}/rotate-secret"
    assert api.post(rotate, {}, content_type=JSON, headers=headers).status_code == 200
    assert not IdempotencyRecord.objects.exists()


def test_a_partner_chooses_types_timing_and_payload(api: Client) -> None:
    choices = {"types": ["sweep.finalized", "sweep.failed"], "timing": "final", "payload": "full", "description": "é"}
    endpoint = created(api, **choices)["endpoint"]
    assert endpoint["types"] == ["sweep.failed", "sweep.finalized"]
    assert (endpoint["timing"], endpoint["payload"], endpoint["description"]) == ("final", "full", "é")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, [("url", "required")]),
        ({"url": 7}, [("url", "invalid_type")]),
        ({"url": None}, [("url", "invalid_type")]),
        ({"url": "nonsense"}, [("url", "invalid_format")]),
        ({"url": f"{TARGET}/{'a' * 2_000}"}, [("url", "too_long")]),
        ({"url": TARGET, "types": []}, [("types", "too_short")]),
        ({"url": TARGET, "types": ["sweep.built"]}, [("types[0]", "invalid_choice")]),
        ({"url": TARGET, "types": ["webhook.ping"]}, [("types[0]", "invalid_choice")]),
        ({"url": TARGET, "types": "sweep.failed"}, [("types", "invalid_type")]),
        ({"url": TARGET, "types": [["sweep.failed"]]}, [("types[0]", "invalid_choice")]),
        ({"url": TARGET, "types": ["sweep.failed"] * (len(SWEEP_TYPES) + 1)}, [("types", "too_long")]),
        ({"url": TARGET, "timing": "later"}, [("timing", "invalid_choice")]),
        ({"url": TARGET, "payload": None}, [("payload", "invalid_type")]),
        ({"url": TARGET, "description": "a" * 201}, [("description", "too_long")]),
        ({"url": TARGET, "description": "\x00"}, [("description", "invalid_format")]),
        ({"url": TARGET, "secret": "whsec_mine"}, [("secret", "unknown_field")]),
        ({"url": TARGET, "enabled": False}, [("enabled", "unknown_field")]),
    ],
)
def test_a_wrong_field_is_refused(api: Client, body: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert refused_fields(post(api, URL, body)) == expected
    assert not WebhookEndpoint.objects.exists()


@pytest.mark.parametrize(
    "url",
    [
        *("http://partner.example/", "https://localhost/", "https://127.0.0.1/", "https://10.0.0.1/"),
        *("https://169.254.169.254/latest/meta-data", "https://[::1]/", "https://[::ffff:10.0.0.1]/"),
        *("https://partner.example:22/", "https://user:password@partner.example/", "https://0x7f000001/"),
    ],
)
def test_a_url_into_a_private_network_is_refused(api: Client, settings: Settings, url: str) -> None:
    settings.WEBHOOK_ALLOW_PRIVATE = False
    assert refused_fields(post(api, URL, {"url": url})) == [("url", "invalid_format")]
    endpoint_id = created(api)["endpoint"]["id"]
    changed = api.patch(f"{URL}/{endpoint_id}", {"url": url}, content_type=JSON)
    assert refused_fields(changed) == [("url", "invalid_format")]


def test_a_partner_has_at_most_ten_endpoints(api: Client, theirs: WebhookEndpoint) -> None:
    ids = [created(api)["endpoint"]["id"] for _ in range(10)]
    response = post(api, URL, {"url": TARGET})
    assert error_of(response) == (409, "too_many_webhooks")
    assert_documented(response, path=URL)
    api.delete(f"{URL}/{ids[0]}")
    assert created(api)
    assert WebhookEndpoint.objects.filter(partner=theirs.partner).count() == 1


def test_a_partner_sees_its_endpoints_without_their_secrets(api: Client, theirs: WebhookEndpoint) -> None:
    made = [created(api, description=str(number)) for number in range(2)]
    response = api.get(URL)
    assert_documented(response, path=URL)
    assert response.json()["data"]["items"] == [one["endpoint"] for one in made]
    one = api.get(f"{URL}/{made[0]['endpoint']['id']}")
    assert_documented(one, path=ONE)
    assert one.json()["data"] == made[0]["endpoint"]
    assert all(made[0]["secret"] not in answer.content.decode() for answer in (response, one))
    assert str(theirs.id) not in response.content.decode()


def test_endpoints_of_the_other_mode_are_not_seen(api: Client, partner: Partner) -> None:
    endpoint_id = created(api)["endpoint"]["id"]
    _, live_key = ApiKey.issue(partner=partner, name="live", mode=Mode.LIVE)
    live = Client(headers={"x-api-key": live_key})
    assert live.get(URL).json()["data"]["items"] == []
    assert error_of(live.get(f"{URL}/{endpoint_id}")) == (404, "webhook_not_found")


@pytest.mark.parametrize(
    ("method", "action"),
    [
        *[("get", ""), ("patch", ""), ("delete", ""), ("get", "/deliveries")],
        *[("post", action) for action in ("/ping", "/rotate-secret", "/replay")],
    ],
)
def test_another_partners_endpoint_looks_like_a_missing_one(
    api: Client,
    theirs: WebhookEndpoint,
    method: str,
    action: str,
) -> None:
    body = {"since": "2026-01-01T00:00:00Z"} if action == "/replay" else {}
    api.get(URL)  # so that the key's last use is written
    answers = []
    for endpoint_id in (theirs.id, uuid4(), "nonsense"):
        path = f"{URL}/{endpoint_id}{action}"
        sent = {} if method == "get" else {"data": body, "content_type": JSON}
        response = getattr(api, method)(path, headers={"x-request-id": "same"}, **sent)
        answers.append((response.status_code, response.content))
    assert len(set(answers)) == 1
    assert answers[0][0] == 404
    assert b"webhook_not_found" in answers[0][1]
    theirs.refresh_from_db()
    assert (theirs.deleted_at, theirs.former_secret, WebhookDelivery.objects.count()) == (None, "", 0)


def test_a_change_leaves_the_rest_as_it_is(api: Client) -> None:
    endpoint = created(api, types=["sweep.failed"], description="one")["endpoint"]
    response = api.patch(f"{URL}/{endpoint['id']}", {"description": "two", "types": None}, content_type=JSON)
    assert_documented(response, path=ONE)
    assert response.json()["data"] == {**endpoint, "description": "two", "types": None}


def test_an_endpoint_that_is_enabled_again_starts_afresh(api: Client) -> None:
    endpoint = created(api)["endpoint"]
    now = timezone.now()
    WebhookEndpoint.objects.update(
        is_enabled=False, disabled_reason="It failed.", failures=99, failing_since=now, paused_until=now
    )
    shown = api.get(f"{URL}/{endpoint['id']}").json()["data"]
    assert (shown["enabled"], shown["disabledReason"], shown["health"]["failures"]) == (False, "It failed.", 99)
    response = api.patch(f"{URL}/{endpoint['id']}", {"enabled": True}, content_type=JSON)
    assert response.json()["data"] == endpoint


@pytest.mark.parametrize(
    ("choices", "failures"), [({"enabled": True}, 99), ({"url": TARGET}, 99), ({"url": f"{TARGET}/new"}, 0)]
)
def test_an_enabled_endpoint_starts_afresh_only_with_another_url(
    api: Client, choices: dict[str, Any], failures: int
) -> None:
    path = f"{URL}/{created(api)['endpoint']['id']}"
    now = timezone.now()
    WebhookEndpoint.objects.update(failures=99, failing_since=now, paused_until=now)
    health = api.patch(path, choices, content_type=JSON).json()["data"]["health"]
    assert (health["failures"], health["pausedUntil"] is None) == (failures, failures == 0)


def test_a_disabled_endpoint_with_another_url_still_says_why_it_was_disabled(api: Client) -> None:
    path = f"{URL}/{created(api)['endpoint']['id']}"
    WebhookEndpoint.objects.update(is_enabled=False, disabled_reason="It failed.")
    data = api.patch(path, {"url": f"{TARGET}/new"}, content_type=JSON).json()["data"]
    assert (data["enabled"], data["disabledReason"]) == (False, "It failed.")


def test_a_deleted_endpoint_is_gone(api: Client) -> None:
    endpoint = created(api)["endpoint"]
    response = api.delete(f"{URL}/{endpoint['id']}")
    assert_documented(response, path=ONE)
    assert response.json()["data"] == {**endpoint, "enabled": False}
    assert api.get(URL).json()["data"]["items"] == []
    assert error_of(api.delete(f"{URL}/{endpoint['id']}")) == (404, "webhook_not_found")


def test_a_deleted_endpoint_has_no_secret(api: Client) -> None:
    path = f"{URL}/{created(api)['endpoint']['id']}"
    post(api, f"{path}/rotate-secret")
    assert api.delete(path).json()["data"]["formerSecretUntil"] is None
    stored = WebhookEndpoint.objects.get()
    assert (stored.secret, stored.former_secret, stored.former_secret_until) == ("", "", None)


def test_a_rotation_shows_the_new_secret_once_and_keeps_the_former_one_for_a_day(api: Client) -> None:
    first = created(api)
    path = f"{URL}/{first['endpoint']['id']}"
    response = post(api, f"{path}/rotate-secret")
    assert_documented(response, path=f"{ONE}/rotate-secret")
    data = response.json()["data"]
    stored = WebhookEndpoint.objects.get()
    assert signing.current_secrets(stored, now=timezone.now()) == [data["secret"], first["secret"]]
    assert stored.former_secret_until is not None
    assert abs(stored.former_secret_until - timezone.now() - timedelta(hours=24)) < timedelta(minutes=1)
    assert data["secret"] not in api.get(path).content.decode()
    assert data["endpoint"]["formerSecretUntil"] is not None


def test_a_ping_arrives_and_is_listed_with_its_attempt(
    api: Client, receiver: Receiver, deliverer: StepwiseDeliverer
) -> None:
    endpoint_id = created(api, url=receiver.url, types=["sweep.failed"], timing="final")["endpoint"]["id"]
    response = post(api, f"{URL}/{endpoint_id}/ping")
    assert response.status_code == 202
    assert_documented(response, path=f"{ONE}/ping")
    scheduled = response.json()["data"]
    assert (scheduled["type"], scheduled["status"], scheduled["attempts"]) == ("webhook.ping", "pending", [])
    deliverer.deliver_due()
    (received,) = receiver.received
    assert (received.json["type"], received.json["data"]) == ("webhook.ping", {"endpointId": endpoint_id})
    assert received.headers["webhook-id"] == scheduled["messageId"]
    listed = api.get(f"{URL}/{endpoint_id}/deliveries")
    assert_documented(listed, path=f"{ONE}/deliveries")
    (item,) = listed.json()["data"]["items"]
    (attempt,) = item["attempts"]
    assert (item["deliveryId"], item["status"]) == (scheduled["deliveryId"], "delivered")
    assert (attempt["number"], attempt["httpStatus"], attempt["error"]) == (1, 204, None)


def test_deliveries_are_paged_and_filtered(
    api: Client, partner: Partner, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    endpoint_id = created(api)["endpoint"]["id"]
    sent = [a_message(partner) for _ in range(5)]
    outbox.dispatch()
    path = f"{URL}/{endpoint_id}/deliveries"
    with django_assert_num_queries(4):  # the key, the endpoint, the deliveries with their messages, the attempts
        first = api.get(path, {"limit": 3}).json()["data"]
    second = api.get(path, {"limit": 3, "cursor": first["nextCursor"]}).json()["data"]
    assert (len(first["items"]), len(second["items"]), second["nextCursor"]) == (3, 2, None)
    shown = {item["messageId"] for item in (*first["items"], *second["items"])}
    assert shown == {str(message.id) for message in sent}
    WebhookDelivery.objects.filter(message=sent[0]).update(
        status="failed", next_attempt_at=None, completed_at=timezone.now()
    )
    (failed,) = api.get(path, {"status": "failed"}).json()["data"]["items"]
    assert (failed["messageId"], failed["sweepId"], failed["sequence"]) == (str(sent[0].id), str(sent[0].sweep_ref), 1)
    assert refused_fields(api.get(path, {"status": "lost"})) == [("status", "invalid_choice")]
    assert refused_fields(api.get(path, {"cursor": "x"})) == [("cursor", "invalid_format")]


def test_a_replay_schedules_messages_again(api: Client, partner: Partner) -> None:
    a_message(partner, occurred_at=timezone.now() - timedelta(days=2))
    message = a_message(partner)
    outbox.dispatch()
    path = f"{URL}/{created(api)['endpoint']['id']}/replay"
    since = (timezone.now() - timedelta(days=1)).isoformat()
    response = post(api, path, {"since": since})
    assert response.status_code == 202
    assert_documented(response, path=f"{ONE}/replay")
    assert response.json()["data"] == {"scheduled": 1, "nextMessageId": None}
    assert WebhookDelivery.objects.get().message == message
    again = post(api, path, {"fromMessageId": str(message.id)})
    assert again.json()["data"] == {"scheduled": 0, "nextMessageId": None}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, [("since", "required")]),
        ({"since": "2026-01-01T00:00:00Z", "fromMessageId": str(uuid4())}, [("since", "required")]),
        ({"since": "yesterday"}, [("since", "invalid_format")]),
        ({"fromMessageId": "x"}, [("fromMessageId", "invalid_format")]),
        ({"fromMessageId": str(uuid4())}, [("fromMessageId", "unknown")]),
    ],
)
def test_a_replay_begins_at_one_place_that_is_known(
    api: Client, body: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    assert refused_fields(post(api, f"{URL}/{created(api)['endpoint']['id']}/replay", body)) == expected


def test_another_partners_message_is_not_known(api: Client, theirs: WebhookEndpoint) -> None:
    message = a_message(theirs.partner)
    path = f"{URL}/{created(api)['endpoint']['id']}/replay"
    assert refused_fields(post(api, path, {"fromMessageId": str(message.id)})) == [("fromMessageId", "unknown")]


def test_secrets_are_in_no_log_line(api: Client, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    data = created(api)
    rotated = post(api, f"{URL}/{data['endpoint']['id']}/rotate-secret").json()["data"]
    assert data["secret"] not in caplog.text
    assert rotated["secret"] not in caplog.text


@pytest.mark.parametrize("method", ["put", "options"])
def test_other_methods_are_not_allowed(api: Client, method: str) -> None:
    assert error_of(getattr(api, method)(URL)) == (405, "method_not_allowed")


def test_a_key_without_the_scope_may_do_nothing_here(partner: Partner) -> None:
    _, plaintext = ApiKey.issue(partner=partner, name="reader", mode=Mode.TEST, scopes=["read", "ledger"])
    reader = Client(headers={"x-api-key": plaintext})
    assert error_of(reader.get(URL)) == (403, "insufficient_scope")
    assert error_of(post(reader, URL, {"url": TARGET})) == (403, "insufficient_scope")


def test_a_cursor_is_of_no_use_with_another_filter_or_endpoint(api: Client, partner: Partner) -> None:
    one, other = (created(api)["endpoint"]["id"] for _ in range(2))
    for _ in range(2):
        a_message(partner)
    outbox.dispatch()
    path = f"{URL}/{one}/deliveries"
    cursor = api.get(path, {"limit": 1}).json()["data"]["nextCursor"]
    assert api.get(path, {"limit": 1, "cursor": cursor}).status_code == 200
    assert refused_fields(api.get(path, {"cursor": cursor, "status": "pending"})) == [("cursor", "invalid_format")]
    assert refused_fields(api.get(f"{URL}/{other}/deliveries", {"cursor": cursor})) == [("cursor", "invalid_format")]


def test_no_key_means_no_answer(anonymous: Client) -> None:
    assert error_of(anonymous.get(URL)) == (401, "missing_api_key")
    assert error_of(post(anonymous, URL, {"url": TARGET})) == (401, "missing_api_key")
    assert not WebhookMessage.objects.exists()
