"""Stopping builds, and what becomes of a request while they are stopped."""

from uuid import UUID

from django.db.models import Q
from django.db.models.functions import Now

from sweepapi.errors import BuildDisabled
from sweeps.models import BuildStop

RETRY_AFTER_SECONDS = 60


def refuse_stopped(network: str, partner_id: UUID) -> None:
    """Raise ``BuildDisabled`` while builds of the partner on the network are stopped."""
    here = (Q(network=None) | Q(network=network)) & (Q(partner=None) | Q(partner_id=partner_id))
    if BuildStop.objects.filter(here, lifted_at=None).exists():
        raise BuildDisabled(retry_after_seconds=RETRY_AFTER_SECONDS)


def lift(stop: BuildStop, *, lifted_by: str) -> bool:
    """Let these builds go on; returns whether they were stopped until now."""
    return BuildStop.objects.filter(pk=stop.pk, lifted_at=None).update(lifted_at=Now(), lifted_by=lifted_by) > 0
