"""Many sweeps are settled in one transaction, with the same result as one by one, and no sweep harms another."""

from collections.abc import Callable
from datetime import timedelta
from random import Random
from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client import REGISTRY
from pytest_django import DjangoCaptureOnCommitCallbacks
from structlog.testing import capture_logs

from ledger.models import Account, JournalEntry
from sweeps.models import Sweep, SweepTransaction
from sweeps.story.settle import SettlementOutcome
from sweeps.story.settle import settle as settle_all
from sweeps.story.withdrawal import void
from tests.factories.ledger import book_fee
from tests.factories.partners import PartnerFactory
from tests.factories.sweeps import (
    SweepFactory,
    SweepTransactionFactory,
    evm_reading,
    executed_receipt,
    receipt_of,
)
from tests.settling import settle
from tests.sweeps.settle.readings import fees_booked
from tests.sweeps.settle.twins import SHOWN, look_at, shown, twins, written

pytestmark = pytest.mark.django_db

ROUNDS, PAIRS = 6, 12


def leased(*sweeps: Sweep) -> UUID:
    """Lease sweeps to one check."""
    lease = uuid4()
    held = Sweep.objects.filter(id__in=[sweep.id for sweep in sweeps])
    held.update(lease_token=lease, lease_until=timezone.now() + timedelta(minutes=1))
    return lease


def submitted(count: int) -> list[SweepTransaction]:
    """Return one candidate of each of so many sweeps of different partners."""
    return [SweepTransactionFactory.create(sweep=SweepFactory.create()) for _ in range(count)]


def settle_executed(*txs: SweepTransaction, lease: UUID | None = None) -> SettlementOutcome:
    return settle_all(look_at(*((tx.sweep, evm_reading(executed_receipt(tx))) for tx in txs)), lease=lease)


def statuses() -> list[str]:
    return sorted(Sweep.objects.values_list("status", flat=True))


@pytest.fixture
def statements() -> Callable[[], CaptureQueriesContext]:
    return lambda: CaptureQueriesContext(connection)


# --- the same as one by one -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_random_stories_end_as_they_do_one_by_one(seed: int) -> None:
    random = Random(seed)  # noqa: S311 - a seed makes the stories the same each time
    pairs = [twins(random) for _ in range(PAIRS)]
    for _ in range(ROUNDS):
        views = [(pair, random.choice(SHOWN)) for pair in pairs]
        for pair, show in views:
            settle(sweep_id=pair.alone.id, reading=shown(pair.alone, show))
        readings = look_at(*((pair.among_others, shown(pair.among_others, show)) for pair, show in views))
        random.shuffle(readings)
        assert settle_all(readings).errors == []
        for pair in pairs:
            assert written(pair.among_others.id) == written(pair.alone.id)


def test_the_next_checks_are_planned_as_one_by_one() -> None:
    alone, *others = submitted(3)
    lease = leased(*(tx.sweep for tx in (alone, *others)))
    settle(sweep_id=alone.sweep.id, reading=evm_reading(), lease=lease)
    outcome = settle_all(look_at(*((tx.sweep, evm_reading()) for tx in others)), lease=lease)
    assert [settled.awaits_receipt for settled in outcome.settled] == [True, True]
    planned = [sweep.next_check_at for sweep in Sweep.objects.all() if sweep.next_check_at is not None]
    assert len(planned) == 3
    assert max(planned) - min(planned) < timedelta(seconds=1)
    assert not Sweep.objects.exclude(lease_token=None, lease_until=None).exists()


def test_sweeps_that_no_provider_showed_are_only_put_off() -> None:
    txs = submitted(2)
    lease = leased(*(tx.sweep for tx in txs))
    settle_all(look_at(*((tx.sweep, None) for tx in txs)), lease=lease)
    for sweep in Sweep.objects.all():
        assert (sweep.last_error, sweep.check_attempts, sweep.lease_token) == ("No provider answered in time.", 0, None)
        assert sweep.next_check_at is not None
        assert sweep.next_check_at > timezone.now()


def test_each_change_of_a_status_is_logged(django_capture_on_commit_callbacks: Callable[..., object]) -> None:
    txs = submitted(3)
    with capture_logs() as entries, django_capture_on_commit_callbacks(execute=True):  # type: ignore[attr-defined]
        settle_executed(*txs)
        assert entries == []
    changes = [entry for entry in entries if entry["event"] == "sweep_status_changed"]
    assert sorted(entry["tx_hash"] for entry in changes) == sorted(tx.tx_hash for tx in txs)
    assert {(entry["from_status"], entry["to_status"], entry["cause"]) for entry in changes} == {
        ("pending", "completed", "executed")
    }


