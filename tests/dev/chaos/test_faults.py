"""A seed fixes the faults, and at most one provider of a network is bad at a time."""

from itertools import islice, pairwise

import pytest

from dev.chaos.fault_effects import effects_of
from dev.chaos.faults import DECKS, draw

SWEEPS = 500


@pytest.mark.parametrize("lane", DECKS)
def test_a_seed_draws_the_same_faults_again(lane: str) -> None:
    assert list(islice(draw(7, lane, sweeps=SWEEPS), 50)) == list(islice(draw(7, lane, sweeps=SWEEPS), 50))
    assert list(islice(draw(7, lane, sweeps=SWEEPS), 50)) != list(islice(draw(8, lane, sweeps=SWEEPS), 50))


@pytest.mark.parametrize("lane", DECKS)
def test_a_fault_begins_after_the_one_before_it_in_its_lane_has_ended(lane: str) -> None:
    for earlier, later in pairwise(islice(draw(7, lane, sweeps=SWEEPS), 50)):
        assert later.at > earlier.at + earlier.lasts


@pytest.mark.parametrize("lane", DECKS)
def test_every_fault_comes_once_before_any_comes_again(lane: str) -> None:
    drawn = list(islice(draw(7, lane, sweeps=SWEEPS), len(DECKS[lane])))
    assert sorted(fault.kind for fault in drawn) == sorted(card.partition(":")[0] for card in DECKS[lane])
    assert all(effects_of(fault) for fault in drawn)
