"""Ops may void a sweep that nobody is known to have sent, for a reason."""

import pytest

from sweeps.models import Sweep
from sweeps.voiding import NotVoidableError, void
from tests.factories.sweeps import SweepFactory, SweepTransactionFactory

pytestmark = pytest.mark.django_db


def test_a_pending_sweep_is_voided_with_its_reason_and_stays_open() -> None:
    sweep = void(sweep_id=SweepFactory.create().id, reason="  asked for by the user ")
    sweep.refresh_from_db()
    assert (sweep.status, sweep.is_open, sweep.void_reason) == ("void", True, "asked for by the user")
    assert sweep.voided_at is not None
    assert sweep.next_check_at is not None


@pytest.mark.parametrize("status", ["rejected", "dropped"])
def test_a_candidate_that_can_not_execute_it_is_no_obstacle(status: str) -> None:
    tx = SweepTransactionFactory.create(status=status)
    assert void(sweep_id=tx.sweep.id, reason="why").status == "void"


def test_a_submitted_candidate_forbids_it() -> None:
    tx = SweepTransactionFactory.create()
    with pytest.raises(NotVoidableError):
        void(sweep_id=tx.sweep.id, reason="why")
    assert Sweep.objects.get().status == "pending"


def test_only_a_pending_sweep_is_voided() -> None:
    sweep = SweepFactory.create(status="failed")
    with pytest.raises(NotVoidableError):
        void(sweep_id=sweep.id, reason="why")


@pytest.mark.parametrize("reason", ["", "  \n"])
def test_a_reason_is_required(reason: str) -> None:
    sweep = SweepFactory.create()
    with pytest.raises(ValueError, match="reason"):
        void(sweep_id=sweep.id, reason=reason)
