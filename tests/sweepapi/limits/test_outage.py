"""An outage is known once its own thread found it, and until that finds the end of it."""

from collections.abc import Iterator
from threading import Event

import pytest

from dev.processes.waiting import wait_until
from sweepapi.limits import outage
from sweepapi.limits.outage import Outage

pytestmark = pytest.mark.usefixtures("probing")


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outage, "PAUSE_SECONDS", 0.01)


@pytest.fixture
def answering() -> Iterator[Event]:
    """Whether the service answers; it does in the end, which ends the thread."""
    answers = Event()
    yield answers
    answers.set()


def test_an_outage_that_is_only_suspected_is_not_known(answering: Event) -> None:
    answering.set()
    probed = Event()

    def answers() -> bool:
        probed.set()
        return answering.is_set()

    watched = Outage("test", answers)
    watched.suspect()
    assert probed.wait(60)
    assert not watched.is_known


def test_an_outage_is_known_until_the_service_answers(answering: Event) -> None:
    watched = Outage("test", answering.is_set)
    assert not watched.is_known
    watched.suspect()
    wait_until(lambda: watched.is_known, within_seconds=60, what="knowledge of the outage")
    answering.set()
    wait_until(lambda: not watched.is_known, within_seconds=60, what="its end")


def test_a_service_that_no_one_asks_is_not_asked_for_ever(answering: Event, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Outage("test", answering.is_set)
    assert not watched.is_known
    watched.suspect()
    wait_until(lambda: watched.is_known, within_seconds=60, what="knowledge of the outage")
    monkeypatch.setattr(outage, "FORGOTTEN_AFTER_SECONDS", 0.0)
    wait_until(lambda: not watched.is_known, within_seconds=60, what="forgetting it")
