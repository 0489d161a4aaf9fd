"""The status objects of many sweeps at once, as the endpoints of their versions show them; for webhooks."""

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from sweeps.models import Sweep
from sweeps.rails.registry import V1, V2, V2_RAILS
from sweeps.serializers.rendering import rendered
from sweeps.state import SweepState


def status_objects(sweep_ids: Collection[UUID]) -> Mapping[UUID, Mapping[str, Any]]:
    """Return the status object of each of these sweeps, by its id."""
    sweeps = Sweep.objects.filter(id__in=sweep_ids).select_related("partner")
    return {sweep.id: rendered((V2 if sweep.rail in V2_RAILS else V1).state, SweepState.of(sweep)) for sweep in sweeps}
