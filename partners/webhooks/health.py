"""Keeps account of an endpoint that fails: it is paused and probed, and after days disabled.

While it is paused, its deliveries wait without using up their attempts. One of them is tried every few minutes; the
first that succeeds resumes the rest.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

import structlog

from partners.webhooks.attempts import AttemptOutcome
from partners.webhooks.models import WebhookEndpoint
from partners.webhooks.outbox import send_to
from partners.webhooks.public_events import DISABLED

log = structlog.get_logger(__name__)

PAUSED_AFTER_FAILURES = 10  # in a row
PAUSED_AFTER = timedelta(minutes=1)  # since the first of them, so that a restart of the endpoint is not enough
PROBED_EVERY = timedelta(minutes=5)
DISABLED_AFTER = timedelta(days=3)  # of failures alone
LONGEST_SILENCE = timedelta(hours=9)  # between failures in a row: more than the longest retry with its jitter
_STATE = ["failures", "failing_since", "paused_until", "is_enabled", "disabled_reason"]


def note_outcomes(endpoint: WebhookEndpoint, outcomes: Sequence[AttemptOutcome], *, now: datetime) -> None:
    """Count the outcomes of attempts in their order, and pause, resume or disable the endpoint, whose row is locked."""
    before = [getattr(endpoint, name) for name in _STATE]
    for outcome in outcomes:
        _count(endpoint, outcome, now)
    if endpoint.failing_since is not None:
        _decide(endpoint, endpoint.failing_since, outcomes[-1], now)
    if before != [getattr(endpoint, name) for name in _STATE]:
        endpoint.save(update_fields=_STATE)


def _count(endpoint: WebhookEndpoint, outcome: AttemptOutcome, now: datetime) -> None:
    if outcome.succeeded:
        if endpoint.paused_until is not None:
            log.info("webhook_endpoint_resumed", endpoint_id=str(endpoint.id))
        endpoint.failures, endpoint.failing_since, endpoint.paused_until = 0, None, None
    elif endpoint.failing_since is None or _was_silent(endpoint, endpoint.failing_since, now):
        endpoint.failures, endpoint.failing_since, endpoint.paused_until = 1, now, None
    else:
        endpoint.failures += 1


def _was_silent(endpoint: WebhookEndpoint, failing_since: datetime, now: datetime) -> bool:
    """Return whether the last failure is too old to count, because nothing was sent since.

    Its time is known once the endpoint was paused. One that was not paused in three days was hardly tried.
    """
    if endpoint.paused_until is None:
        return now - failing_since >= DISABLED_AFTER
    return now - (endpoint.paused_until - PROBED_EVERY) > LONGEST_SILENCE


def _decide(endpoint: WebhookEndpoint, failing_since: datetime, last: AttemptOutcome, now: datetime) -> None:
    failing_for = now - failing_since
    if endpoint.failures < PAUSED_AFTER_FAILURES or failing_for < PAUSED_AFTER:
        return
    if endpoint.paused_until is None:
        log.warning("webhook_endpoint_paused", endpoint_id=str(endpoint.id), error=last.error)
    endpoint.paused_until = now + PROBED_EVERY
    if failing_for >= DISABLED_AFTER and endpoint.is_enabled:
        _disable(endpoint, failing_since, last, now)


def _disable(endpoint: WebhookEndpoint, failing_since: datetime, last: AttemptOutcome, now: datetime) -> None:
    """Send it nothing more until its partner enables it, and say so to the partner's other endpoints."""
    problem = last.error if last.http_status is None else f"HTTP {last.http_status}"
    since = f"{failing_since:%Y-%m-%d %H:%M} UTC"
    endpoint.is_enabled = False
    endpoint.disabled_reason = f"Every attempt since {since} failed, the last with {problem}."
    log.error("webhook_endpoint_disabled", endpoint_id=str(endpoint.id), partner=str(endpoint.partner_id))
    others = WebhookEndpoint.objects.filter(partner=endpoint.partner_id, mode=endpoint.mode, is_enabled=True)
    facts = {"endpointId": str(endpoint.id), "url": endpoint.url, "reason": endpoint.disabled_reason}
    send_to(list(others.exclude(id=endpoint.id)), DISABLED, at=now, facts=facts)