# --- a sweep that can't be settled ------------------------------------------------------------------------------------


def test_a_poisoned_sweep_harms_no_other_and_keeps_its_lease() -> None:
    txs = submitted(5)
    poisoned = txs[2].sweep
    booked = book_fee(poisoned.partner, execution_ref=poisoned.executions.get().id)  # as if it was booked before
    lease = leased(*(tx.sweep for tx in txs))
    outcome = settle_executed(*txs, lease=lease)
    assert [type(error) for error in outcome.errors] == [IntegrityError]
    with pytest.raises(ExceptionGroup, match="not everything could be settled"):
        outcome.raise_errors()
    assert statuses() == [*["completed"] * 4, "pending"]
    poisoned.refresh_from_db()
    assert (poisoned.status, poisoned.lease_token, poisoned.check_attempts) == ("pending", lease, 0)
    assert set(JournalEntry.objects.filter(execution_ref=booked.execution_ref)) == {booked}
    assert len(outcome.settled) == 4


def test_a_check_that_cannot_be_decided_harms_no_other() -> None:
    sound, broken = submitted(2)
    readings = look_at((sound.sweep, evm_reading(executed_receipt(sound))), (broken.sweep, "nonsense"))  # type: ignore[arg-type]
    assert [type(error) for error in settle_all(readings).errors] == [AttributeError]
    assert statuses() == ["completed", "pending"]


# --- a sweep that changed since it was read ---------------------------------------------------------------------------


def test_a_sweep_that_was_voided_since_it_was_read_is_settled_as_void() -> None:
    rejected, other = submitted(2)
    SweepTransaction.objects.filter(pk=rejected.pk).update(status="rejected")
    readings = look_at(*((tx.sweep, evm_reading(executed_receipt(tx))) for tx in (rejected, other)))
    void(sweep_id=rejected.sweep.id, reason="stolen key", requested_by="alice")
    assert settle_all(readings).errors == []
    assert statuses() == ["completed", "completed"]
    sweep = Sweep.objects.get(id=rejected.sweep.id)
    assert (sweep.flags, sweep.void_reason) == (["executed_after_void"], "stolen key")
    assert [event.sequence for event in sweep.events.all()] == list(range(2, sweep.last_event + 1))


def test_a_sweep_that_was_settled_since_it_was_read_is_not_booked_again() -> None:
    txs = submitted(2)
    readings = look_at(*((tx.sweep, evm_reading(executed_receipt(tx))) for tx in txs))
    settle(sweep_id=txs[0].sweep.id, reading=evm_reading(executed_receipt(txs[0])))
    assert settle_all(readings).errors == []
    assert [len(fees_booked(tx.sweep)) for tx in txs] == [3, 3]


def test_a_candidate_that_was_reported_since_the_sweep_was_read_is_replaced_too() -> None:
    tx, other = submitted(2)
    readings = look_at(*((one.sweep, evm_reading(executed_receipt(one))) for one in (tx, other)))
    late = SweepTransactionFactory.create(sweep=tx.sweep)
    Sweep.objects.filter(id=tx.sweep.id).update(last_error="")  # what adds a candidate writes the sweep
    assert settle_all(readings).errors == []
    late.refresh_from_db()
    assert late.status == "replaced"


def test_a_sweep_whose_lease_was_lost_is_left_to_its_new_holder() -> None:
    lost, kept = submitted(2)
    lease = leased(lost.sweep, kept.sweep)
    readings = look_at(*((tx.sweep, evm_reading(executed_receipt(tx))) for tx in (lost, kept)))
    thief = leased(lost.sweep)
    with capture_logs() as entries:
        outcome = settle_all(readings, lease=lease)
    assert (outcome.errors, [settled.stored.id for settled in outcome.settled]) == ([], [kept.sweep.id])
    assert [entry["sweep_id"] for entry in entries if entry["event"] == "lease_lost"] == [str(lost.sweep.id)]
    stored = Sweep.objects.get(id=lost.sweep.id)
    assert (stored.status, stored.lease_token, stored.last_event) == ("pending", thief, 1)


