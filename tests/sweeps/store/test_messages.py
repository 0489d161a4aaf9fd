"""What becomes of a sweep is written for its partner's webhooks, with the change or not at all."""

from collections.abc import Callable
from datetime import timedelta
from itertools import permutations
from operator import attrgetter
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction
from django.utils import timezone

from partners.webhooks.endpoints import KEPT, purge
from partners.webhooks.models import WebhookMessage
from partners.webhooks.public_events import PUBLIC_EVENTS, PublicEvent, SweepChange
from sweeps.models import Cause, EventKind, Sweep, SweepStatus
from sweeps.status_objects import status_objects
from sweeps.store import transitions
from sweeps.store.reading import lock_one
from sweeps.store.writing import write
from sweeps.story import reopening
from sweeps.story.settle import SweepReading
from sweeps.story.settle import settle as settle_all
from tests.factories.sweeps import (
    LOCAL,
    SweepFactory,
    SweepTransactionFactory,
    V4SweepFactory,
    evm_reading,
    executed_receipt,
    found_execution,
    note,
)
from tests.races import scenes
from tests.races.scenes import Scene

pytestmark = pytest.mark.django_db


def messages(sweep: Sweep) -> list[tuple[str, str, bool]]:
    """Return type, status and finality of the messages about a sweep, in their sequence, which has no gaps."""
    found = list(WebhookMessage.objects.filter(sweep_ref=sweep.id).order_by("sequence"))
    assert [one.sequence for one in found] == list(range(1, len(found) + 1))
    return [(one.type, one.facts["status"], one.is_final) for one in found]


COMPLETED = ("sweep.completed", "completed", False)
REVERSED = ("sweep.reversed", "pending", False)
FINALIZED = ("sweep.finalized", "completed", True)
FAILED = ("sweep.failed", "failed", False)
CLOSED_AS_FAILED = ("sweep.failed", "failed", True)
EXPIRED = ("sweep.expired", "expired", True)
VOIDED = ("sweep.voided", "void", False)
CLOSED_AS_VOID = ("sweep.voided", "void", True)
REVERSED_TO_FAILED = ("sweep.reversed", "failed", False)
REVERSED_TO_VOID = ("sweep.reversed", "void", False)
Step = Callable[[Scene], Any]


def found(scene: Scene) -> None:
    """Let the worker find an execution that was not reported."""
    scene.settle(evm_reading(state=True, finding=found_execution(executed_receipt(scene.tx))))


@pytest.mark.parametrize(
    ("stage", "steps", "expected"),
    [
        (scenes.built, [], []),
        (scenes.reported, [], []),
        (scenes.reported, [scenes.not_mined], []),
        (scenes.reported, [scenes.executed], [COMPLETED]),
        (scenes.reported, [scenes.executed, scenes.executed], [COMPLETED]),
        (scenes.reported, [scenes.executed, scenes.final], [COMPLETED, FINALIZED]),
        (scenes.reported, [scenes.executed, scenes.gone], [COMPLETED, REVERSED]),
        (scenes.reported, [scenes.executed, scenes.gone, scenes.executed], [COMPLETED, REVERSED, COMPLETED]),
        (scenes.reported, [scenes.reverted], [FAILED]),
        (scenes.reported, [scenes.reverted, scenes.ran_out], [FAILED, CLOSED_AS_FAILED]),
        (scenes.reported, [scenes.reverted, scenes.other_hash_reported], [FAILED]),
        (scenes.reported, [scenes.ran_out], [CLOSED_AS_FAILED]),
        (scenes.built, [scenes.ran_out], [EXPIRED]),
        (scenes.built, [scenes.voided], [VOIDED]),
        (scenes.built, [scenes.voided, found, scenes.gone], [VOIDED, COMPLETED, REVERSED_TO_VOID]),
        (scenes.built, [scenes.voided, scenes.ran_out], [VOIDED, CLOSED_AS_VOID]),
        (scenes.built, [scenes.voided, scenes.cancelled], [VOIDED, CLOSED_AS_VOID]),
        (scenes.built, [scenes.cancelled], [CLOSED_AS_VOID]),
    ],
)
def test_each_change_that_partners_wait_for_is_written_once(
    stage: Callable[[], Scene], steps: list[Step], expected: list[tuple[str, str, bool]]
) -> None:
    scene = stage()
    for step in steps:
        step(scene)
    assert messages(scene.sweep) == expected


