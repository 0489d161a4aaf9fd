"""Which stored sweeps a key reaches: those of its partner and mode, on the rails of a version of the API."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from partners.authentication import Requester
from sweepapi.errors import SweepNotFound
from sweepapi.modes import in_mode
from sweeps.models import Sweep


def visible_to(requester: Requester, *, rails: Collection[str]) -> Q:
    """Return the condition that a sweep on one of these rails is of the key's partner and mode."""
    return in_mode(requester.mode) & Q(partner=requester.partner_id, rail__in=rails)


def sweep_of_partner(requester: Requester, sweep_id: UUID, *, rails: Collection[str]) -> Sweep:
    """Return a sweep on one of these rails; raises ``SweepNotFound``, for any that the key does not reach too."""
    sweep = Sweep.objects.filter(visible_to(requester, rails=rails), id=sweep_id).first()
    if sweep is None:
        raise SweepNotFound
    return sweep


@dataclass(frozen=True, kw_only=True)
class HistoryFilter:
    """Which sweeps to list; None matches all."""

    network: str | None = None
    status: str | None = None
    wallet: str | None = None
    client_reference: str | None = None
    since: datetime | None = None  # built then or later
    until: datetime | None = None  # built before


def sweeps_of_partner(requester: Requester, chosen: HistoryFilter, *, rails: Collection[str]) -> QuerySet[Sweep]:
    """Return the sweeps on these rails that the key reaches and that match the filter."""
    sweeps = Sweep.objects.filter(visible_to(requester, rails=rails))
    conditions = {
        "network": chosen.network,
        "status": chosen.status,
        "wallet": chosen.wallet,
        "client_reference": chosen.client_reference,
        "created_at__gte": chosen.since,
        "created_at__lt": chosen.until,
    }
    return sweeps.filter(**{lookup: value for lookup, value in conditions.items() if value is not None})
