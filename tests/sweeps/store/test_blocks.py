"""A block on which sweeps rest is watched from the highest head that was seen, and is safe again only once checked."""

from collections.abc import Sequence

import pytest

from sweeps.models import WatchedBlock
from sweeps.store.reading import lock_one
from sweeps.store.stored import BlockId
from sweeps.store.writing import write
from tests.races import scenes
from tests.races.scenes import Scene

pytestmark = pytest.mark.django_db


@pytest.fixture
def resting() -> Sequence[Scene]:
    """Two sweeps that were executed in one block, seen from its own height."""
    return [scenes.completed() for _ in range(2)]


def rest(*seen: tuple[Scene, int]) -> None:
    """Write together that these sweeps rest on their block, each as seen from a head."""
    found = WatchedBlock.objects.get()
    sweeps = [lock_one(scene.sweep.id) for scene, _ in seen]
    for stored, (_, head_number) in zip(sweeps, seen, strict=True):
        stored.rest(BlockId(found.network, found.number, found.hash), head_number=head_number)
    write(sweeps)


def test_the_highest_head_counts_of_those_that_are_written_together(resting: Sequence[Scene]) -> None:
    rest((resting[0], 120), (resting[1], 110))
    assert WatchedBlock.objects.get().head_number == 120


def test_a_provider_that_lags_does_not_lower_the_head(resting: Sequence[Scene]) -> None:
    rest((resting[0], 120))
    rest((resting[1], 110))
    assert WatchedBlock.objects.get().head_number == 120


def test_a_block_is_no_longer_safe_for_all_once_another_sweep_rests_on_it(resting: Sequence[Scene]) -> None:
    WatchedBlock.objects.update(is_safe=True)
    rest((resting[1], 110))
    assert not WatchedBlock.objects.get().is_safe
