"""The label that every page of the console shows while builds are stopped or partners suspended."""

from django.http import HttpRequest

from partners.models import Partner
from sweepapi import networks
from sweeps.models import BuildStop


def label(request: HttpRequest) -> list[str] | None:
    """Return text and colour; None if no brake is on, and for those who are not logged in."""
    if not request.user.is_authenticated:
        return None
    stops = BuildStop.objects.filter(lifted_at=None).select_related("partner")
    stopped = [f"builds stopped {stop.scope(networks.current().name_of)}" for stop in stops]
    suspended = Partner.objects.filter(status=Partner.Status.SUSPENDED).values_list("name", flat=True)
    brakes = [*stopped, *(f"{name} suspended" for name in suspended)]
    if not brakes:
        return None
    more = f", and {len(brakes) - 2} more" if len(brakes) > 2 else ""  # noqa: PLR2004 what the header has room for
    return [", ".join(brakes[:2]) + more, "danger"]