def test_a_check_under_another_lease_writes_nothing() -> None:
    (tx,) = submitted(1)
    leased(tx.sweep)
    assert settle_executed(tx, lease=uuid4()).settled == []
    assert statuses() == ["pending"]


# --- statements -------------------------------------------------------------------------------------------------------


def test_the_number_of_statements_does_not_grow_with_the_batch(
    statements: Callable[[], CaptureQueriesContext],
) -> None:
    counts = []
    for size in (2, 20):
        partner = PartnerFactory.create()
        txs = [SweepTransactionFactory.create(sweep=SweepFactory.create(partner=partner)) for _ in range(size)]
        lease = leased(*(tx.sweep for tx in txs))
        pairs = [(tx.sweep, evm_reading(executed_receipt(tx))) for tx in txs]
        with statements() as made:
            outcome = settle_all(look_at(*pairs), lease=lease)
        assert len(outcome.settled) == size
        counts.append(len(made))
    assert counts[0] == counts[1]


def test_sweeps_are_locked_in_the_order_of_their_ids(statements: Callable[[], CaptureQueriesContext]) -> None:
    readings = look_at(*((tx.sweep, evm_reading(executed_receipt(tx))) for tx in reversed(submitted(3))))
    with statements() as made:
        settle_all(readings)
    (locking,) = [one["sql"] for one in made if "FOR UPDATE" in one["sql"]]
    assert " ".join(locking.split()).endswith("FROM sweeps_sweep WHERE id = ANY(%s) ORDER BY id FOR UPDATE")


def test_accounts_that_are_missing_are_stored_in_order_before_any_sweep_is_locked(
    statements: Callable[[], CaptureQueriesContext],
) -> None:
    with statements() as made:
        settle_executed(*submitted(3))
    kinds = ["lock" if "FOR UPDATE" in one["sql"] else one["sql"].split("(")[0].strip() for one in made]
    stored = kinds.index('INSERT INTO "ledger_account"')
    assert kinds.index('INSERT INTO "ledger_asset"') < stored < kinds.index("lock")
    assert kinds.count('INSERT INTO "ledger_account"') == 1
    keys = [(one.network, one.asset, one.name, one.partner_id) for one in Account.objects.order_by("id")]
    assert keys == sorted(keys, key=lambda key: (*key[:3], str(key[3])))


# --- versions ---------------------------------------------------------------------------------------------------------


def version(sweep: Sweep) -> int:
    return Sweep.objects.get(id=sweep.id).version


def test_every_write_of_a_sweep_raises_its_version_by_one() -> None:
    (tx,) = submitted(1)
    writers: list[Callable[[], object]] = [
        lambda: Sweep.objects.update(last_error="why"),
        lambda: Sweep.objects.get().save(),
        lambda: Sweep.objects.update(version=1),
        lambda: settle(sweep_id=tx.sweep.id, reading=evm_reading()),
        lambda: settle(sweep_id=tx.sweep.id, reading=evm_reading(receipt_of(tx))),
        lambda: void(sweep_id=tx.sweep.id, reason="why", requested_by="alice"),
    ]
    before = version(tx.sweep)
    assert before == 1
    for number, write in enumerate(writers, start=1):
        write()
        assert version(tx.sweep) == before + number


# --- what is measured -------------------------------------------------------------------------------------------------


def test_how_long_each_waited_to_be_accepted_is_observed_in_a_set_and_alone(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    def observed() -> list[float]:
        names = ("acceptance_seconds_count", "acceptance_seconds_sum", "settle_seconds_count")
        return [REGISTRY.get_sample_value(f"sweepapi_{name}") or 0 for name in names]

    ago = timezone.now() - timedelta(seconds=100)
    *txs, alone, discovered = submitted(4)
    SweepTransaction.objects.update(submitted_at=ago)
    SweepTransaction.objects.filter(pk=discovered.pk).update(source=SweepTransaction.Source.DISCOVERED)
    before = observed()
    with django_capture_on_commit_callbacks(execute=True):
        settle_executed(*txs, discovered)
        settle(sweep_id=alone.sweep.id, reading=evm_reading(executed_receipt(alone)))
        settle(sweep_id=alone.sweep.id, reading=evm_reading(executed_receipt(alone)))  # which accepts nothing more
    count, total, settlings = (after - earlier for earlier, after in zip(before, observed(), strict=True))
    assert (count, settlings) == (3, 3)
    assert total == pytest.approx(300, abs=60)
