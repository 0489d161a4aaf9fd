"""Two operations on one sweep at the same time end like one after the other, wherever the second one begins."""

from itertools import product

import pytest

from tests.races import scenes
from tests.races.interleaving import Operation, Race, assert_serial

pytestmark = pytest.mark.django_db(transaction=True)

ON_REPORTED = (
    scenes.executed,
    scenes.reverted,
    scenes.ran_out,
    scenes.cancelled,
    scenes.other_hash_reported,
    scenes.cancellation_requested,
)
ON_BUILT = (scenes.ran_out, scenes.other_hash_reported, scenes.voided, scenes.cancelled_by_partner)
ON_COMPLETED = (scenes.gone, scenes.final, scenes.executed)


def pairs(*operations: Operation[scenes.Scene]) -> list[tuple[Operation[scenes.Scene], Operation[scenes.Scene]]]:
    """Return each with each, itself included, in both orders."""
    return list(product(operations, repeat=2))


def named(operation: object) -> str:
    return getattr(operation, "__name__", "")


@pytest.mark.parametrize(("first", "rival"), pairs(*ON_REPORTED), ids=named)
def test_a_sweep_that_waits_for_its_receipt(first: Operation[scenes.Scene], rival: Operation[scenes.Scene]) -> None:
    assert_serial(Race(scenes.reported, first, rival, scenes.outcome))


@pytest.mark.parametrize(("first", "rival"), pairs(*ON_BUILT), ids=named)
def test_a_sweep_that_was_not_reported(first: Operation[scenes.Scene], rival: Operation[scenes.Scene]) -> None:
    assert_serial(Race(scenes.built, first, rival, scenes.outcome))


@pytest.mark.parametrize(("first", "rival"), pairs(*ON_COMPLETED), ids=named)
def test_a_sweep_that_was_executed(first: Operation[scenes.Scene], rival: Operation[scenes.Scene]) -> None:
    assert_serial(Race(scenes.completed, first, rival, scenes.outcome))


@pytest.mark.parametrize(("first", "rival"), pairs(scenes.reopened, scenes.final), ids=named)
def test_a_sweep_that_was_closed(first: Operation[scenes.Scene], rival: Operation[scenes.Scene]) -> None:
    assert_serial(Race(scenes.closed, first, rival, scenes.outcome))
