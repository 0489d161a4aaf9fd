"""Counts the lines of the log that an alert waits for; Django imports this at its start, in every process.

A counter that appears with its first line has not increased, as Prometheus sees it. So each has one from the start.
"""

from collections.abc import MutableMapping
from typing import Any

import structlog

from sweepapi.monitoring import metrics

# The rules in ``ops/prometheus/alerts.yml`` name these.
COUNTED = (
    "fee_account_unusable",
    "fee_signer_unavailable",
    "final_block_replaced",
    "following_failed",
    "holdings_source_failed",
    "late_execution_differs",
    "logs_disagree",
    "open_sweeps_on_unknown_networks",
    "poll_failed",
    "poll_incomplete",
    "prices_failed",
    "provider_quarantined",
    "receipts_missing",
    "reconciliation_behind",
    "scan_failed",
    "settling_failed",
    "swap_api_failed",
    "swap_api_refuses_our_terms",
    "tokens_not_quoted",
    "transactions_missing",
    "unsafe_swap_refused",
    "verified_list_failed",
    "webhook_endpoint_disabled",
    "webhook_endpoint_paused",
    "webhook_not_sent",
    "work_stalled",
)


def count(_logger: object, _method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Count a line on its way to the log."""
    if line["event"] in _counters:
        _counters[line["event"]].inc()
    return line


_counters = {event: metrics.LINES.labels(event) for event in COUNTED}
structlog.configure(processors=[count, *structlog.get_config()["processors"]])
