"""Where the partner is paid later, finality makes its part available, and a reorganisation may leave a debt."""

from typing import Any

import pytest
from structlog.testing import capture_logs

from ledger.balances import balance_of
from ledger.models import Finality
from sweeps.models import Sweep
from sweeps.protocol.rail import ExecutionVerdict
from sweeps.rails.registry import RAILS
from sweeps.story.reopening import reopen
from tests.factories.ledger import book_payable, book_payout
from tests.factories.sweeps import ExecutionFactory, SweepFactory
from tests.sessions import rival_at_the_lock
from tests.sweeps.settle.readings import execution_of, fees_booked
from tests.sweeps.settle.verdicts import FINAL, GONE, NOTHING_NEW, PAID, RAN_OUT, DecidedRail, apply, executed

pytestmark = pytest.mark.django_db

OWED = PAID.partner_fee


@pytest.fixture(autouse=True)
def _judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RAILS, DecidedRail.name, DecidedRail())


@pytest.fixture
def sweep() -> Sweep:
    """A sweep whose partner is paid later."""
    return payable_sweep()


def payable_sweep(**facts: Any) -> Sweep:
    return SweepFactory.create(rail=DecidedRail.name, settlement="payable", partner_recipient=None, **facts)


def balance(sweep: Sweep) -> tuple[int, int]:
    """Return what the sweep's partner is owed, and how much of it is available."""
    found = balance_of(sweep.partner, network=sweep.network, asset=sweep.output_asset)
    assert found is not None
    return found.owed, found.available


def pay_out(sweep: Sweep, amount: int = OWED) -> None:
    book_payout(sweep.partner, amount, network=sweep.network, asset=sweep.output_asset)


def checked_again(sweep: Sweep, *verdicts: ExecutionVerdict) -> Sweep:
    """Open a closed sweep again and find this about its executions."""
    assert reopen(sweep_id=sweep.id, reason="The chain halted.", requested_by="ops")
    return apply(sweep, *verdicts)


def reversed_after_payout(sweep: Sweep) -> Sweep:
    """Execute a sweep, pay its fee out, and find that its block left the chain."""
    apply(apply(sweep, executed()), FINAL)
    pay_out(sweep)
    return checked_again(sweep, GONE)


def test_the_partners_part_is_available_when_the_worker_sees_its_block_final(sweep: Sweep) -> None:
    apply(sweep, executed())
    assert balance(sweep) == (OWED, 0)
    apply(sweep, FINAL)
    assert balance(sweep) == (OWED, OWED)
    assert Finality.objects.get().entry == execution_of(sweep).ledger_entry


def test_each_execution_is_final_by_itself(sweep: Sweep) -> None:
    ExecutionFactory.create(sweep=sweep, token=None, position=1)
    apply(sweep, executed(), executed())
    apply(sweep, FINAL, NOTHING_NEW)
    assert balance(sweep) == (2 * OWED, OWED)


def test_a_fee_that_was_settled_on_chain_is_final_too_and_never_available() -> None:
    sweep = SweepFactory.create(rail=DecidedRail.name)
    apply(apply(sweep, executed()), FINAL)
    assert Finality.objects.count() == 1
    assert balance_of(sweep.partner, network=sweep.network, asset=sweep.output_asset) is None


def test_an_execution_without_a_fee_becomes_final_without_an_entry() -> None:
    sweep = SweepFactory.create(rail=DecidedRail.name, total_fee_bps=0)
    free = type(PAID)(1_000_000, 0, 0, 0, 1_000_000)
    assert not apply(apply(sweep, executed(free)), FINAL).is_open
    assert not Finality.objects.exists()


def test_a_block_that_is_found_final_twice_is_recorded_once(sweep: Sweep) -> None:
    apply(apply(sweep, executed()), FINAL)
    assert not checked_again(sweep, FINAL).is_open
    assert balance(sweep) == (OWED, OWED)
    assert Finality.objects.count() == 1


def test_a_reorganisation_before_a_payout_leaves_no_debt(sweep: Sweep) -> None:
    apply(sweep, executed())
    assert apply(sweep, GONE).flags == ["reorganised"]
    assert balance(sweep) == (0, 0)


def test_a_reorganisation_after_a_payout_is_flagged_and_logged_with_the_debt(sweep: Sweep) -> None:
    apply(apply(sweep, executed()), FINAL)
    pay_out(sweep)
    reopen(sweep_id=sweep.id, reason="The chain halted.", requested_by="ops")
    with capture_logs() as logs:
        reorganised = apply(sweep, GONE)
    assert reorganised.flags == ["partner_in_debt", "reorganised"]
    assert [(entry["event"], entry["debt"]) for entry in logs] == [("partner_in_debt", OWED)]
    assert balance(sweep) == (-OWED, -OWED)
    assert [line[0] for line in fees_booked(sweep)] == ["sweep_fee"] * 3 + ["reversal"] * 3


