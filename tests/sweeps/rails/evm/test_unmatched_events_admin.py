"""Operators see the events that match nothing that was offered, and explain each once; they edit nothing else."""

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client

from sweeps.models import Sweep
from sweeps.rails.evm.models import UnmatchedEvent
from tests.factories.ledger import random_hash
from tests.factories.sweeps import CONTRACT, LOCAL, SweepFactory
from tests.operator_browser import reverse

pytestmark = pytest.mark.django_db

EXECUTION_ID = "9" * 70  # longer than a hash, which may contain any shorter one
LIST = reverse("admin:evm_unmatchedevent_changelist")


def make_event(**facts: Any) -> UnmatchedEvent:
    return UnmatchedEvent.objects.create(
        **{
            "network": LOCAL,
            "contract": CONTRACT,
            "name": "SweepExecutedV5",
            "execution_id": EXECUTION_ID,
            "tx_hash": random_hash(),
            "block_number": 1234,
            "block_hash": random_hash(),
            "log_position": 3,
            "facts": {"nonce": EXECUTION_ID, "gross_output": "1000000", "note": "<script>"},
            "reason": "No execution of ours has this identity.",
        }
        | facts
    )


def page(event: UnmatchedEvent) -> str:
    return reverse("admin:evm_unmatchedevent_change", args=[event.pk])


def explain(client: Client, event: UnmatchedEvent, reason: str = "A test by ops.") -> Any:
    form = {"_form_submitted": "true", "reason": reason}
    return client.post(reverse("admin:evm_unmatchedevent_explain", args=[event.pk]), form)


def test_the_list_shows_what_happened_and_whether_it_is_explained(ops: Client) -> None:
    event = make_event()
    shown = ops.get(LIST).content.decode()
    facts = ("SweepExecutedV5", event.tx_hash, "No execution of ours has this identity.", "open")
    assert [fact for fact in facts if fact not in shown] == []


@pytest.mark.parametrize("field", ["tx_hash", "execution_id", "sweep_id"])
def test_events_are_found_by_transaction_execution_and_sweep(ops: Client, field: str) -> None:
    event, other = make_event(sweep=SweepFactory.create()), make_event(execution_id="7")
    shown = ops.get(LIST, {"q": getattr(event, field)}).content.decode()
    assert (event.tx_hash in shown, other.tx_hash in shown) == (True, False)


def test_the_page_shows_every_value_of_the_event_escaped_and_its_place(ops: Client) -> None:
    event = make_event()
    shown = ops.get(page(event)).content.decode()
    facts = (event.tx_hash, event.block_hash, "1234", "log 3", "Gross output", "1000000", "&lt;script&gt;", CONTRACT)
    assert [fact for fact in facts if fact not in shown] == []
    assert "<script>1" not in shown


def test_the_page_links_the_sweep_with_the_same_identity(ops: Client) -> None:
    sweep: Sweep = SweepFactory.create()
    shown = ops.get(page(make_event(sweep=sweep))).content.decode()
    assert reverse("admin:sweeps_sweep_change", args=[sweep.id]) in shown


def test_an_explanation_is_stored_with_its_author_and_logged(ops: Client) -> None:
    event = make_event()
    response = explain(ops, event)
    assert response.headers["HX-Redirect"] == page(event)
    event.refresh_from_db()
    assert (event.status, event.explanation, event.explained_by) == ("explained", "A test by ops.", "ops")
    assert LogEntry.objects.get().get_change_message() == "Explained: A test by ops."
    explain(ops, event, "Another.")
    event.refresh_from_db()
    assert event.explanation == "A test by ops."
    assert "This event was explained before." in ops.get(page(event)).content.decode()


def test_a_user_who_may_only_view_explains_nothing(ops: Client) -> None:
    viewer, event = User.objects.create_user("viewer", is_staff=True), make_event()
    viewer.user_permissions.add(Permission.objects.get(codename="view_unmatchedevent"))
    ops.force_login(viewer)
    assert ops.get(page(event)).status_code == 200
    assert explain(ops, event).status_code == 403
    event.refresh_from_db()
    assert event.status == "open"


def test_nothing_can_be_added_changed_or_deleted(ops: Client) -> None:
    event = make_event()
    assert ops.get(reverse("admin:evm_unmatchedevent_add")).status_code == 403
    assert ops.post(page(event), {"reason": "None."}).status_code == 403
    assert ops.post(reverse("admin:evm_unmatchedevent_delete", args=[event.pk]), {"post": "yes"}).status_code == 403
