"""No one holds more than a share of the places, and a few wait a moment for one."""

from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import ExitStack

import pytest

from sweepapi.errors import TooManyAtOnce
from sweepapi.limits.places import SharedPlaces

PATIENT_SECONDS = 60.0


def test_a_holder_is_refused_above_its_share_and_another_has_the_rest() -> None:
    places = SharedPlaces(places=3, share=2, queue=0, patience_seconds=0)
    with places.taking("a", TooManyAtOnce()), places.taking("a", TooManyAtOnce()):
        with pytest.raises(TooManyAtOnce), places.taking("a", TooManyAtOnce()):
            pass
        with places.taking("b", TooManyAtOnce()), pytest.raises(TooManyAtOnce), places.taking("c", TooManyAtOnce()):
            pass


def test_a_place_is_free_again_after_an_error() -> None:
    places = SharedPlaces(places=1, share=1, queue=0, patience_seconds=0)
    with pytest.raises(ZeroDivisionError), places.taking("a", TooManyAtOnce()):
        raise ZeroDivisionError
    with places.taking("a", TooManyAtOnce()):
        pass


def test_one_waits_in_the_queue_until_a_place_is_free_and_the_next_is_refused_at_once() -> None:
    places = SharedPlaces(places=1, share=1, queue=1, patience_seconds=PATIENT_SECONDS)

    def enter(stack: ExitStack) -> None:
        stack.enter_context(places.taking("a", TooManyAtOnce()))

    with ThreadPoolExecutor(2) as callers, ExitStack() as first, ExitStack() as later:
        enter(first)
        done, others = wait([callers.submit(enter, later) for _ in range(2)], return_when=FIRST_COMPLETED)
        assert [type(one.exception()) for one in done] == [TooManyAtOnce]
        first.close()
        assert [one.exception() for one in others] == [None]


def test_who_waits_too_long_is_refused_and_leaves_the_queue() -> None:
    places = SharedPlaces(places=1, share=1, queue=1, patience_seconds=0.01)
    with places.taking("a", TooManyAtOnce()):
        for _ in range(3):
            with pytest.raises(TooManyAtOnce), places.taking("b", TooManyAtOnce()):
                pass
    with places.taking("b", TooManyAtOnce()):
        pass