def test_a_sweep_that_was_settled_on_chain_is_not_flagged_for_a_debt_of_others(sweep: Sweep) -> None:
    settled = SweepFactory.create(rail=DecidedRail.name, partner=sweep.partner)
    apply(apply(settled, executed()), FINAL)
    assert "partner_in_debt" in reversed_after_payout(sweep).flags
    assert checked_again(settled, GONE).flags == ["reorganised"]


def test_a_sweep_whose_fee_was_not_final_is_not_flagged_for_a_debt_of_others(sweep: Sweep) -> None:
    pending = payable_sweep(partner=sweep.partner)
    apply(pending, executed())
    assert "partner_in_debt" in reversed_after_payout(sweep).flags
    assert apply(pending, GONE).flags == ["reorganised"]


def test_a_sweep_without_a_share_for_the_partner_is_not_flagged_for_a_debt_of_others(sweep: Sweep) -> None:
    unshared = payable_sweep(partner=sweep.partner)
    apply(apply(unshared, executed(type(PAID)(1_000_000, 7_500, 0, 7_500, 992_500))), FINAL)
    assert "partner_in_debt" in reversed_after_payout(sweep).flags
    assert checked_again(unshared, GONE).flags == ["reorganised"]


def test_what_other_sweeps_earned_covers_a_payout(sweep: Sweep) -> None:
    book_payable(sweep.partner, OWED, network=sweep.network, asset=sweep.output_asset)
    assert reversed_after_payout(sweep).flags == ["reorganised"]


def test_the_flag_is_cleared_when_the_sweep_is_final_again(sweep: Sweep) -> None:
    assert "partner_in_debt" in reversed_after_payout(sweep).flags
    for verdict, is_flagged in ((executed(), True), (FINAL, False)):
        assert ("partner_in_debt" in apply(sweep, verdict).flags) is is_flagged
    assert balance(sweep) == (0, 0)


def test_the_flag_of_each_sweep_is_cleared_when_its_own_fee_is_final_again(sweep: Sweep) -> None:
    other = payable_sweep(partner=sweep.partner)
    for each in (sweep, other):
        apply(apply(each, executed()), FINAL)
    pay_out(sweep, 2 * OWED)
    for each in (sweep, other):
        assert "partner_in_debt" in checked_again(each, GONE).flags
    assert apply(apply(sweep, executed()), FINAL).flags == ["reorganised"]
    assert balance(sweep) == (-OWED, -OWED)
    assert apply(apply(other, executed()), FINAL).flags == ["reorganised"]
    assert balance(sweep) == (0, 0)


def test_the_flag_is_cleared_by_a_lower_fee_too_and_the_balance_shows_the_rest_of_the_debt(sweep: Sweep) -> None:
    reversed_after_payout(sweep)
    less = type(PAID)(1_000_000, 7_500, OWED - 1, 7_501 - OWED, 992_500)
    assert apply(apply(sweep, executed(less)), FINAL).flags == ["reorganised"]
    assert balance(sweep) == (-1, -1)


def test_the_flag_stays_until_every_execution_whose_reversal_left_a_debt_is_final_again(sweep: Sweep) -> None:
    ExecutionFactory.create(sweep=sweep, token=None, position=1)
    apply(apply(sweep, executed(), executed()), FINAL, FINAL)
    pay_out(sweep, 2 * OWED)
    assert "partner_in_debt" in checked_again(sweep, GONE, FINAL).flags
    assert "partner_in_debt" in apply(sweep, executed(), NOTHING_NEW).flags
    assert "partner_in_debt" not in apply(sweep, FINAL, NOTHING_NEW).flags


def test_the_flag_stays_on_a_sweep_that_is_never_mined_again(sweep: Sweep) -> None:
    reversed_after_payout(sweep)
    book_payable(sweep.partner, OWED, network=sweep.network, asset=sweep.output_asset)
    ended = apply(sweep, RAN_OUT)
    assert (ended.status, ended.flags) == ("failed", ["partner_in_debt", "reorganised"])
    assert balance(sweep) == (0, 0)


@pytest.mark.django_db(transaction=True)
def test_a_payout_just_before_a_reorganisation_is_seen_by_it(sweep: Sweep) -> None:
    apply(apply(sweep, executed()), FINAL)
    reopen(sweep_id=sweep.id, reason="The chain halted.", requested_by="ops")
    with rival_at_the_lock(lambda: pay_out(sweep), is_first=True) as rivals:
        assert "partner_in_debt" in apply(sweep, GONE).flags
    assert rivals[0].refused is None
    assert balance(sweep) == (-OWED, -OWED)


@pytest.mark.django_db(transaction=True)
def test_a_payout_during_a_reorganisation_waits_for_it_and_is_refused(sweep: Sweep) -> None:
    apply(apply(sweep, executed()), FINAL)
    reopen(sweep_id=sweep.id, reason="The chain halted.", requested_by="ops")
    with rival_at_the_lock(lambda: pay_out(sweep), is_first=False) as rivals:
        assert apply(sweep, GONE).flags == ["reorganised"]
    assert "more than the 0 that are available" in str(rivals[0].refused)
    assert balance(sweep) == (0, 0)
