"""The console's home: what is away, what waits for someone, and which brakes are on."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Sum
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from console.models import FailedLogins
from partners.models import Partner
from sweepapi import networks
from sweepapi.admin.provider_page import BAD
from sweeps import heartbeats
from sweeps.models import BuildStop, Sweep
from sweeps.queues import QUEUES


@dataclass(frozen=True)
class Fact:
    """A line of the page: what it is about, what is known, and where to go on."""

    name: str
    text: str
    link: str = ""
    is_bad: bool = False


def context(_request: HttpRequest, given: dict[str, Any]) -> dict[str, Any]:
    """Add the sections of the page to what its template is given."""
    sections = {"At work": _processes(), "Waits for someone": _queues(), "Brakes": _brakes()}
    return {**given, "sections": {title: list(facts) for title, facts in sections.items()}}


def _processes() -> Iterator[Fact]:
    seen = heartbeats.presences()
    for name in heartbeats.NAMES:
        presence = seen.get(name, heartbeats.UNSEEN)
        since = presence.last_seen_at
        ago = "never seen" if since is None else f"last seen {since:%Y-%m-%d %H:%M:%S} UTC"
        yield Fact(name.capitalize(), "at work" if presence.is_at_work else ago, is_bad=not presence.is_at_work)
    registry = networks.current()
    for network in registry.enabled_networks:
        states = registry.pool(network).state
        bad = sum(state.status in BAD for state in states)
        text = f"{len(states) - bad} of {len(states)} providers are good for this process"
        yield Fact(registry.name_of(network), text, reverse("providers"), is_bad=bad > 0)


def _queues() -> Iterator[Fact]:
    lists = reverse("admin:sweeps_sweep_changelist")
    for queue in QUEUES:
        count = Sweep.objects.filter(queue.condition()).count()
        yield Fact(queue.title, str(count), f"{lists}?queue={queue.name}", is_bad=queue.is_bad and count > 0)
    hour = timezone.now() - timedelta(hours=1)
    failed = FailedLogins.objects.filter(minute__gt=hour).aggregate(total=Sum("count"))["total"] or 0
    yield Fact("Failed logins within the hour", str(failed), reverse("admin:console_failedlogins_changelist"))


def _brakes() -> Iterator[Fact]:
    for stop in BuildStop.objects.filter(lifted_at=None).select_related("partner"):
        page = reverse("admin:sweeps_buildstop_change", args=[stop.pk])
        scope = stop.scope(networks.current().name_of)
        yield Fact(f"Builds stopped {scope}", f"{stop.reason} ({stop.stopped_by})", page, is_bad=True)
    for partner in Partner.objects.filter(status=Partner.Status.SUSPENDED):
        yield Fact(partner.name, "suspended", reverse("admin:partners_partner_change", args=[partner.pk]), is_bad=True)
