"""What partners do with their endpoints: create, change, delete, ping, rotate the secret, replay.

The row of an endpoint is locked before its deliveries, as where they are claimed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypedDict
from uuid import UUID

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from partners.models import Partner
from partners.webhooks import signing
from partners.webhooks.claims import RETRIED_FOR
from partners.webhooks.models import WebhookDelivery, WebhookEndpoint, WebhookMessage
from partners.webhooks.outbox import CHOSEN, sandbox_networks, send_to
from partners.webhooks.public_events import PING
from sweepapi.errors import FieldError, InvalidRequest, TooManyWebhooks, WebhookNotFound
from sweepapi.modes import Mode

MAX_ENDPOINTS = 10  # of a partner and mode
ROTATION_OVERLAP = timedelta(hours=24)
KEPT = timedelta(days=30)  # messages, for replays
MAX_REPLAYED = 10_000  # messages, by one request
_PURGED_AT_ONCE = 250  # messages, each with up to ten deliveries and their attempts, in one statement

# Each is due a microsecond before the next one, as deliveries are claimed in the order of these times.
_REPLAY = f"""
WITH message AS MATERIALIZED (
    SELECT message.id, message.occurred_at
    FROM partners_webhookmessage AS message, partners_webhookendpoint AS endpoint
    WHERE endpoint.id = %(endpoint)s AND message.partner_id = endpoint.partner_id
      AND (message.occurred_at, message.id) >= (%(since)s, %(first)s)
      AND message.type LIKE 'sweep.%%' AND message.dispatched_at IS NOT NULL AND {CHOSEN}
    ORDER BY message.occurred_at, message.id LIMIT %(rows)s + 1
), replayed AS MATERIALIZED (
    SELECT id, row_number() OVER (ORDER BY occurred_at, id) AS place FROM message
    ORDER BY occurred_at, id LIMIT %(rows)s
), delivery AS (
    INSERT INTO partners_webhookdelivery AS delivery (message_id, endpoint_id, next_attempt_at)
    SELECT id, %(endpoint)s, statement_timestamp() - (%(rows)s - place) * interval '1 microsecond' FROM replayed
    ON CONFLICT (message_id, endpoint_id) DO UPDATE
        SET status = 'pending', attempts = 0, completed_at = NULL,
            next_attempt_at = excluded.next_attempt_at, started_at = statement_timestamp()
        WHERE delivery.status <> 'pending'
    RETURNING id
)
SELECT (SELECT count(*) FROM delivery), (SELECT id FROM message ORDER BY occurred_at, id OFFSET %(rows)s)
"""  # noqa: S608 - of constants
_FIRST = UUID(int=0)


class Choices(TypedDict, total=False):
    """What a partner may set of an endpoint."""

    url: str
    description: str
    types: Sequence[str]
    timing: str
    payload: str
    is_enabled: bool


@dataclass(frozen=True)
class Owner:
    """Whose endpoints are meant: those of a partner that keys of one mode manage."""

    partner_id: UUID
    mode: Mode

    def endpoints(self) -> QuerySet[WebhookEndpoint]:
        return WebhookEndpoint.objects.filter(partner_id=self.partner_id, mode=self.mode, deleted_at=None)

    def get(self, endpoint_id: UUID) -> WebhookEndpoint:
        """Return an endpoint; raises ``WebhookNotFound``, for that of another owner, too."""
        return _found(self.endpoints().filter(id=endpoint_id))

    def lock(self, endpoint_id: UUID) -> WebhookEndpoint:
        """Return a locked endpoint; raises as ``get``."""
        return _found(self.endpoints().filter(id=endpoint_id).select_for_update(no_key=True))


@dataclass(frozen=True)
class Issued:
    """An endpoint with a new secret, which can't be shown again."""

    endpoint: WebhookEndpoint
    secret: str = field(repr=False)


@dataclass(frozen=True)
class Replayed:
    """How many deliveries were scheduled, and the message to go on with if there are more."""

    scheduled: int
    next_message_id: UUID | None


def _found(rows: QuerySet[WebhookEndpoint]) -> WebhookEndpoint:
    endpoint = rows.first()
    if endpoint is None:
        raise WebhookNotFound
    return endpoint


def create(owner: Owner, choices: Choices) -> Issued:
    """Store a new endpoint with a secret of its own; raises ``TooManyWebhooks``."""
    endpoint, secret = WebhookEndpoint(partner_id=owner.partner_id, mode=owner.mode, **choices), signing.generate()
    endpoint.secret = signing.encrypt(secret, endpoint_id=endpoint.id)
    with transaction.atomic():
        Partner.objects.select_for_update(no_key=True).get(pk=owner.partner_id)  # so that two requests count in turn
        if owner.endpoints().count() >= MAX_ENDPOINTS:
            raise TooManyWebhooks
        endpoint.save(force_insert=True)
    return Issued(endpoint, secret)


