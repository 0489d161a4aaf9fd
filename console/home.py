"""The console's home: what is away, waits for someone, is stopped, holds or changed, and what was earned."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.contrib.admin.models import LogEntry
from django.db.models import Sum
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from console import figures
from console.models import FailedLogins
from console.providers import BAD, states_by_network
from partners.models import Partner
from sweepapi import networks
from sweeps import heartbeats, processes
from sweeps.models import BuildStop, Comparison, RunningProcess, Sweep
from sweeps.queues import QUEUES

MOST_CHANGES = 12
UNSIGNED_SECONDS = 3_600  # after which the alert is
SIGNER_NEEDS_WEI = 2 * 10**16  # for one cancellation at the highest price, as the alert has it


Running = Sequence[RunningProcess]


@dataclass(frozen=True)
class Fact:
    """A line of the page: what it is about, what is known, and where to go on."""

    name: str
    text: str
    link: str = ""
    is_bad: bool = False


def context(request: HttpRequest, given: dict[str, Any]) -> dict[str, Any]:
    """Add the sections of the page to what its template is given."""
    running = list(processes.running())
    sections = {
        "At work": _processes(running),
        "Waits for someone": _queues(),
        "Brakes": _brakes(),
        "Invariants": _invariants(running),
        "Changed in 24 hours": _changes(running),
    }
    shown = {title: list(facts) for title, facts in sections.items()}
    of_money = {"charts": figures.charts(), "earners": figures.earners()}
    return {**given, "sections": shown} | (of_money if request.user.has_perm(figures.PERMISSION) else {})


def _processes(running: Running) -> Iterator[Fact]:
    seen = heartbeats.presences()
    for name in heartbeats.NAMES:
        presence = seen.get(name, heartbeats.UNSEEN)
        since = presence.last_seen_at
        ago = "never seen" if since is None else f"last seen {since:%Y-%m-%d %H:%M:%S} UTC"
        yield Fact(name.capitalize(), "at work" if presence.is_at_work else ago, is_bad=not presence.is_at_work)
    yield from _releases(running)
    viewed = states_by_network(running)
    for network in networks.current().enabled_networks:
        every = {state.position for _, state in viewed[network]}
        bad = {state.position for _, state in viewed[network] if state.status in BAD}
        text = f"{len(every - bad)} of {len(every)} providers are good for every process"
        yield Fact(networks.current().name_of(network), text, reverse("providers"), is_bad=bool(bad))
    yield from _signer(running)


def _releases(running: Running) -> Iterator[Fact]:
    """Yield which releases run, and in how many processes of each kind."""
    kinds = Counter((process.release, process.kind) for process in running)
    releases = sorted({release for release, _ in kinds})
    for release in releases:
        counted = ", ".join(f"{count} {kind}" for (of, kind), count in sorted(kinds.items()) if of == release)
        yield Fact(f"Release {release}", counted, is_bad=len(releases) > 1)


def _signer(running: Running) -> Iterator[Fact]:
    """Yield what the fee signer has for the gas of cancellations, as the loop read it."""
    read = {network: wei for noted in processes.noted(running, processes.SIGNER_WEI) for network, wei in noted.items()}
    for network, wei in sorted(read.items()):
        name = f"Fee signer on {networks.current().name_of(network)}"
        yield Fact(name, f"{wei / 10**18:.4f} coins for gas", is_bad=wei < SIGNER_NEEDS_WEI)


def _queues() -> Iterator[Fact]:
    lists = reverse("admin:sweeps_sweep_changelist")
    for queue in QUEUES:
        count = Sweep.objects.filter(queue.condition()).count()
        yield Fact(queue.title, str(count), f"{lists}?queue={queue.name}", is_bad=queue.is_bad and count > 0)
    hour = timezone.now() - timedelta(hours=1)
    failed = FailedLogins.objects.filter(minute__gt=hour).aggregate(total=Sum("count"))["total"] or 0
    yield Fact("Failed logins within the hour", str(failed), reverse("admin:console_failedlogins_changelist"))


def _invariants(running: Running) -> Iterator[Fact]:
    """Yield what is checked all the time, and when that was last so."""
    for one in Comparison.objects.order_by("network"):
        name = f"Books of {networks.current().name_of(one.network)}"
        found = "as the chain" if not one.differences else f"{one.differences} differences from the chain"
        yield Fact(name, f"{found}, {one.compared_at:%Y-%m-%d %H:%M} UTC", is_bad=one.differences > 0)
    found_unbalanced = processes.noted(running, processes.UNBALANCED_ENTRIES)
    if found_unbalanced:
        most = max(found_unbalanced)
        yield Fact("Ledger", f"{most or 'no'} unbalanced entries", is_bad=most > 0)
    waits = processes.noted(running, processes.UNSIGNED_SECONDS)
    if waits:
        seconds = max(waits)
        text = "all that are over are signed" if seconds == 0 else f"one waits for {seconds / 3600:.1f} h"
        yield Fact("Months", text, reverse("admin:ledger_checkpoint_changelist"), is_bad=seconds > UNSIGNED_SECONDS)
    scheduled = {
        (network, meaning, is_announced)
        for by_network in processes.noted(running, processes.SCHEDULED)
        for network, operations in by_network.items()
        for meaning, is_announced in operations
    }
    for network, meaning, is_announced in sorted(scheduled):
        name = f"Contracts on {networks.current().name_of(network)}"
        text = f"scheduled, and {'announced' if is_announced else 'not announced'}: {meaning}"
        yield Fact(name, text, is_bad=not is_announced)


def _changes(running: Running) -> Iterator[Fact]:
    """Yield which processes started, and what operators changed, newest first."""
    since = timezone.now() - timedelta(days=1)
    started = [(process.release, process.kind) for process in running if process.started_at > since]
    for (release, kind), count in Counter(started).items():
        yield Fact(f"Release {release}", f"{count} {kind} started")
    for entry in LogEntry.objects.filter(action_time__gt=since).select_related("user", "content_type")[:MOST_CHANGES]:
        at = f"{entry.action_time:%H:%M} UTC, {entry.user}"
        yield Fact(f"{entry.content_type}: {entry.object_repr}"[:80], f"{entry.get_change_message()} ({at})")


def _brakes() -> Iterator[Fact]:
    for stop in BuildStop.objects.filter(lifted_at=None).select_related("partner"):
        page = reverse("admin:sweeps_buildstop_change", args=[stop.pk])
        scope = stop.scope(networks.current().name_of)
        yield Fact(f"Builds stopped {scope}", f"{stop.reason} ({stop.stopped_by})", page, is_bad=True)
    for partner in Partner.objects.filter(status=Partner.Status.SUSPENDED):
        yield Fact(partner.name, "suspended", reverse("admin:partners_partner_change", args=[partner.pk]), is_bad=True)
