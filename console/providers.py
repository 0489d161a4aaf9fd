"""The console's page of providers: by network, what each process knows of each, as it reported seconds ago.

Every process has its own view, as it has its own connections. Providers are named by their position in
``RPC_URLS_<CHAIN>``, as in the log, because the URLs may contain keys.
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from sweepapi import networks
from sweepapi.rpc.ranking import ProviderState, ProviderStatus
from sweeps import processes
from sweeps.models import RunningProcess

HEADERS = [
    "Provider",
    "Process",
    "State",
    "Newest block",
    "Behind",
    "Answers in",
    "Error rate",
    "Answered",
    "Failed",
    "Outvoted",
]
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


@admin.site.admin_view
def providers(request: HttpRequest) -> HttpResponse:
    """Show the providers of every enabled network as all processes see them."""
    context = {**admin.site.each_context(request), "title": "Providers", "sections": list(_sections())}
    return render(request, "console/providers.html", context)


def states_by_network(running: Iterable[RunningProcess]) -> dict[str, list[tuple[str, ProviderState]]]:
    """Return by network each provider's state with the name of the process that sees it so; this one is the first."""
    seen = defaultdict[str, list[tuple[str, ProviderState]]](list)
    for state in processes.states(networks.current()):
        seen[state.network].append(("this one", state))
    for process in running:
        for state in processes.states_of(process):
            seen[state.network].append((process.name, state))
    return seen


def _sections() -> Iterator[ProviderSection]:
    seen = states_by_network(processes.running())
    for network in networks.current().enabled_networks:
        rows = [_row(name, state) for name, state in sorted(seen[network], key=lambda one: one[1].position)]
        title = f"{networks.current().name_of(network)} ({network})"
        yield ProviderSection(title, {"headers": HEADERS, "rows": rows})


def _row(process: str, state: ProviderState) -> list[str]:
    return [
        f"Provider {state.position}",
        process,
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
