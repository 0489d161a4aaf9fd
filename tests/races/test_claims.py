"""Due sweeps are leased to one check at a time, and what a check gives back it still holds."""

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from indexer import checks, claims
from indexer.claims import SweepClaim
from sweeps.models import Sweep
from sweeps.rails.evm.base import EvmBase
from sweeps.store import leases
from tests.factories.sweeps import LOCAL, SweepFactory
from tests.races import scenes
from tests.races.interleaving import Operation, Race, assert_all_serial, assert_serial, waits_for
from tests.races.scenes import MINUTE, Scene

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("unreachable_chain")]

LONGEST_DELAY = timedelta(seconds=settings.MAX_CHECK_DELAY_SECONDS)


@dataclass(frozen=True)
class Due:
    """A sweep that waits for a receipt and one that is followed, both due, and who claimed them."""

    awaited: Sweep
    followed: Sweep
    claimed: list[tuple[str, SweepClaim]] = field(default_factory=list)

    def note(self, claimer: str, claim: SweepClaim | None) -> None:
        if claim is not None:
            self.claimed.append((claimer, claim))


def two_due() -> Due:
    """Make two sweeps due, and no other ones."""
    Sweep.objects.filter(is_open=True).update(next_check_at=timezone.now() + MINUTE)
    awaited = SweepFactory.create(next_check_at=timezone.now() - MINUTE)
    followed = scenes.completed()
    Sweep.objects.filter(id=followed.sweep.id).update(next_check_at=timezone.now() - MINUTE)
    return Due(awaited, followed.sweep)


def claimed_one(due: Due) -> None:
    with transaction.atomic():  # so that there is a time between the statement and its commit
        due.note("one", claims.claim_one(due.awaited.id))


def claimed_both(due: Due) -> None:
    with transaction.atomic():
        due.note("both", claims.claim_these([due.followed.id, due.awaited.id]))


def claimed_what_is_due(due: Due) -> None:
    due.note("due", claims.claim_due())


def holders(due: Due) -> dict[str, str]:
    """Return who holds each sweep, which is one claimer at most."""
    held: dict[str, str] = {}
    for name in ("awaited", "followed"):
        sweep = Sweep.objects.get(id=getattr(due, name).id)
        claimers = [(claimer, claim) for claimer, claim in due.claimed if sweep in claim.sweeps]
        assert [claim.lease for _, claim in claimers] == ([sweep.lease_token] if sweep.lease_token else [])
        held.update((name, claimer) for claimer, _ in claimers)
    return held


def test_each_sweep_has_one_holder() -> None:
    assert_all_serial(two_due, holders, [claimed_one, claimed_both, claimed_what_is_due])


@pytest.mark.parametrize("claimed", [claimed_both, claimed_what_is_due])
def test_a_claim_does_not_wait_for_a_sweep_that_is_being_written(claimed: Operation[Due]) -> None:
    due = two_due()
    assert not waits_for(Sweep.objects.filter(id=due.awaited.id), lambda: claimed(due))
    assert [claim.sweeps for _, claim in due.claimed] == [[due.followed]]


@pytest.mark.parametrize("claimed", [claimed_both, claimed_what_is_due])
def test_a_closed_sweep_is_not_claimed_whatever_became_of_its_lease(claimed: Operation[Due]) -> None:
    due = two_due()
    Sweep.objects.filter(id=due.followed.id).update(
        is_open=False,
        closed_at=timezone.now(),
        next_check_at=None,
        watched_block=None,
        lease_token=uuid4(),
        lease_until=timezone.now() - MINUTE,
    )
    claimed(due)
    assert [claim.sweeps for _, claim in due.claimed] == [[due.awaited]]


def test_a_renewal_does_not_wait_for_a_sweep_that_is_being_written_and_extends_only_its_own_lease() -> None:
    due = two_due()
    claimed_both(due)
    [(_, claim)] = due.claimed
    rows = Sweep.objects.filter(id=due.awaited.id)
    assert not waits_for(rows, lambda: claims.renew(claim))
    taken_until = timezone.now() + MINUTE
    rows.update(lease_token=scenes.NEW_HOLDER, lease_until=taken_until)
    claims.renew(claim)
    assert rows.get().lease_until == taken_until


# --- what is given back -----------------------------------------------------------------------------------------------


class LookFailedError(Exception):
    """An error of the check that its rail does not handle."""


def check_failed(scene: Scene) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(EvmBase, "read", staticmethod(fail))
        with suppress(LookFailedError):
            checks.check_one(scene.sweep.id)


def fail(*_arguments: Any) -> None:
    raise LookFailedError


def of_a_later_release() -> Scene:
    """Return a due sweep on a rail that this release does not know."""
    scene = scenes.reported()
    Sweep.objects.filter(id=scene.sweep.id).update(rail="evm_v9")
    return scene


def test_a_check_that_failed_gives_back_only_what_it_still_holds() -> None:
    assert_serial(Race(scenes.reported, check_failed, scenes.taken_over, scenes.outcome))


def test_what_this_release_does_not_know_is_put_off_unless_another_check_has_it() -> None:
    assert_serial(Race(of_a_later_release, scenes.checked, scenes.taken_over, scenes.outcome))


# --- the sandbox ------------------------------------------------------------------------------------------------------


def test_the_sweeps_of_a_network_are_made_due_apart_from_those_that_are_being_written() -> None:
    due, later = two_due(), timezone.now() + 2 * MINUTE
    sweeps = Sweep.objects.filter(id__in=[due.awaited.id, due.followed.id])
    sweeps.update(next_check_at=later)
    now = timezone.now()
    assert not waits_for(sweeps.filter(id=due.awaited.id), lambda: leases.make_network_due(LOCAL, at=now))
    assert dict(sweeps.values_list("id", "next_check_at")) == {due.awaited.id: later, due.followed.id: now}


# --- the clock of the chain -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Waiting:
    """Sweeps that are planned for later than the chain's clock, which is ahead, may allow."""

    ran_out: Scene
    good_for_longer: Scene


def waiting() -> Waiting:
    now = timezone.now()
    sweeps = [scenes.built(deadline=now + LONGEST_DELAY + minutes * MINUTE) for minutes in (2, 9)]
    for scene in sweeps:
        Sweep.objects.filter(id=scene.sweep.id).update(next_check_at=now + LONGEST_DELAY + 8 * MINUTE)
    return Waiting(*sweeps)


def clock_was_ahead(scene: Waiting) -> None:
    claims.make_run_out_due(LOCAL, scene.ran_out.sweep.deadline + MINUTE)


def planned_soon(scene: Waiting) -> None:
    scenes.other_hash_reported(scene.ran_out)


def planned(scene: Waiting) -> list[bool]:
    """Return whether what ran out is due; the other one never is."""
    later, due = (Sweep.objects.get(id=one.sweep.id) for one in (scene.good_for_longer, scene.ran_out))
    now = timezone.now()
    assert later.next_check_at is not None
    assert due.next_check_at is not None
    assert later.next_check_at > now + LONGEST_DELAY
    return [due.next_check_at <= now]


def test_what_ran_out_by_the_chain_is_due_unless_its_next_check_is_near() -> None:
    race = Race(waiting, planned_soon, clock_was_ahead, planned)
    assert race.in_turn() == (None, None, [False])
    assert_serial(race)
