"""Cancellations on chain are signed once and counted once, although others send and request some at the same time."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from indexer.jobs import send_cancellations
from sweepapi import networks
from sweeps.models import Sweep
from sweeps.rails.evm_v5.cancelling import RAN_OUT
from sweeps.rails.evm_v5.models import Cancellation
from sweeps.story.withdrawal import void
from tests.factories.partners import PartnerFactory
from tests.factories.sweeps import SweepFactory
from tests.local_chain import LocalChain
from tests.races import scenes
from tests.races.interleaving import Race, assert_serial
from tests.races.scenes import Scene

pytestmark = pytest.mark.django_db(transaction=True)


@dataclass(frozen=True)
class Requested:
    """A cancellation that was requested, and one that came too late."""

    cancellation: Cancellation
    late: Cancellation


@pytest.fixture
def stage(chain: LocalChain) -> Callable[[], Requested]:
    """Request cancellations of sweeps on the local chain, which are then the only ones."""
    chain.give_coins(networks.current().fee_signer.address)

    def request() -> Cancellation:
        sweep = SweepFactory.create(execution__venue=chain.contracts["v5"])
        void(sweep_id=sweep.id, reason="stolen key", requested_by="ops", cancels=True)
        return Cancellation.objects.get(execution__sweep=sweep)

    def make() -> Requested:
        late = request()
        Cancellation.objects.filter(pk=late.pk).update(last_error=RAN_OUT)
        Sweep.objects.filter(is_open=True).update(is_open=False, closed_at=timezone.now(), next_check_at=None)
        return Requested(request(), late)

    return make


def sent(_scene: Requested) -> None:
    send_cancellations()


def signed(scene: Requested) -> dict[str, Any]:
    scene.cancellation.refresh_from_db()
    scene.late.refresh_from_db()
    assert scene.late.last_error == RAN_OUT
    return {
        "attempts": [row.attempt for row in scene.cancellation.transactions.all()],
        "error": scene.cancellation.last_error,
    }


def test_two_workers_sign_a_cancellation_once(stage: Callable[[], Requested]) -> None:
    assert_serial(Race(stage, sent, sent, signed, is_restored=False))  # because the chain is not


# --- the daily limit --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Limited:
    """Two sweeps of a partner, of which one may be cancelled on chain today."""

    one: Scene
    other: Scene


def limited() -> Limited:
    partner = PartnerFactory.create()
    return Limited(*(scenes.built(partner=partner) for _ in range(2)))


def one_cancelled(scene: Limited) -> None:
    scenes.cancelled_by_partner(scene.one)


def other_cancelled(scene: Limited) -> None:
    scenes.cancelled_by_partner(scene.other)


def cancelled(scene: Limited) -> list[dict[str, Any]]:
    return [scenes.outcome(scene.one), scenes.outcome(scene.other)]


@pytest.mark.usefixtures("unreachable_chain")
def test_the_last_cancellation_of_the_day_is_granted_once(settings: Settings) -> None:
    settings.ONCHAIN_CANCELLATIONS_PER_DAY = 1
    assert_serial(Race(limited, one_cancelled, other_cancelled, cancelled))
