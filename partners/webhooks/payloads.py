"""The bodies of messages: type, time and data, as Standard Webhooks says."""

import json
from collections.abc import Mapping
from typing import Any

from partners.webhooks.models import WebhookMessage
from sweepapi import networks


def body_of(message: WebhookMessage, sweep: Mapping[str, Any] | None) -> bytes:
    """Return the body; with the status object of the ``sweep`` for endpoints that chose full payloads."""
    data = data_of(message)
    if sweep is not None:
        data["sweep"] = sweep
    timestamp = message.occurred_at.isoformat().replace("+00:00", "Z")
    body = {"type": message.type, "timestamp": timestamp, "data": data}
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False, default=str).encode()


def data_of(message: WebhookMessage) -> dict[str, Any]:
    """Return what a message says."""
    if message.sweep_ref is None or message.network is None:
        return dict(message.facts)
    return {
        "sweepId": str(message.sweep_ref),
        "clientReference": message.facts["clientReference"],
        "chain": networks.current().name_of(message.network),
        "status": message.facts["status"],
        "final": message.is_final,
        "sequence": message.sequence,
        "txHash": message.facts["txHash"],
    }
