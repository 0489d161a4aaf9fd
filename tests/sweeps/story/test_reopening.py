"""Operators may open a completed sweep again that was closed as final; the worker then checks its block."""

from datetime import datetime
from uuid import UUID

import pytest
from django.utils import timezone

from sweeps.models import Sweep, SweepEvent
from sweeps.rails.evm.follow.following import EvmReading
from sweeps.story import reopening
from sweeps.story.reopening import reopen
from tests.factories.sweeps import SweepFactory, SweepTransactionFactory, block_at, evm_reading, executed_receipt
from tests.settling import settle
from tests.sweeps.settle.readings import BOOKED, REVERSED, fees_booked

pytestmark = pytest.mark.django_db(transaction=True)

GONE = evm_reading(head_number=200, safe_number=150, final_number=120, canonical=block_at(100, fork=1))


def final(sweep: Sweep) -> EvmReading:
    """Return a check that shows the sweep's transaction in a final block."""
    receipt = executed_receipt(sweep.transactions.get())
    return evm_reading(receipt, head_number=200, safe_number=150, final_number=120, canonical=block_at(100), state=True)


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> list[tuple[UUID, bool]]:
    """The sweeps that the worker was woken about, and whether they were open at that time."""
    sweeps: list[tuple[UUID, bool]] = []

    def note(sweep_id: UUID, *, at: datetime) -> None:
        assert at <= timezone.now()
        sweeps.append((sweep_id, Sweep.objects.get(id=sweep_id).is_open))

    monkeypatch.setattr(reopening, "wake", note)
    return sweeps


@pytest.fixture
def closed() -> Sweep:
    """A sweep that was executed in block 100, and whose block was final."""
    tx = SweepTransactionFactory.create()
    settle(sweep_id=tx.sweep.id, reading=evm_reading(executed_receipt(tx)))
    settle(sweep_id=tx.sweep.id, reading=final(tx.sweep))
    return Sweep.objects.get(id=tx.sweep.id)


def test_a_closed_sweep_is_opened_and_due_at_once_and_the_worker_is_woken(
    closed: Sweep, woken: list[tuple[UUID, bool]]
) -> None:
    assert reopen(sweep_id=closed.id, reason=" The chain halted. ", requested_by="alice")
    closed.refresh_from_db()
    assert (closed.status, closed.is_open, closed.closed_at) == ("completed", True, None)
    assert closed.next_check_at is not None
    assert closed.next_check_at <= timezone.now()
    assert closed.executions.get().closed_at is None
    assert woken == [(closed.id, True)]
    event = SweepEvent.objects.get(kind="reopened")
    assert event.facts == {"reason": "The chain halted.", "requested_by": "alice"}


@pytest.mark.usefixtures("woken")
def test_it_is_closed_again_if_its_block_is_still_final(closed: Sweep) -> None:
    reopen(sweep_id=closed.id, reason="The chain halted.", requested_by="alice")
    settle(sweep_id=closed.id, reading=final(closed))
    closed.refresh_from_db()
    assert (closed.status, closed.is_open) == ("completed", False)
    assert [event.type for event in closed.events.all()][-4:] == ["finality_reached", "closed", "reopened", "closed"]


@pytest.mark.usefixtures("woken")
def test_it_is_reversed_if_its_block_left_the_chain(closed: Sweep) -> None:
    settle(sweep_id=closed.id, reading=GONE)
    assert fees_booked(closed) == BOOKED, "a closed sweep is not checked"
    reopen(sweep_id=closed.id, reason="The chain halted.", requested_by="alice")
    settle(sweep_id=closed.id, reading=GONE)
    closed.refresh_from_db()
    assert (closed.status, closed.is_open, closed.flags) == ("pending", True, ["reorganised"])
    assert fees_booked(closed) == [*BOOKED, *REVERSED]


def test_a_sweep_that_is_open_anyway_is_left_alone(woken: list[tuple[UUID, bool]]) -> None:
    tx = SweepTransactionFactory.create()
    settle(sweep_id=tx.sweep.id, reading=evm_reading(executed_receipt(tx)))
    assert not reopen(sweep_id=tx.sweep.id, reason="why", requested_by="alice")
    assert (woken, SweepEvent.objects.filter(kind="reopened").count()) == ([], 0)


def test_a_closed_sweep_that_was_not_executed_is_left_alone(woken: list[tuple[UUID, bool]]) -> None:
    sweep = SweepFactory.create(status="expired", is_open=False, closed_at=timezone.now(), next_check_at=None)
    assert not reopen(sweep_id=sweep.id, reason="why", requested_by="alice")
    assert (woken, Sweep.objects.get().is_open) == ([], False)


def test_a_reason_is_required(closed: Sweep) -> None:
    with pytest.raises(ValueError, match="reason is required"):
        reopen(sweep_id=closed.id, reason="  ", requested_by="alice")
    assert not Sweep.objects.get().is_open
