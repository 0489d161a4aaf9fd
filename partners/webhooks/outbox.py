"""Turns messages into deliveries: each for the endpoints that chose it, in the transaction that marks it as dispatched.

Messages are claimed by what is not dispatched, and never by what is newer than the last one: a transaction that began
early can commit late.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from partners.webhooks.models import WebhookDelivery, WebhookEndpoint, WebhookMessage
from sweepapi import networks

BATCH_ROWS = 500

CHOSEN = """
    (endpoint.types = '{}' OR message.type = ANY(endpoint.types))
    AND (endpoint.timing = 'instant' OR message.is_final)
    AND endpoint.mode = CASE WHEN message.network = ANY(%(sandbox)s) THEN 'test' ELSE 'live' END
"""
_DISPATCH = f"""
WITH taken AS MATERIALIZED (
    SELECT id FROM partners_webhookmessage
    WHERE dispatched_at IS NULL ORDER BY occurred_at LIMIT %(rows)s FOR UPDATE SKIP LOCKED
), message AS (
    UPDATE partners_webhookmessage AS message SET dispatched_at = statement_timestamp()
    FROM taken WHERE message.id = taken.id RETURNING message.*
), delivery AS (
    INSERT INTO partners_webhookdelivery (message_id, endpoint_id)
    SELECT message.id, endpoint.id FROM message JOIN partners_webhookendpoint AS endpoint USING (partner_id)
    WHERE endpoint.is_enabled AND {CHOSEN}
)
SELECT count(*) FROM taken
"""  # noqa: S608 - of constants


def sandbox_networks() -> list[str]:
    """Return the networks whose messages are for endpoints of the mode ``test``."""
    return sorted(networks.current().sandbox)


def dispatch() -> int:
    """Make deliveries of the oldest messages that have none yet, and return how many messages were taken."""
    with connection.cursor() as cursor:
        cursor.execute(_DISPATCH, {"rows": BATCH_ROWS, "sandbox": sandbox_networks()})
        (taken,) = cursor.fetchone()
    count: int = taken
    return count


def send_to(endpoints: Sequence[WebhookEndpoint], kind: str, *, at: datetime, facts: dict[str, Any]) -> list[UUID]:
    """Store a message that is not about a sweep, with its deliveries to these endpoints, in the caller's transaction.

    Returns the ids of the deliveries.
    """
    if not endpoints:
        return []
    message = WebhookMessage.objects.create(
        partner_id=endpoints[0].partner_id, type=kind, occurred_at=at, facts=facts, dispatched_at=at
    )
    deliveries = [WebhookDelivery(message=message, endpoint=endpoint) for endpoint in endpoints]
    return [delivery.id for delivery in WebhookDelivery.objects.bulk_create(deliveries)]
