"""The status of a sweep with several executions follows from theirs. The rail is made up: V5 has one execution."""

import pytest
from django.utils import timezone

from sweeps.models import Execution, Sweep
from sweeps.protocol.rail import ExecutionVerdict
from sweeps.rails.registry import RAILS
from tests.factories.sweeps import ExecutionFactory, SweepFactory, SweepTransactionFactory
from tests.snapshots import fees_shown
from tests.sweeps.settle.readings import BOOKED, REVERSED, fees_booked
from tests.sweeps.settle.verdicts import (
    CANCELLED,
    FINAL,
    GONE,
    NOTHING_NEW,
    PAID,
    RAN_OUT,
    SOON,
    DecidedRail,
    apply,
    executed,
    reverted,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def sweep(monkeypatch: pytest.MonkeyPatch) -> Sweep:
    """A sweep with two executions, the first of which has a candidate."""
    monkeypatch.setitem(RAILS, DecidedRail.name, DecidedRail())
    made = SweepFactory.create(rail=DecidedRail.name)
    ExecutionFactory.create(sweep=made, token=None, position=1)
    SweepTransactionFactory.create(sweep=made, execution=made.executions.first())
    return made


def outcome(sweep: Sweep) -> tuple[str, bool, list[str]]:
    return sweep.status, sweep.is_open, sweep.flags


@pytest.mark.parametrize(
    "first",
    [NOTHING_NEW, RAN_OUT, CANCELLED, executed(), reverted()],
    ids=["nothing new", "ran out", "cancelled", "executed", "reverted"],
)
def test_a_sweep_is_pending_while_one_of_its_executions_is_undecided(sweep: Sweep, first: ExecutionVerdict) -> None:
    sweep = apply(sweep, first, NOTHING_NEW)
    assert (sweep.status, sweep.is_open) == ("pending", True)
    assert sweep.completed_at is None


def test_a_sweep_is_completed_when_all_were_executed_and_every_execution_is_booked(sweep: Sweep) -> None:
    assert apply(sweep, executed(), NOTHING_NEW).status == "pending"
    sweep = apply(sweep, NOTHING_NEW, executed())
    assert outcome(sweep) == ("completed", True, [])
    assert fees_booked(sweep) == [*BOOKED, *BOOKED]
    assert fees_shown(sweep, "actual") == PAID + PAID


@pytest.mark.parametrize("other", [RAN_OUT, CANCELLED, reverted()], ids=["ran out", "cancelled", "reverted"])
def test_a_sweep_is_completed_in_part_if_one_of_two_was_executed(sweep: Sweep, other: ExecutionVerdict) -> None:
    sweep = apply(sweep, executed(), other)
    assert (sweep.status, sweep.is_open, "partial" in sweep.flags) == ("completed", True, True)
    assert fees_shown(sweep, "actual") == PAID


def test_the_flag_is_cleared_if_the_rest_is_executed_after_all(sweep: Sweep) -> None:
    assert outcome(apply(sweep, executed(), reverted())) == ("completed", True, ["partial"])
    assert outcome(apply(sweep, NOTHING_NEW, executed())) == ("completed", True, [])
    assert [event.kind for event in sweep.events.filter(kind__startswith="flag_")] == ["flag_raised", "flag_cleared"]


def test_the_flag_is_raised_if_an_execution_leaves_the_chain_and_then_fails(sweep: Sweep) -> None:
    assert outcome(apply(sweep, executed(), executed())) == ("completed", True, [])
    sweep = apply(sweep, NOTHING_NEW, GONE)
    assert outcome(sweep) == ("pending", True, ["reorganised"])
    assert fees_booked(sweep) == [*BOOKED, *BOOKED, *REVERSED]
    assert outcome(apply(sweep, NOTHING_NEW, RAN_OUT)) == ("completed", True, ["reorganised", "partial"])


@pytest.mark.parametrize(
    ("verdicts", "status", "is_open"),
    [
        ((RAN_OUT, RAN_OUT), "failed", False),
        ((CANCELLED, RAN_OUT), "void", False),
        ((CANCELLED, CANCELLED), "void", False),
        ((RAN_OUT, reverted()), "failed", True),
    ],
    ids=["a candidate ran out", "one cancelled", "all cancelled", "one reverted"],
)
def test_without_an_execution_a_sweep_fails_or_is_void(
    sweep: Sweep, verdicts: tuple[ExecutionVerdict, ...], status: str, *, is_open: bool
) -> None:
    assert outcome(apply(sweep, *verdicts))[:2] == (status, is_open)


def test_a_sweep_expires_only_if_no_execution_ever_had_a_candidate(sweep: Sweep) -> None:
    sweep.transactions.all().delete()
    assert outcome(apply(sweep, RAN_OUT, RAN_OUT)) == ("expired", False, [])


def test_a_revert_fails_an_execution_only_without_another_candidate(sweep: Sweep) -> None:
    candidate = sweep.transactions.get()
    SweepTransactionFactory.create(sweep=sweep, execution=candidate.execution)
    apply(sweep, reverted(candidate.tx_hash), RAN_OUT)
    assert [one.status for one in Execution.objects.filter(sweep=sweep)] == ["pending", "expired"]


def test_a_sweep_is_closed_when_all_its_executions_are(sweep: Sweep) -> None:
    apply(sweep, executed(), executed())
    assert apply(sweep, FINAL, NOTHING_NEW).is_open
    sweep = apply(sweep, NOTHING_NEW, FINAL)
    assert outcome(sweep) == ("completed", False, [])
    assert sweep.closed_at is not None
    assert sweep.closed_at <= timezone.now()


def test_an_execution_is_followed_until_it_is_final_although_another_is_undecided(sweep: Sweep) -> None:
    sweep.transactions.all().delete()  # nothing awaits a receipt
    followed = []
    for first in (NOTHING_NEW, executed(), FINAL):
        sweep = apply(sweep, first, NOTHING_NEW)
        assert sweep.next_check_at is not None
        followed.append(sweep.next_check_at - timezone.now() <= SOON)
    assert (sweep.status, followed) == ("pending", [False, True, False])


def test_one_execution_below_its_minimum_flags_the_sweep(sweep: Sweep) -> None:
    assert outcome(apply(sweep, NOTHING_NEW, executed())) == ("pending", True, [])
    assert outcome(apply(sweep, executed(is_below_minimum=True), NOTHING_NEW)) == ("completed", True, ["below_minimum"])


def test_each_execution_accepts_its_own_transaction(sweep: Sweep) -> None:
    apply(sweep, executed(), executed())
    accepted = sweep.transactions.filter(status="accepted")
    assert [tx.execution.position for tx in accepted] == [0, 1]
    assert sweep.transactions.get(source="partner").status == "replaced"
