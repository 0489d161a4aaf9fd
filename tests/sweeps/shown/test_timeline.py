"""Every event has a sentence that its partner may read, and an open sweep says what it waits for."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from partners.models import Partner
from sweeps.models import Cause, EventKind, Flag, SweepEvent
from sweeps.shown import timeline
from sweeps.story.withdrawal import cancel_on_chain, void
from tests.factories.sweeps import SweepFactory, SweepTransactionFactory

pytestmark = pytest.mark.django_db

EVENTS = [
    *(SweepEvent(kind=EventKind.STATUS, cause=cause) for cause in Cause),
    *(SweepEvent(kind=kind) for kind in EventKind if kind != EventKind.STATUS),
]


def an_event(kind: EventKind, **facts: Any) -> SweepEvent:
    return SweepEvent(kind=kind, facts=facts)


# --- sentences --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.cause or event.kind)
def test_an_event_has_a_sentence_even_if_it_lacks_its_facts(event: SweepEvent) -> None:
    assert timeline.sentence(event).rstrip(".")
    assert "{" not in timeline.sentence(event)


def test_a_fact_that_is_missing_is_unknown() -> None:
    assert timeline.sentence(an_event(EventKind.REORGANISED)) == "Block unknown of the transaction left the chain."


def test_facts_are_text_and_never_a_template() -> None:
    event = an_event(EventKind.REJECTED, reason="{block} {0.__class__} %s", block=7)
    assert timeline.sentence(event).endswith(": {block} {0.__class__} %s")


def test_a_fact_that_the_sentence_says_is_not_told_twice() -> None:
    assert timeline.further_facts(an_event(EventKind.ACCEPTED, block=7, entry="e")) == {"entry": "e"}
    assert timeline.further_facts(an_event(EventKind.REVERTED, reason="The transaction reverted.")) == {}
    assert timeline.further_facts(an_event(EventKind.REVERTED, reason="The deadline had passed.")) != {}


def test_the_partner_does_not_read_who_withdrew_a_sweep_nor_why(api: Client, partner: Partner) -> None:
    sweep = SweepFactory.create(partner=partner)
    void(sweep_id=sweep.id, reason="suspected fraud", requested_by="alice", cancels=True)
    answer = api.get(f"/v2/sweep/status/{sweep.id}")
    messages = [event["message"] for event in answer.json()["data"]["events"]]
    assert messages == ["The sweep was voided.", "Cancellation on chain was requested."]
    assert "alice" not in answer.content.decode()
    assert "suspected fraud" not in answer.content.decode()


# --- what it waits for ------------------------------------------------------------------------------------------------


def test_a_closed_sweep_waits_for_nothing() -> None:
    closed = SweepFactory.create(status="expired", is_open=False, closed_at=timezone.now(), next_check_at=None)
    assert timeline.why_it_waits(closed) == ""


def test_a_completed_sweep_waits_for_finality() -> None:
    sweep = SweepFactory.build(partner=None, status="completed", execution=None, offer=None)
    assert timeline.why_it_waits(sweep) == "Its block is not final yet."


def test_a_sweep_without_a_transaction_waits_for_one_until_its_deadline() -> None:
    sweep = SweepFactory.create()
    until = f"{sweep.deadline:%H:%M:%S} UTC."
    assert timeline.why_it_waits(sweep) == f"No transaction is known; it can be executed until {until}"


@pytest.mark.parametrize("status", ["reverted", "rejected", "displaced"])
def test_a_sweep_whose_transactions_did_not_execute_it_waits_for_another(status: str) -> None:
    sweep = SweepTransactionFactory.create(status=status).sweep
    assert timeline.why_it_waits(sweep).startswith("No known transaction executed it; it can be executed until")


def test_a_sweep_with_submitted_transactions_says_how_many_lack_a_receipt() -> None:
    sweep = SweepTransactionFactory.create().sweep
    assert timeline.why_it_waits(sweep) == "No receipt yet for 1 reported transaction."
    SweepTransactionFactory.create(sweep=sweep)
    assert timeline.why_it_waits(sweep) == "No receipt yet for 2 reported transactions."


def test_a_sweep_past_its_deadline_waits_for_proof() -> None:
    sweep = SweepFactory.create(deadline=timezone.now() - timedelta(seconds=1))
    assert timeline.why_it_waits(sweep).startswith("Its deadline has passed;")


def test_a_reorganised_sweep_waits_to_be_mined_again() -> None:
    sweep = SweepFactory.create(flags=[Flag.REORGANISED])
    assert timeline.why_it_waits(sweep) == "Its block left the chain; the transaction may be mined again."


def test_a_sweep_that_is_to_be_cancelled_waits_for_that_whatever_was_submitted() -> None:
    sweep = SweepTransactionFactory.create().sweep
    cancel_on_chain(sweep_id=sweep.id, reason="why", requested_by="ops")
    sweep.refresh_from_db()
    assert timeline.why_it_waits(sweep).startswith("Its cancellation on chain was requested")


def test_what_went_wrong_at_the_last_check_is_said_as_well() -> None:
    sweep = SweepTransactionFactory.create(sweep__last_error="No provider answered in time.").sweep
    assert timeline.why_it_waits(sweep).endswith("reported transaction. No provider answered in time.")
