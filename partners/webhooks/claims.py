"""Leases due deliveries to this process, and records how their attempts ended.

An endpoint has at most four deliveries in flight, over all processes, and one while it fails; all endpoints of a
partner together have eight. So endpoints that hang keep few threads from the others. The row of an endpoint is locked
for the time of a claim or a record, before those of its deliveries. A delivery whose process died is due again when
its lease ends, so a message may arrive twice.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter
from typing import Any
from uuid import UUID, uuid4

import structlog
from django.db import connection, transaction

from partners.webhooks.attempts import AttemptOutcome
from partners.webhooks.health import note_outcomes
from partners.webhooks.models import WebhookAttempt, WebhookDelivery, WebhookEndpoint
from sweepapi.postgres.sets import Insert, as_json, write

log = structlog.get_logger(__name__)

IN_FLIGHT = 4  # to one endpoint
IN_FLIGHT_OF_PARTNER = 8  # to all its endpoints of both modes
LEASE = timedelta(seconds=30)  # more than an attempt takes, with the lookup before and the record after it
RETRY_SECONDS = (5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800)  # the last one again and again
JITTER = 0.1  # of the delay, either way
RETRIED_FOR = timedelta(days=3)
MAX_COUNTED = 10_000

# With all that a claim reads. Only their rows are locked: those of an endpoint that another process claims are left. A
# partner's first endpoint is locked with each of them, so that two processes don't claim for one partner at once.
_LOCK_ENDPOINTS = """
SELECT endpoint.id FROM partners_webhookendpoint AS endpoint JOIN partners_partner AS partner ON partner.id = partner_id
JOIN partners_webhookendpoint AS first ON first.id = (
    SELECT id FROM partners_webhookendpoint WHERE partner_id = partner.id ORDER BY id LIMIT 1
)
WHERE endpoint.is_enabled AND partner.status = 'active'
  AND (endpoint.paused_until IS NULL OR endpoint.paused_until <= statement_timestamp())
  AND EXISTS (
      SELECT FROM partners_webhookdelivery
      WHERE endpoint_id = endpoint.id AND status = 'pending' AND next_attempt_at <= statement_timestamp()
  )
FOR NO KEY UPDATE OF endpoint, first SKIP LOCKED
"""
# What is in flight to endpoints that were disabled or deleted meanwhile counts as well.
_CLAIM = """
WITH endpoint AS MATERIALIZED (
    SELECT endpoint.id, partner_id, failures, held, sum(held) OVER (PARTITION BY partner_id) AS held_of_partner
    FROM partners_webhookendpoint AS endpoint
    CROSS JOIN LATERAL (
        SELECT count(*) AS held FROM partners_webhookdelivery
        WHERE endpoint_id = endpoint.id AND lease_token IS NOT NULL AND next_attempt_at > statement_timestamp()
    ) AS flight
    WHERE partner_id IN (SELECT partner_id FROM partners_webhookendpoint WHERE id = ANY(%(endpoints)s))
      AND (deleted_at IS NULL OR deleted_at > statement_timestamp() - %(lease_for)s)
), due AS MATERIALIZED (
    SELECT id FROM (
        SELECT due.*, held_of_partner + row_number() OVER (PARTITION BY partner_id ORDER BY next_attempt_at) AS place
        FROM endpoint
        CROSS JOIN LATERAL (
            SELECT id, next_attempt_at FROM partners_webhookdelivery
            WHERE endpoint_id = endpoint.id AND status = 'pending' AND next_attempt_at <= statement_timestamp()
            ORDER BY next_attempt_at
            LIMIT GREATEST(CASE WHEN failures = 0 THEN %(in_flight)s ELSE 1 END - held, 0)
        ) AS due
        WHERE endpoint.id = ANY(%(endpoints)s)
    ) AS due
    WHERE place <= %(in_flight_of_partner)s
    ORDER BY next_attempt_at LIMIT %(rows)s
)
UPDATE partners_webhookdelivery AS delivery
SET lease_token = %(lease)s, next_attempt_at = statement_timestamp() + %(lease_for)s
FROM due WHERE delivery.id = due.id RETURNING delivery.id
"""
# Writes what is still under the lease; the number of an attempt goes on from that of the last one.
_RECORD = """
UPDATE partners_webhookdelivery AS delivery
SET status = CASE WHEN new.succeeded THEN 'delivered' WHEN new.gives_up THEN 'failed' ELSE 'pending' END,
    attempts = delivery.attempts + 1,
    next_attempt_at = CASE WHEN NOT new.succeeded AND NOT new.gives_up THEN statement_timestamp() + new.retry_after END,
    completed_at = CASE WHEN new.succeeded OR new.gives_up THEN statement_timestamp() END,
    lease_token = NULL
FROM (
    SELECT attempt.*, NOT succeeded AND statement_timestamp() + retry_after > started_at + %(retried_for)s AS gives_up
    FROM json_to_recordset(%(attempts)s)
        AS attempt (id uuid, lease uuid, succeeded boolean, retry_after interval)
    JOIN partners_webhookdelivery USING (id)
) AS new
WHERE delivery.id = new.id AND delivery.lease_token = new.lease
RETURNING delivery.id, statement_timestamp(),
    (SELECT COALESCE(max(number), 0) + 1 FROM partners_webhookattempt WHERE delivery_id = delivery.id)
