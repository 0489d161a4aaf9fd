"""A lease is short and renewed while its holder works, so that others take over soon from a process that died."""

from collections.abc import Callable
from datetime import timedelta
from threading import Semaphore
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.utils import timezone
from structlog.testing import capture_logs

from dev.processes.waiting import wait_until
from indexer import blocks, checks, claims, leases
from sweepapi.evm.logs import sightings
from sweepapi.networks import Networks
from sweeps.models import Sweep, WatchedBlock
from sweeps.rails.evm.follow import block_reading, following
from tests.factories.sweeps import LOCAL, SweepFactory, SweepTransactionFactory
from tests.indexer.reconciled import sweep_of
from tests.partner_app import PartnerApp

pytestmark = pytest.mark.django_db(transaction=True)

SECOND = timedelta(seconds=1)


@pytest.fixture
def renewals(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str], Semaphore]:
    """Have leases renewed at once, and return what is released by each renewal of this object."""
    monkeypatch.setattr(leases, "RENEWAL_SECONDS", 0.001)

    def count(owner: Any, name: str) -> Semaphore:
        renew, done = getattr(owner, name), Semaphore(0)

        def counted(*arguments: Any) -> None:
            renew(*arguments)
            done.release()

        monkeypatch.setattr(owner, name, counted)
        return done

    return count


def wait_for_two(renewals: Semaphore) -> None:
    """Wait for one renewal from its beginning."""
    while renewals.acquire(blocking=False):
        pass
    for _ in range(2):
        assert renewals.acquire(timeout=20)


# --- sweeps -----------------------------------------------------------------------------------------------------------


def test_a_check_that_lasts_longer_than_a_lease_keeps_its_sweeps_from_others(
    app: PartnerApp, monkeypatch: pytest.MonkeyPatch, renewals: Callable[[Any, str], Semaphore]
) -> None:
    builds = [app.build() for _ in range(2)]
    for built in builds:
        SweepTransactionFactory.create(sweep=sweep_of(built), tx_hash=app.execute(built))
    Sweep.objects.update(next_check_at=timezone.now() - timedelta(minutes=1))
    renewed, read = renewals(claims, "renew"), sightings.read_sightings

    def slow_read(**question: Any) -> Any:
        Sweep.objects.update(lease_until=timezone.now() - SECOND)  # as it is when a lease's time has passed
        wait_for_two(renewed)
        assert claims.claim_due() is None
        assert claims.claim_one(sweep_of(builds[0]).id) is None
        return read(**question)

    monkeypatch.setattr(following, "read_sightings", slow_read)
    with capture_logs() as logs:
        assert checks.check_due() == 2
    assert {sweep.status for sweep in Sweep.objects.all()} == {"completed"}
    assert {sweep.check_attempts for sweep in Sweep.objects.all()} == {1}
    assert not {"lease_lost", "settling_one_by_one"} & {entry["event"] for entry in logs}


def test_renewing_leaves_a_sweep_to_who_took_it_over_and_one_that_was_settled() -> None:
    taken, settled, held = SweepFactory.create_batch(3, next_check_at=timezone.now() - timedelta(minutes=1))
    first = claims.claim_due()
    assert first is not None
    Sweep.objects.filter(id=taken.id).update(lease_until=timezone.now() - SECOND)
    assert claims.claim_one(taken.id) is not None
    claims.release(first, [settled.id])
    before = {sweep.id: (sweep.lease_token, sweep.lease_until) for sweep in Sweep.objects.all()}
    claims.renew(first)
    after = {sweep.id: (sweep.lease_token, sweep.lease_until) for sweep in Sweep.objects.all()}
    assert {sweep_id for sweep_id, lease in after.items() if lease != before[sweep_id]} == {held.id}


def test_a_sweep_whose_holder_died_is_claimed_by_the_next_batch_though_its_message_may_still_come() -> None:
    dead, awaited = SweepFactory.create_batch(2, next_check_at=timezone.now())
    assert claims.claim_one(dead.id) is not None
    Sweep.objects.filter(id=dead.id).update(lease_until=timezone.now())
    claim = claims.claim_due()
    assert claim is not None
    assert claim.sweeps == [dead]
    assert claims.claim_one(awaited.id) is not None


