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
def executed() -> Sequence[Scene]:
    """Two sweeps that were executed in one block, seen from its own height."""
    return [scenes.completed() for _ in range(2)]


def await_finality(*seen: tuple[Scene, int]) -> None:
    """Write together that these sweeps await the finality of their block, each as seen from a head."""
    found = WatchedBlock.objects.get()
    sweeps = [lock_one(scene.sweep.id) for scene, _ in seen]
    for stored, (_, head_number) in zip(sweeps, seen, strict=True):
        stored.await_finality(BlockId(found.network, found.number, found.hash), head_number=head_number)
    write(sweeps)


def test_the_highest_head_counts_of_those_that_are_written_together(executed: Sequence[Scene]) -> None:
    await_finality((executed[0], 120), (executed[1], 110))
    assert WatchedBlock.objects.get().head_number == 120


def test_a_provider_that_lags_does_not_lower_the_head(executed: Sequence[Scene]) -> None:
    await_finality((executed[0], 120))
    await_finality((executed[1], 110))
    assert WatchedBlock.objects.get().head_number == 120


def test_a_block_is_no_longer_safe_for_all_once_another_sweep_awaits_its_finality(executed: Sequence[Scene]) -> None:
    WatchedBlock.objects.update(is_safe=True)
    await_finality((executed[1], 110))
    assert not WatchedBlock.objects.get().is_safe