"""
# What a paused endpoint is not sent is not late.
_BACKLOG = """
SELECT count(*), max(waiting) FROM (
    SELECT statement_timestamp() - occurred_at AS waiting FROM partners_webhookmessage WHERE dispatched_at IS NULL
    UNION ALL
    SELECT due.waiting FROM partners_webhookendpoint AS endpoint
    JOIN partners_partner AS partner ON partner.id = partner_id
    CROSS JOIN LATERAL (
        SELECT statement_timestamp() - next_attempt_at AS waiting FROM partners_webhookdelivery
        WHERE endpoint_id = endpoint.id AND status = 'pending' AND next_attempt_at <= statement_timestamp()
        ORDER BY next_attempt_at LIMIT %(rows)s
    ) AS due
    WHERE endpoint.is_enabled AND partner.status = 'active'
      AND (endpoint.paused_until IS NULL OR endpoint.paused_until <= statement_timestamp())
    LIMIT %(rows)s
) AS late
"""


@dataclass(frozen=True)
class Claimed:
    """A delivery under a lease, with its message and its endpoint."""

    delivery: WebhookDelivery
    lease: UUID


@dataclass(frozen=True)
class Attempted:
    """A delivery that was attempted."""

    claimed: Claimed
    outcome: AttemptOutcome

    @property
    def endpoint_id(self) -> UUID:
        return self.claimed.delivery.endpoint_id


@dataclass(frozen=True)
class WebhookBacklog:
    """How many messages and deliveries are due, and for how long the oldest of them has been."""

    rows: int
    oldest: timedelta


def backlog() -> WebhookBacklog:
    """Return how much is due, counted up to ``MAX_COUNTED``."""
    with connection.cursor() as cursor:
        cursor.execute(_BACKLOG, {"rows": MAX_COUNTED})
        rows, oldest = cursor.fetchone()
    return WebhookBacklog(rows, oldest or timedelta(0))


def claim(rows: int) -> list[Claimed]:
    """Lease up to so many due deliveries, those that wait longest first."""
    lease = uuid4()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_LOCK_ENDPOINTS)
        endpoints = [endpoint_id for (endpoint_id,) in cursor.fetchall()]
        if not endpoints:
            return []
        # A statement of its own, which sees what other processes committed before these rows were locked.
        parameters: dict[str, Any] = {
            "endpoints": endpoints,
            "in_flight": IN_FLIGHT,
            "in_flight_of_partner": IN_FLIGHT_OF_PARTNER,
            "rows": rows,
            "lease": lease,
            "lease_for": LEASE,
        }
        cursor.execute(_CLAIM, parameters)
        ids = [delivery_id for (delivery_id,) in cursor.fetchall()]
    # An endpoint that was deleted meanwhile has no secret to sign with.
    deliveries = WebhookDelivery.objects.filter(id__in=ids, endpoint__deleted_at=None)
    deliveries = deliveries.select_related("message", "endpoint")
    return [Claimed(delivery, lease) for delivery in deliveries.order_by("message__occurred_at", "id")]


def record(attempts: Sequence[Attempted]) -> None:
    """Store how attempts ended, and plan the next ones, in one transaction; what lost its lease is left alone."""
    if not attempts:
        return
    by_delivery = {attempted.claimed.delivery.id: attempted for attempted in attempts}
    with transaction.atomic():
        locked = _lock_endpoints({attempted.endpoint_id for attempted in attempts})
        recorded = _record(attempts)
        rows = [_row(by_delivery[delivery_id], number, at) for delivery_id, at, number in recorded]
        write(Insert(WebhookAttempt, rows))
        held = [by_delivery[delivery_id] for delivery_id, *_ in recorded]
        for endpoint_id, group in groupby(sorted(held, key=attrgetter("endpoint_id")), key=attrgetter("endpoint_id")):
            note_outcomes(locked[endpoint_id], [one.outcome for one in group], now=recorded[0][1])
    if len(recorded) < len(attempts):
        log.warning("webhook_leases_lost", count=len(attempts) - len(recorded))


def _lock_endpoints(ids: Iterable[UUID]) -> dict[UUID, WebhookEndpoint]:
    rows = WebhookEndpoint.objects.filter(id__in=ids).order_by("id").select_for_update(no_key=True)
    return {endpoint.id: endpoint for endpoint in rows}


def _record(attempts: Sequence[Attempted]) -> list[tuple[UUID, datetime, int]]:
    rows = [
        {
            "id": attempted.claimed.delivery.id,
            "lease": attempted.claimed.lease,
            "succeeded": attempted.outcome.succeeded,
            "retry_after": f"{retry_delay(attempted.claimed.delivery.attempts).total_seconds()} seconds",
        }
        for attempted in attempts
    ]
    with connection.cursor() as cursor:
        parameters: dict[str, Any] = {"attempts": as_json(rows), "retried_for": RETRIED_FOR}
        cursor.execute(_RECORD, parameters)
        return list(cursor.fetchall())


def retry_delay(failed_before: int) -> timedelta:
    """Return how long to wait after another failure, with some jitter."""
    seconds = RETRY_SECONDS[min(failed_before, len(RETRY_SECONDS) - 1)]
    return timedelta(seconds=seconds * random.uniform(1 - JITTER, 1 + JITTER))  # noqa: S311 - not a secret


def _row(attempted: Attempted, number: int, at: datetime) -> dict[str, Any]:
    outcome = attempted.outcome
    return {
        "delivery_id": attempted.claimed.delivery.id,
        "number": number,
        "at": at,
        "duration_ms": outcome.duration_ms,
        "http_status": outcome.http_status,
        "error": outcome.error,
    }