@pytest.mark.parametrize("steps", [[], [scenes.voided]], ids=["pending", "void"])
def test_the_message_about_a_cancellation_names_its_transaction(steps: list[Step]) -> None:
    scene = scenes.built()
    for step in [*steps, scenes.cancelled]:
        step(scene)
    closed = WebhookMessage.objects.latest("sequence")
    assert closed.facts["txHash"] == scene.sweep.executions.get().cancellation_tx_hash
    assert closed.facts["txHash"]


def test_a_message_says_what_happened_to_which_sweep() -> None:
    scene = scenes.reported(client_reference="order 7")
    scenes.executed(scene)
    scenes.final(scene)
    for message in WebhookMessage.objects.all():
        assert (message.partner, message.network, message.sweep_ref) == (scene.sweep.partner, LOCAL, scene.sweep.id)
        assert message.facts == {
            "status": "completed",
            "clientReference": "order 7",
            "txHash": scene.tx.tx_hash,
        }
        assert message.id.version == 7
        assert abs((timezone.now() - message.occurred_at).total_seconds()) < 60
        assert message.dispatched_at is None


@pytest.mark.parametrize(
    ("steps", "named"),
    [
        ([scenes.executed, scenes.final], ["reported", "reported"]),
        ([scenes.executed, scenes.gone], ["reported", None]),
        ([scenes.reverted, scenes.ran_out], ["reported", None]),
        ([scenes.ran_out], [None]),
    ],
)
def test_a_message_names_the_transaction_of_its_change_or_the_one_that_executed_the_sweep(
    steps: list[Step], named: list[str | None]
) -> None:
    scene = scenes.reported()
    for step in steps:
        step(scene)
    messages_in_order = WebhookMessage.objects.filter(sweep_ref=scene.sweep.id).order_by("sequence")
    hashes = [message.facts["txHash"] for message in messages_in_order]
    assert hashes == [scene.tx.tx_hash if one == "reported" else None for one in named]


def test_a_message_has_the_time_at_which_the_change_was_stored() -> None:
    scene = scenes.reported()
    scenes.executed(scene)
    assert WebhookMessage.objects.get().occurred_at == scene.sweep.events.get(kind=EventKind.STATUS).at


def test_changes_that_are_written_together_have_a_message_each_with_the_status_of_then() -> None:
    scene = scenes.completed()
    stored = lock_one(scene.sweep.id)
    transitions.move(stored, SweepStatus.PENDING, Cause.REORGANISED)
    transitions.move(stored, SweepStatus.COMPLETED, Cause.EXECUTED)
    with transaction.atomic():
        write([stored])
        assert messages(scene.sweep) == [COMPLETED, REVERSED, COMPLETED]
        transaction.set_rollback(True)


@pytest.mark.parametrize(
    ("stage", "to", "expected"),
    [
        (scenes.reported, SweepStatus.COMPLETED, [COMPLETED, FINALIZED]),
        (scenes.completed, SweepStatus.FAILED, [COMPLETED, REVERSED_TO_FAILED, CLOSED_AS_FAILED]),
        (scenes.reported, SweepStatus.FAILED, [CLOSED_AS_FAILED]),
    ],
)
def test_a_close_speaks_for_the_change_that_comes_with_it_unless_that_completes_or_reverses(
    stage: Callable[[], Scene], to: SweepStatus, expected: list[tuple[str, str, bool]]
) -> None:
    scene = stage()
    stored = lock_one(scene.sweep.id)
    transitions.move(stored, to, Cause.REORGANISED)
    transitions.close(stored)
    with transaction.atomic():
        write([stored])
        assert messages(scene.sweep) == expected
        transaction.set_rollback(True)


def test_a_completed_sweep_that_is_opened_and_closed_again_is_finalized_again() -> None:
    scene = scenes.closed()
    reopening.reopen(sweep_id=scene.sweep.id, reason="We doubt it.", requested_by="ops")
    scenes.final(scene)
    assert messages(scene.sweep) == [COMPLETED, FINALIZED, FINALIZED]


