"""The figures that only the database and the broker know are right, and cheap however many sweeps there are."""

from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from django.db import OperationalError, connection
from django.utils import timezone
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from indexer import figures
from indexer.figures import Figures
from ledger.entries.numbering import number_entries
from ledger.models import Posting
from ledger.proofs.signing import sign_months
from ledger.statements.month import Month
from partners.models import Partner
from sweeps.models import Sweep
from sweeps.queues import QUEUES
from sweeps.story.handling import acknowledge
from tests.factories.ledger import book_fee
from tests.factories.past import fee_at
from tests.factories.sweeps import SweepFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queue")]


def value(name: str, **labels: str) -> float:
    found = REGISTRY.get_sample_value(f"sweepapi_{name}", labels)
    assert found is not None
    return found


def test_the_oldest_sweep_that_is_due_is_found_among_those_that_are_open() -> None:
    now = timezone.now()
    for minutes in (-2, -1, 3):
        SweepFactory.create(next_check_at=now + timedelta(minutes=minutes))
    Figures().measure()
    assert value("due_sweeps") == 2
    assert value("oldest_due_seconds") == pytest.approx(120, abs=20)
    Sweep.objects.update(next_check_at=now + timedelta(hours=1))
    Figures().measure()
    assert (value("due_sweeps"), value("oldest_due_seconds")) == (0, 0)


def test_each_flag_to_review_is_counted_until_it_is_acknowledged_or_cleared() -> None:
    both = SweepFactory.create(flags=["partial", "below_minimum"])
    SweepFactory.create(flags=["partial"])
    in_debt = SweepFactory.create(flags=["partner_in_debt"])

    def counts() -> dict[str, float]:
        Figures().measure()
        return {flag: value("flagged_sweeps", flag=flag) for flag in ("below_minimum", "partner_in_debt")}

    assert counts() == {"below_minimum": 1, "partner_in_debt": 1}
    acknowledge(both.id, operator="ann", note="The route was thin.")
    assert counts() == {"below_minimum": 0, "partner_in_debt": 1}
    Sweep.objects.filter(id=both.id).update(flags=["partial", "below_minimum", "partner_in_debt"])
    assert counts() == {"below_minimum": 1, "partner_in_debt": 2}, "one that is raised later waits again"
    Sweep.objects.filter(id=in_debt.id).update(flags=[])
    assert counts() == {"below_minimum": 1, "partner_in_debt": 1}


def test_flags_are_counted_by_their_index() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")  # as with many sweeps
    assert "sweep_flagged" in figures.flagged_sweeps().explain()


def test_sweeps_are_counted_by_the_queue_in_which_they_wait() -> None:
    SweepFactory.create(flags=["executed_after_close"])
    SweepFactory.create(last_error="No provider answered in time.")
    Figures().measure()
    waiting = {queue.name: value("waiting_sweeps", queue=queue.name) for queue in QUEUES}
    assert waiting == {"stuck": 0, "flagged": 1, "failing": 1, "unsent": 2}


def test_messages_in_the_queue_are_counted(queue: Any) -> None:
    for _ in range(3):
        current_app.send_task("tests.nothing")
    assert queue.queue_declare(passive=True).message_count == 3
    Figures().measure()
    assert value("queue_messages", state="ready") == 3


@pytest.mark.django_db(transaction=True)
def test_for_how_long_the_oldest_entry_waits_for_its_number_is_measured(partner: Partner) -> None:
    book_fee(partner)
    Figures().measure()
    assert value("ledger_unnumbered_seconds") > 0
    number_entries()
    Figures().measure()
    assert value("ledger_unnumbered_seconds") == 0


@pytest.mark.django_db(transaction=True)
def test_for_how_long_a_month_that_is_over_waits_for_its_signature_is_measured(partner: Partner) -> None:
    fee_at(Month.of(timezone.now()).shifted(-2).start, partner, 1)
    Figures().measure()
    assert value("statements_unsigned_seconds") > 0
    sign_months()
    Figures().measure()
    assert value("statements_unsigned_seconds") == 0


def test_an_entry_out_of_balance_is_counted_and_named_in_the_log_once(
    partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "LEDGER_SLICE", 2)
    entries = [book_fee(partner) for _ in range(5)]
    broken = entries[3]
    connection.check_constraints()  # while they hold
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")  # which fires no triggers
    Posting.objects.filter(entry=broken, amount__gt=0).update(amount=1_001)
    measured = Figures()
    with capture_logs() as lines:
        for _ in range(6):  # two walks
            measured.measure()
    assert [line["entry"] for line in lines if line["event"] == "ledger_unbalanced"] == [str(broken.id)]
    assert value("ledger_unbalanced_entries") == 1


def test_a_figure_that_can_not_be_measured_is_logged_and_keeps_no_other_from_it() -> None:
    def fail(execute: Any, sql: str, *arguments: Any) -> Any:
        if "GROUP BY" in sql and "flags" in sql:
            raise OperationalError("a secret")
        return execute(sql, *arguments)

    measured = Figures()
    measured.measure()
    before = {name: value("figure_timestamp_seconds", figure=name) for name in ("flags", "ledger")}
    with connection.execute_wrapper(fail), capture_logs() as lines:
        measured.measure()
    after = {name: value("figure_timestamp_seconds", figure=name) for name in ("flags", "ledger")}
    assert [(line["figure"], line["error"]) for line in lines] == [("flags", "OperationalError")]
    assert (after["flags"], after["ledger"] > before["ledger"]) == (before["flags"], True)
