"""Final blocks show an execution of a sweep that was closed without it. The rail is made up: V5 has one execution."""

import pytest

from sweeps.models import Execution, Sweep
from sweeps.protocol.rail import ExecutionVerdict, Verdict
from sweeps.rails.registry import RAILS
from tests.factories.sweeps import ExecutionFactory, SweepFactory
from tests.settling import settle
from tests.sweeps.settle.readings import BOOKED, fees_booked
from tests.sweeps.settle.verdicts import CANCELLED, FINAL, NOTHING_NEW, RAN_OUT, DecidedRail, apply, executed

pytestmark = pytest.mark.django_db


@pytest.fixture
def sweep(monkeypatch: pytest.MonkeyPatch) -> Sweep:
    """A sweep with two executions."""
    monkeypatch.setitem(RAILS, DecidedRail.name, DecidedRail())
    made = SweepFactory.create(rail=DecidedRail.name)
    ExecutionFactory.create(sweep=made, token=None, position=1)
    return made


def reconcile(sweep: Sweep, *verdicts: ExecutionVerdict) -> Sweep:
    """Settle these verdicts about the executions as seen on final blocks."""
    by_id = {execution.id: verdict for execution, verdict in zip(sweep.executions.all(), verdicts, strict=True)}
    settle(sweep_id=sweep.id, reading=Verdict(by_id, is_final=True))
    return Sweep.objects.get(id=sweep.id)


def outcome(sweep: Sweep) -> tuple[str, bool, list[str]]:
    return sweep.status, sweep.is_open, sweep.flags


def closed_executions(sweep: Sweep) -> list[bool]:
    return [execution.closed_at is not None for execution in sweep.executions.all()]


def test_only_what_was_executed_late_is_opened_again_and_the_rest_stays_closed(sweep: Sweep) -> None:
    apply(sweep, RAN_OUT, RAN_OUT)
    late = reconcile(sweep, NOTHING_NEW, executed())
    assert outcome(late) == ("completed", True, ["executed_after_close", "partial"])
    assert closed_executions(late) == [True, False]
    assert fees_booked(late) == BOOKED
    assert outcome(apply(late, NOTHING_NEW, FINAL)) == ("completed", False, ["executed_after_close", "partial"])


def test_a_part_that_was_executed_late_completes_a_closed_sweep(sweep: Sweep) -> None:
    apply(sweep, executed(), RAN_OUT)
    assert outcome(apply(sweep, FINAL, NOTHING_NEW)) == ("completed", False, ["partial"])
    late = reconcile(sweep, NOTHING_NEW, executed())
    assert outcome(late) == ("completed", True, ["executed_after_close"])
    assert fees_booked(late) == [*BOOKED, *BOOKED]


def test_a_sweep_that_was_believed_cancelled_is_no_longer_flagged_as_cancelled(sweep: Sweep) -> None:
    assert outcome(apply(sweep, CANCELLED, CANCELLED)) == ("void", False, ["cancelled_on_chain"])
    late = reconcile(sweep, executed(), NOTHING_NEW)
    assert outcome(late) == ("completed", True, ["executed_after_close", "executed_after_void", "partial"])
    assert [execution.status for execution in late.executions.all()] == [
        Execution.Status.EXECUTED,
        Execution.Status.CANCELLED,
    ]
    assert [execution.cancellation_tx_hash is None for execution in late.executions.all()] == [True, False]


@pytest.mark.parametrize("verdict", [NOTHING_NEW, RAN_OUT, CANCELLED, FINAL])
def test_a_closed_sweep_that_was_not_executed_stays_as_it_is(sweep: Sweep, verdict: ExecutionVerdict) -> None:
    closed = apply(sweep, RAN_OUT, RAN_OUT)
    again = reconcile(sweep, verdict, NOTHING_NEW)
    assert (outcome(again), again.last_event, again.check_attempts) == (
        outcome(closed),
        closed.last_event,
        closed.check_attempts,
    )


def test_an_execution_that_is_known_does_not_open_a_closed_sweep(sweep: Sweep) -> None:
    apply(sweep, executed(), executed())
    closed = apply(sweep, FINAL, FINAL)
    again = reconcile(sweep, executed(), executed())
    assert (outcome(again), again.last_event) == (outcome(closed), closed.last_event)


def test_an_open_sweep_is_settled_as_by_any_other_check(sweep: Sweep) -> None:
    assert outcome(reconcile(sweep, executed(), executed())) == ("completed", True, [])