def test_the_sequence_goes_on_after_old_messages_were_deleted() -> None:
    scene = scenes.closed()
    assert messages(scene.sweep) == [COMPLETED, FINALIZED]
    old = timezone.now() - KEPT - timedelta(seconds=1)
    WebhookMessage.objects.update(occurred_at=old, dispatched_at=old)
    purge()
    assert messages(scene.sweep) == []
    reopening.reopen(sweep_id=scene.sweep.id, reason="We doubt it.", requested_by="ops")
    scenes.gone(scene)
    scenes.executed(scene)
    numbered = WebhookMessage.objects.filter(sweep_ref=scene.sweep.id).order_by("sequence")
    assert list(numbered.values_list("sequence", "type")) == [(3, "sweep.reversed"), (4, "sweep.completed")]


@pytest.mark.parametrize("kept", [1, 2, 3])
def test_the_sequence_is_the_same_whichever_messages_were_deleted(kept: int) -> None:
    scene = scenes.reported()
    for step in (scenes.executed, scenes.gone, scenes.executed):
        step(scene)
    WebhookMessage.objects.exclude(sequence=kept).delete()
    scenes.final(scene)
    assert set(WebhookMessage.objects.values_list("sequence", flat=True)) == {kept, 4}


def test_a_change_that_is_rolled_back_leaves_no_message() -> None:
    scene = scenes.reported()
    with transaction.atomic():
        scenes.executed(scene)
        assert messages(scene.sweep) == [COMPLETED]
        transaction.set_rollback(True)
    assert messages(scene.sweep) == []


def test_many_sweeps_are_written_with_one_statement_of_the_service(
    django_assert_max_num_queries: Callable[..., Any],
) -> None:
    txs = [SweepTransactionFactory.create() for _ in range(20)]
    readings = [SweepReading(tx.sweep_id, evm_reading(executed_receipt(tx))) for tx in txs]
    with django_assert_max_num_queries(40):
        settle_all(readings)
    assert all(messages(tx.sweep) == [COMPLETED] for tx in txs)


def test_events_of_other_kinds_are_not_for_partners() -> None:
    sweep = SweepFactory.create()
    for kind in EventKind:
        if kind not in (EventKind.STATUS, EventKind.CLOSED):
            note(sweep, kind)
    assert messages(sweep) == []


def test_the_status_objects_of_webhooks_are_those_of_the_api(api: Any, partner: Any) -> None:
    v5 = SweepTransactionFactory.create(sweep=SweepFactory.create(partner=partner)).sweep
    v4 = V4SweepFactory.create(partner=partner)
    shown = status_objects([v5.id, v4.id, UUID(int=0)])
    assert shown.keys() == {v5.id, v4.id}
    for sweep in (v5, v4):
        assert shown[sweep.id] == api.get(f"/v2/sweep/status/{sweep.id}").json()["data"]


def test_the_status_objects_of_any_number_of_sweeps_take_one_query(django_assert_num_queries: Any) -> None:
    sweeps = [SweepTransactionFactory.create().sweep for _ in range(5)]
    with django_assert_num_queries(1):
        assert len(status_objects([sweep.id for sweep in sweeps])) == len(sweeps)


# A status changes, or the sweep is closed with the status that it has.
CHANGES = [
    *(
        SweepChange(before, after, closes=False)
        for before, after in permutations(["", *SweepStatus.values], 2)
        if after
    ),
    *(SweepChange(status, status, closes=True) for status in SweepStatus.values),
]


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_at_most_one_public_event_describes_a_change(change: SweepChange) -> None:
    assert sum(event.when(change) for event in PUBLIC_EVENTS) <= 1


@pytest.mark.parametrize("event", PUBLIC_EVENTS, ids=attrgetter("type"))
def test_the_row_of_a_public_event_says_of_it_what_its_changes_have_in_common(event: PublicEvent) -> None:
    changes = [change for change in CHANGES if event.when(change)]
    closes = {change.closes for change in changes}
    assert event.final == (closes == {True})
    assert ("unless `final`" in event.sentence) == (closes == {True, False})
    assert event.status in {change.after for change in changes}
    follows_a_completion = {change.before for change in changes} == {"completed"}
    assert event.number == (2 if follows_a_completion else 1)
