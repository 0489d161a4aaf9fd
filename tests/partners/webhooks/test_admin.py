"""Operators see endpoints and deliveries, enable endpoints and replay messages; they edit nothing."""

from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import timezone

from partners.models import Partner
from partners.webhooks import claims, endpoints, outbox
from partners.webhooks.attempts import AttemptOutcome
from partners.webhooks.claims import Attempted
from partners.webhooks.models import WebhookDelivery, WebhookEndpoint
from tests.factories.webhooks import a_message, an_endpoint, owner_of
from tests.operator_browser import ConsoleClient, reverse

pytestmark = pytest.mark.django_db

LIST = reverse("admin:partners_webhookendpoint_changelist")
DELIVERIES = reverse("admin:partners_webhookdelivery_changelist")


@pytest.fixture
def endpoint(partner: Partner) -> WebhookEndpoint:
    """An endpoint that was disabled, with a delivery that failed once."""
    an_endpoint(partner)
    a_message(partner)
    outbox.dispatch()
    claims.record([Attempted(one, AttemptOutcome(12, 503, "status")) for one in claims.claim(1)])
    WebhookEndpoint.objects.update(is_enabled=False, disabled_reason="Every attempt failed.")
    return WebhookEndpoint.objects.get()


def page_of(endpoint: WebhookEndpoint) -> str:
    return reverse("admin:partners_webhookendpoint_change", args=[endpoint.id])


def act(client: Client, endpoint: WebhookEndpoint, name: str, **form: object) -> int:
    """Submit the dialog of an action."""
    url = reverse(f"admin:partners_webhookendpoint_{name}", args=[endpoint.id])
    return client.post(url, {"_form_submitted": "true", **form}).status_code


def test_the_pages_show_how_an_endpoint_is_doing_and_no_secret(ops: Client, endpoint: WebhookEndpoint) -> None:
    shown = ops.get(page_of(endpoint)).content.decode()
    assert "Every attempt failed." in shown
    assert endpoint.secret not in shown
    assert endpoint.url in ops.get(LIST).content.decode()
    delivery = WebhookDelivery.objects.get()
    assert "sweep.completed" in ops.get(DELIVERIES, {"endpoint__id__exact": str(endpoint.id)}).content.decode()
    page = ops.get(reverse("admin:partners_webhookdelivery_change", args=[delivery.id])).content.decode()
    assert "503" in page
    assert str(delivery.message.sweep_ref) in page


def test_nothing_can_be_added_changed_or_deleted(ops: Client, endpoint: WebhookEndpoint) -> None:
    for kind, row in (("webhookendpoint", endpoint), ("webhookdelivery", WebhookDelivery.objects.get())):
        assert ops.get(reverse(f"admin:partners_{kind}_add")).status_code == 403
        assert (
            ops.post(reverse(f"admin:partners_{kind}_change", args=[row.pk]), {"url": "https://x"}).status_code == 403
        )
        assert ops.post(reverse(f"admin:partners_{kind}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403


def test_an_operator_enables_an_endpoint(ops: Client, endpoint: WebhookEndpoint) -> None:
    assert act(ops, endpoint, "enable") == 200
    endpoint.refresh_from_db()
    assert (endpoint.is_enabled, endpoint.failures, endpoint.disabled_reason) == (True, 0, "")
    assert LogEntry.objects.get().get_change_message() == "Enabled."


def test_an_operator_ends_a_pause(ops: Client, endpoint: WebhookEndpoint) -> None:
    now = timezone.now()
    WebhookEndpoint.objects.update(is_enabled=True, failures=10, failing_since=now, paused_until=now)
    assert act(ops, endpoint, "enable") == 200
    endpoint.refresh_from_db()
    assert (endpoint.failures, endpoint.paused_until) == (0, None)


def test_an_operator_replays_the_messages_of_the_last_hours(ops: Client, endpoint: WebhookEndpoint) -> None:
    WebhookDelivery.objects.update(status="failed", next_attempt_at=None, completed_at=timezone.now())
    a_message(endpoint.partner, occurred_at=timezone.now() - timedelta(hours=3))
    outbox.dispatch()
    assert act(ops, endpoint, "replay", hours=2) == 200
    assert WebhookDelivery.objects.get().status == "pending"
    assert LogEntry.objects.get().get_change_message() == "Replayed 1 messages of the last 2 hours."
    act(ops, endpoint, "replay", hours=4)
    assert WebhookDelivery.objects.count() == 2


def test_a_deleted_endpoint_is_neither_enabled_nor_replayed_to(ops: Client, endpoint: WebhookEndpoint) -> None:
    endpoints.delete(owner_of(endpoint.partner), endpoint.id)
    act(ops, endpoint, "enable")
    act(ops, endpoint, "replay", hours=2)
    endpoint.refresh_from_db()
    assert (endpoint.is_enabled, LogEntry.objects.count()) == (False, 0)


def test_a_user_who_may_only_view_can_do_neither(endpoint: WebhookEndpoint) -> None:
    user = User.objects.create_user("viewer", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_webhookendpoint"))
    viewer = ConsoleClient()
    viewer.force_login(user)
    assert viewer.get(page_of(endpoint)).status_code == 200
    assert (act(viewer, endpoint, "enable"), act(viewer, endpoint, "replay", hours=2)) == (403, 403)
    endpoint.refresh_from_db()
    assert not endpoint.is_enabled
