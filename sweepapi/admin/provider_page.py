"""The admin's page of providers: by network, what the process that serves the page knows of each.

Every process has its own view, as it has its own connections; those of the worker are in its metrics. Providers are
named by their position in ``RPC_URLS_<CHAIN>``, as in the log, because the URLs may contain keys.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from sweepapi import networks
from sweepapi.evm.chain.chains import Chain
from sweepapi.rpc.ranking import ProviderState, ProviderStatus
from sweepapi.solana.cluster.clusters import Cluster

HEADERS = ["Provider", "State", "Newest block", "Behind", "Answers in", "Error rate", "Answered", "Failed", "Outvoted"]
UNKNOWN = "-"
BAD = frozenset((ProviderStatus.QUARANTINED, ProviderStatus.DISTRUSTED, ProviderStatus.FAILING))
LABELS: Mapping[ProviderStatus, str] = {
    ProviderStatus.HEALTHY: "success",
    ProviderStatus.UNPROVEN: "info",
    **dict.fromkeys(BAD, "danger"),
}  # all others are warnings


@dataclass(frozen=True)
class ProviderSection:
    """One network of the page."""

    title: str
    table: Mapping[str, Any]  # as unfold's component takes it


def providers(request: HttpRequest) -> HttpResponse:
    """Show the providers of every enabled network, whether this process has queried them or not."""
    context = {**admin.site.each_context(request), "title": "Providers", "sections": list(_sections())}
    return render(request, "sweepapi/providers.html", context)


def _sections() -> Iterator[ProviderSection]:
    registry = networks.current()
    enabled: tuple[Chain | Cluster, ...] = (*registry.enabled, *registry.enabled_clusters)
    for network in enabled:
        rows = [_row(state) for state in registry.pool(network.network).state]
        yield ProviderSection(f"{network.name} ({network.network})", {"headers": HEADERS, "rows": rows})


def _row(state: ProviderState) -> list[str]:
    return [
        f"Provider {state.position}",
        _label(state),
        _head(state),
        UNKNOWN if state.blocks_behind is None else f"{state.blocks_behind} blocks",
        UNKNOWN if state.latency_seconds is None else f"{state.latency_seconds * 1_000:.0f} ms",
        f"{state.error_rate:.0%}",
        str(state.answered),
        str(state.failed),
        str(state.outvoted),
    ]


def _label(state: ProviderState) -> SafeString:
    rest = f" for {state.paused_for_seconds:.0f} s" if state.paused_for_seconds > 0 else ""
    label = {"text": f"{state.status}{rest}", "type": LABELS.get(state.status, "warning")}
    return render_to_string("unfold/helpers/label.html", label)


def _head(state: ProviderState) -> str:
    if state.head_number is None:
        return UNKNOWN
    if state.head_timestamp is None:
        return str(state.head_number)
    return f"{state.head_number}, {max(time.time() - state.head_timestamp, 0):.0f} s ago"