def test_what_cannot_be_settled_is_left_alone_for_a_minute(monkeypatch: pytest.MonkeyPatch, app: PartnerApp) -> None:
    app.build()
    Sweep.objects.update(next_check_at=timezone.now() - timedelta(minutes=1))

    def broken(*_arguments: object) -> None:
        raise ArithmeticError

    monkeypatch.setattr("sweeps.story.settle.apply", broken)
    with pytest.RaisesGroup(ArithmeticError):
        checks.check_due()
    left = Sweep.objects.get().lease_until
    assert left is not None
    assert left - timezone.now() > claims.HELD_OFF / 2


def test_a_claim_a_renewal_and_a_release_leave_the_version_as_it_is() -> None:
    SweepFactory.create(next_check_at=timezone.now() - timedelta(minutes=1))
    before = Sweep.objects.get().version
    claim = claims.claim_due()
    assert claim is not None
    claims.renew(claim)
    claims.release(claim, [sweep.id for sweep in claim.sweeps])
    assert Sweep.objects.get().version == before


# --- the thread -------------------------------------------------------------------------------------------------------


def test_a_renewal_that_cannot_reach_the_database_is_tried_again_and_harms_no_check(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(leases, "RENEWAL_SECONDS", 0.001)
    tried = Semaphore(0)

    def fail() -> None:
        tried.release()
        raise OperationalError

    with capture_logs() as logs, leases.renewed(fail):
        for _ in range(2):
            assert tried.acquire(timeout=20)
    assert {(entry["event"], entry["error"]) for entry in logs} == {("lease_not_renewed", "OperationalError")}


def test_a_renewal_leaves_no_connection_behind(renewals: Callable[[Any, str], Semaphore]) -> None:
    SweepFactory.create(next_check_at=timezone.now() - timedelta(minutes=1))
    claim = claims.claim_due()
    assert claim is not None
    renewed, before = renewals(claims, "renew"), sessions()
    with leases.renewed(lambda: claims.renew(claim)):
        wait_for_two(renewed)
        assert sessions() == before + 1
    wait_until(lambda: sessions() == before, within_seconds=20, what="the end of its session")


def sessions() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        (count,) = cursor.fetchone()
    return int(count)


# --- blocks -----------------------------------------------------------------------------------------------------------


def watched_block(number: int) -> WatchedBlock:
    due_at = timezone.now() - timedelta(minutes=1)
    return WatchedBlock.objects.create(network=LOCAL, number=number, hash=f"0x{number}", head_number=9, due_at=due_at)


def test_a_check_of_blocks_that_lasts_longer_than_a_lease_keeps_them_from_others(
    monkeypatch: pytest.MonkeyPatch, renewals: Callable[[Any, str], Semaphore]
) -> None:
    watched_block(1)
    monkeypatch.setattr(blocks, "LEASE", timedelta(0))  # over as soon as it begins
    renewed, seen = renewals(blocks.BlockClaim, "renew"), []

    def slow_read(_registry: Networks, _network: str, due: list[WatchedBlock]) -> block_reading.BlockReading:
        monkeypatch.setattr(blocks, "LEASE", timedelta(minutes=1))
        wait_for_two(renewed)
        seen.append(due)
        blocks.check_due()
        return block_reading.BlockReading(9, timedelta(hours=1))

    monkeypatch.setattr(blocks, "read_blocks", slow_read)
    blocks.check_due()
    assert len(seen) == 1
    assert WatchedBlock.objects.get().due_at > timezone.now() + timedelta(minutes=30), "the renewals have ended"


def test_renewing_leaves_a_block_to_who_took_it_over(monkeypatch: pytest.MonkeyPatch) -> None:
    watched_block(1)
    monkeypatch.setattr(blocks, "LEASE", timedelta(0))
    first, _second = (blocks._claim([LOCAL]) for _ in range(2))  # noqa: SLF001
    before = WatchedBlock.objects.get().due_at
    first.renew()
    assert WatchedBlock.objects.get().due_at == before
