"""Two operations on one sweep at the same time end like one after the other, wherever the second one begins."""

import pytest
from django.utils import timezone

from sweeps.models import Sweep, SweepTransaction
from sweeps.models.execution import AMOUNTS
from sweeps.protocol.rail import Mismatch
from sweeps.rails.evm.base import EvmBase
from sweeps.rails.registry import V2_RAILS
from sweeps.story.receipts import receipt_of
from tests.factories.partners import requester_of
from tests.factories.solana_sweeps import SolanaExecutionFactory, SolanaSweepFactory
from tests.races import scenes
from tests.races.interleaving import Race, assert_all_serial, assert_serial, waits_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("unreachable_chain")]


def test_a_sweep_that_waits_for_its_receipt() -> None:
    operations = [
        scenes.executed,
        scenes.reverted,
        scenes.ran_out,
        scenes.other_hash_reported,
        scenes.cancellation_requested,
    ]
    assert_all_serial(scenes.reported, scenes.outcome, operations)
    assert_serial(Race(scenes.reported, scenes.executed, scenes.cancelled, scenes.outcome))


def test_a_sweep_that_was_not_reported() -> None:
    operations = [scenes.ran_out, scenes.other_hash_reported, scenes.voided, scenes.cancelled_by_partner]
    assert_all_serial(scenes.built, scenes.outcome, operations)


def test_a_sweep_that_was_executed() -> None:
    assert_all_serial(scenes.completed, scenes.outcome, [scenes.gone, scenes.final, scenes.executed])


def test_a_sweep_that_was_closed() -> None:
    assert_all_serial(scenes.closed, scenes.outcome, [scenes.reopened, scenes.final])


def test_a_sweep_that_is_closed_while_it_is_made_due() -> None:
    assert_serial(Race(scenes.completed, scenes.final, scenes.made_due, scenes.outcome))


def test_a_sweep_whose_lease_is_lost_during_a_check() -> None:
    assert_serial(Race(scenes.reported, scenes.checked, scenes.taken_over, scenes.outcome))


def test_a_revert_that_is_explained_while_another_fork_executes_the_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    reason = [Mismatch("txHash", "reverted", "The pool paid too little.")]
    monkeypatch.setattr(EvmBase, "explain_revert", staticmethod(lambda _registry, _tx, **_options: reason))
    assert_serial(Race(scenes.failed, scenes.reported_again, scenes.executed, scenes.outcome))


def partial() -> scenes.Scene:
    """Return a closed sweep on Solana of two executions, one of which expired."""
    now = timezone.now()
    sweep = SolanaSweepFactory.create(
        status="completed", completed_at=now, execution=None, is_open=False, closed_at=now, next_check_at=None
    )
    split = dict.fromkeys(AMOUNTS, 0)
    SolanaExecutionFactory.create(sweep=sweep, position=0, status="executed", **split)
    SolanaExecutionFactory.create(sweep=sweep, position=1, status="expired")
    return scenes.Scene(sweep, SweepTransaction(sweep=sweep))


def open_executions(scene: scenes.Scene) -> list[str]:
    found = [execution.status for execution in scene.sweep.executions.filter(closed_at=None)]
    assert found == ["executed"]
    return found


def test_only_what_was_executed_is_opened_again() -> None:
    assert_serial(Race(partial, scenes.reopened, scenes.reopened, open_executions))


def test_a_receipt_waits_for_a_sweep_that_is_being_written() -> None:
    sweep = scenes.closed().sweep
    requester = requester_of(sweep.partner)
    assert waits_for(Sweep.objects.filter(id=sweep.id), lambda: receipt_of(requester, sweep.id, rails=V2_RAILS))