def change(owner: Owner, endpoint_id: UUID, choices: Choices) -> WebhookEndpoint:
    """Change what is given; raises ``WebhookNotFound``.

    One that was disabled and is enabled, or gets another URL, starts afresh. What waited while it was disabled is
    delivered then.
    """
    with transaction.atomic():
        endpoint = owner.lock(endpoint_id)
        is_enabled_again = not endpoint.is_enabled and choices.get("is_enabled", False)
        if is_enabled_again or choices.get("url", endpoint.url) != endpoint.url:
            _start_afresh(endpoint)
        if is_enabled_again:
            endpoint.disabled_reason = ""
        for name, value in choices.items():
            setattr(endpoint, name, value)
        endpoint.save()
    return endpoint


def enable(owner: Owner, endpoint_id: UUID) -> None:
    """Send to an endpoint again that was disabled or is paused; raises ``WebhookNotFound``."""
    with transaction.atomic():
        endpoint = owner.lock(endpoint_id)
        _start_afresh(endpoint)
        endpoint.is_enabled, endpoint.disabled_reason = True, ""
        endpoint.save()


def _start_afresh(endpoint: WebhookEndpoint) -> None:
    endpoint.failures, endpoint.failing_since, endpoint.paused_until = 0, None, None


def delete(owner: Owner, endpoint_id: UUID) -> WebhookEndpoint:
    """Send it nothing more, show it no longer, and forget its secrets; raises ``WebhookNotFound``."""
    with transaction.atomic():
        endpoint = owner.lock(endpoint_id)
        endpoint.is_enabled, endpoint.deleted_at = False, timezone.now()
        endpoint.secret = endpoint.former_secret = ""
        endpoint.former_secret_until = None
        endpoint.save()
    return endpoint


def rotate_secret(owner: Owner, endpoint_id: UUID) -> Issued:
    """Sign with a new secret, and for a day with the former one as well; raises ``WebhookNotFound``."""
    secret = signing.generate()
    with transaction.atomic():
        endpoint = owner.lock(endpoint_id)
        endpoint.former_secret, endpoint.former_secret_until = endpoint.secret, timezone.now() + ROTATION_OVERLAP
        endpoint.secret = signing.encrypt(secret, endpoint_id=endpoint.id)
        endpoint.save()
    return Issued(endpoint, secret)


def ping(owner: Owner, endpoint_id: UUID) -> WebhookDelivery:
    """Send a message that says nothing, and return its delivery; raises ``WebhookNotFound``.

    A disabled endpoint receives it once it is enabled.
    """
    with transaction.atomic():
        endpoint = owner.lock(endpoint_id)
        facts: dict[str, Any] = {"endpointId": str(endpoint.id)}
        (delivery_id,) = send_to([endpoint], PING, at=timezone.now(), facts=facts)
    return deliveries_of(endpoint).get(id=delivery_id)


def replay(
    owner: Owner, endpoint_id: UUID, *, since: datetime | None = None, from_message_id: UUID | None = None
) -> Replayed:
    """Deliver messages about sweeps again, all from a time or from a message on, oldest first.

    Also those that the endpoint never had, because it did not exist or was disabled then. What is still being delivered
    goes on as it is. Raises ``WebhookNotFound``, and ``InvalidRequest`` for a message that is not known.
    """
    with transaction.atomic():
        owner.lock(endpoint_id)
        start, first = since, _FIRST
        if from_message_id is not None:
            start, first = _time_of(owner, from_message_id), from_message_id
        parameters = {
            "endpoint": endpoint_id,
            "since": start,
            "first": first,
            "rows": MAX_REPLAYED,
            "sandbox": sandbox_networks(),
        }
        with connection.cursor() as cursor:
            cursor.execute(_REPLAY, parameters)
            return Replayed(*cursor.fetchone())


def _time_of(owner: Owner, message_id: UUID) -> datetime:
    message = WebhookMessage.objects.filter(partner_id=owner.partner_id, id=message_id).first()
    if message is None:
        problem = FieldError("fromMessageId", "unknown", "No such message; messages are kept for 30 days.")
        raise InvalidRequest(details=[problem])
    return message.occurred_at


def deliveries_of(endpoint: WebhookEndpoint) -> QuerySet[WebhookDelivery]:
    """Return the deliveries to an endpoint with all that is shown of them."""
    return WebhookDelivery.objects.filter(endpoint=endpoint).select_related("message").prefetch_related("made")


def purge() -> None:
    """Delete messages, with their deliveries, that are too old for a replay and for another attempt."""
    old = WebhookMessage.objects.filter(occurred_at__lt=timezone.now() - KEPT, dispatched_at__isnull=False)
    old = old.exclude(deliveries__started_at__gt=timezone.now() - RETRIED_FOR)
    while WebhookMessage.objects.filter(pk__in=old.values("pk")[:_PURGED_AT_ONCE]).delete()[0]:
        pass
