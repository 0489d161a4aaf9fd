"""Creates webhook endpoints and messages."""

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from django.utils import timezone

from partners.models import Partner
from partners.webhooks import endpoints
from partners.webhooks.endpoints import Issued, Owner
from partners.webhooks.models import WebhookDelivery, WebhookEndpoint, WebhookMessage
from sweepapi.modes import Mode
from tests.factories.sweeps import LOCAL

MODE = Mode.TEST  # of the local networks


def owner_of(partner: Partner) -> Owner:
    return Owner(partner.id, MODE)


def an_endpoint(partner: Partner, url: str = "https://partner.example/hooks", **choices: Any) -> WebhookEndpoint:
    return issued(partner, url, **choices).endpoint


def issued(partner: Partner, url: str = "https://partner.example/hooks", **choices: Any) -> Issued:
    """Create an endpoint, and return it with its secret."""
    return endpoints.create(owner_of(partner), {"url": url, **choices})  # type: ignore[typeddict-item] # of a test


def a_message(partner: Partner, kind: str = "sweep.completed", **fields: Any) -> WebhookMessage:
    """Store a message about a sweep that waits to be dispatched."""
    facts = {"status": "completed", "clientReference": "order 7", "txHash": f"0x{'ab' * 32}"}
    values = {"network": LOCAL, "sweep_ref": uuid4(), "sequence": 1, "occurred_at": timezone.now(), "facts": facts}
    return WebhookMessage.objects.create(partner=partner, type=kind, **values | fields)


def age(delivery: WebhookDelivery, by: timedelta) -> None:
    """Have a delivery been due, and begun, by so much earlier."""
    delivery.refresh_from_db()
    due: datetime = delivery.next_attempt_at or timezone.now()
    WebhookDelivery.objects.filter(id=delivery.id).update(next_attempt_at=due - by, started_at=delivery.started_at - by)
