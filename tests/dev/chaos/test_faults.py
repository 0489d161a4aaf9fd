"""A seed fixes the faults, and at most one provider of a network is bad at a time."""

from itertools import islice, pairwise

import pytest

from dev.chaos.fault_effects import effects_of
from dev.chaos.faults import DECKS, FAIL_OVER, draw


@pytest.mark.parametrize("lane", DECKS)
def test_a_seed_draws_the_same_faults_again(lane: str) -> None:
    assert list(islice(draw(7, lane), 50)) == list(islice(draw(7, lane), 50))
    assert list(islice(draw(7, lane), 50)) != list(islice(draw(8, lane), 50))


@pytest.mark.parametrize("lane", DECKS)
def test_a_fault_begins_after_the_one_before_it_in_its_lane_has_ended(lane: str) -> None:
    for earlier, later in pairwise(islice(draw(7, lane), 50)):
        assert later.at > earlier.at + earlier.lasts


@pytest.mark.parametrize("lane", DECKS)
def test_every_fault_comes_once_before_any_comes_again(lane: str) -> None:
    drawn = list(islice(draw(7, lane), len(DECKS[lane])))
    assert sorted(fault.kind for fault in drawn) == sorted(card.partition(":")[0] for card in DECKS[lane])
    assert all(effects_of(fault) for fault in drawn)


def test_a_fault_can_be_left_out() -> None:
    drawn = islice(draw(7, "engine", without=frozenset({FAIL_OVER})), 50)
    assert all(fault.kind != FAIL_OVER for fault in drawn)
