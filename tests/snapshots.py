"""Compares a sweep as one statement reads it with the same sweep as models and serializers show it."""

from uuid import UUID

from rest_framework.renderers import JSONRenderer

from partners.authentication import Requester
from sweepapi.modes import mode_of
from sweeps.models import Sweep
from sweeps.rails.registry import RAILS, V1, V1_RAILS, V2, V2_RAILS
from sweeps.serializers.history import ListedSweepSerializer
from sweeps.shown.listing import listed
from sweeps.shown.reading import read_snapshot, read_snapshot_in_full, read_summaries
from sweeps.story.state import SweepState

VERSIONS = ((V2_RAILS, V2, read_snapshot), (V1_RAILS, V1, read_snapshot_in_full))


def assert_shown_as_described(sweep_id: UUID) -> None:
    """Fail unless both show the same bytes, in every version of the API that shows the sweep, and in a list."""
    partner_id, rail, network = Sweep.objects.values_list("partner_id", "rail", "network").get(id=sweep_id)
    requester = Requester("", "", partner_id, mode_of(network), frozenset())
    versions = [(rails, present, read) for rails, present, read in VERSIONS if rail in rails]
    assert versions
    for rails, present, read in versions:
        snapshot = read(requester, sweep_id, rails=rails)
        described = present.state(SweepState.of(Sweep.objects.get(id=sweep_id))).data
        shown = present.status_object(snapshot, RAILS[rail])
        assert JSONRenderer().render(shown) == JSONRenderer().render(described)
    (summary,) = read_summaries([sweep_id])
    described = ListedSweepSerializer(SweepState.of(Sweep.objects.get(id=sweep_id))).data
    assert JSONRenderer().render(listed(summary, RAILS[rail])) == JSONRenderer().render(described)
