"""A sandbox chain is changed by one request at a time, and no second by which its clock is moved is forgotten."""

from contextlib import ExitStack
from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from sweepapi.errors import ServiceUnavailable
from sweeps.models import MovedClock, SandboxChain
from sweeps.sandbox import turns
from sweeps.sandbox.script import Script
from sweeps.sandbox.turns import taking_turn
from tests.factories.partners import PartnerFactory
from tests.factories.sweeps import LOCAL
from tests.races.interleaving import Race, assert_serial

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up at once if it is the turn of another."""
    monkeypatch.setattr(turns, "WAIT_SECONDS", 0)


def is_taken() -> bool:
    try:
        with taking_turn(LOCAL):
            return False
    except ServiceUnavailable:
        return True


def test_a_turn_is_of_one_request_until_it_ends() -> None:
    with taking_turn(LOCAL):
        assert is_taken()
    assert not is_taken()


def test_a_request_that_lost_its_turn_does_not_end_that_of_the_next_one() -> None:
    with ExitStack() as next_one:
        with taking_turn(LOCAL):
            SandboxChain.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
            next_one.enter_context(taking_turn(LOCAL))
        assert is_taken()
    assert not is_taken()


def test_seconds_that_are_counted_at_the_same_time_are_all_counted() -> None:
    today = timezone.now().date()

    def stage() -> UUID:
        partner = PartnerFactory.create()
        Script(LOCAL, partner.id).count_seconds(1, today, at_most=100)
        return partner.id

    def count(partner_id: UUID) -> bool:
        return Script(LOCAL, partner_id).count_seconds(10, today, at_most=100)

    def counted(partner_id: UUID) -> int:
        return MovedClock.objects.get(partner_id=partner_id).seconds

    race = Race(stage, count, count, counted)
    assert race.in_turn() == (True, True, 21)
    assert_serial(race)
