"""An event of our contracts that is not what we offered is stored once, with an alert, for operators to explain."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.utils import timezone
from structlog.testing import capture_logs

from indexer import following, reconciliation
from sweeps.models import Sweep
from sweeps.rails.evm.models import UnmatchedEvent
from sweeps.rails.evm.reconcile import unmatched
from tests.indexer.reconciled import NETWORK, warnings
from tests.local_chain import FINAL_AFTER
from tests.own_permit import send_own, under_reference_of
from tests.partner_app import PartnerApp

pytestmark = pytest.mark.django_db

NONCE = 2**255 + 7


@pytest.fixture
def event(app: PartnerApp) -> UnmatchedEvent:
    """A cancellation of an authorization that the service never signed."""
    app.build()
    app.chain.cancel(NONCE)
    app.chain.mine(FINAL_AFTER)
    assert warnings() == ["unmatched_event"]
    return UnmatchedEvent.objects.get()


def test_an_event_of_an_execution_that_is_not_ours_is_stored_with_its_place_on_chain(
    app: PartnerApp, event: UnmatchedEvent
) -> None:
    receipt = app.chain.receipt(event.tx_hash)
    assert (event.network, event.contract, event.block_number) == (
        NETWORK,
        app.chain.contracts["v5"],
        receipt["blockNumber"],
    )
    assert (event.block_hash, event.log_position) == (receipt["blockHash"].to_0x_hex(), 0)
    assert (event.name, event.execution_id, event.sweep) == ("AuthorizationCancelled", str(NONCE), None)
    assert event.facts == {"nonce": str(NONCE), "by": app.chain.holder("ops").address}
    assert (event.status, event.reason) == ("open", "No execution of ours has this identity.")


def test_the_alert_names_the_event(app: PartnerApp) -> None:
    app.build()
    tx_hash = app.chain.cancel(NONCE)
    app.chain.mine(FINAL_AFTER)
    with capture_logs() as logs:
        reconciliation.reconcile()
    (alert,) = [entry for entry in logs if entry["event"] == "unmatched_event"]
    assert (alert["log_level"], alert["network"], alert["execution_id"], alert["tx_hash"]) == (
        "error",
        NETWORK,
        str(NONCE),
        tx_hash,
    )


def test_an_event_that_is_read_again_is_neither_stored_nor_reported_again(event: UnmatchedEvent) -> None:
    call_command("rescan", "local", "0", stdout=StringIO())
    assert warnings() == []
    assert UnmatchedEvent.objects.get() == event


def test_nothing_is_stored_before_its_block_is_final(app: PartnerApp) -> None:
    app.build()
    app.chain.cancel(NONCE)
    app.chain.mine(FINAL_AFTER - 2)
    following.follow()
    reconciliation.reconcile()
    assert not UnmatchedEvent.objects.exists()


def test_an_execution_on_other_terms_is_stored_with_its_sweep(app: PartnerApp) -> None:
    built = app.build()
    app.execute(built)
    Sweep.objects.update(protocol_recipient=app.chain.users[3].address)
    app.chain.mine(FINAL_AFTER)
    assert warnings() == ["unmatched_event"]
    event = UnmatchedEvent.objects.get()
    assert (event.name, str(event.sweep_id)) == ("SweepExecutedV5", built["sweepId"])
    assert event.reason.startswith("protocolRecipient: the event has ")
    assert Sweep.objects.get().transactions.get().status == "rejected"


def test_a_reference_that_was_spent_on_other_terms_is_stored_with_its_sweep(app: PartnerApp, use_mode: Any) -> None:
    use_mode("v4_fallback")
    built, other = app.build(), app.build(output="USDT")
    app.approve(other)
    send_own(app.chain, app.user, under_reference_of(built, other))
    app.chain.mine(FINAL_AFTER)
    assert warnings() == ["unmatched_event"]
    event = UnmatchedEvent.objects.get()
    assert (event.name, str(event.sweep_id)) == ("SweepExecutedV4", built["sweepId"])
    assert event.reason.startswith("outputToken: the event has ")


def test_what_was_offered_and_executed_is_not_stored(app: PartnerApp) -> None:
    app.complete()
    app.execute(app.build())
    app.chain.mine(FINAL_AFTER)
    assert warnings() == []
    assert not UnmatchedEvent.objects.exists()


# --- explained --------------------------------------------------------------------------------------------------------


def test_operators_explain_an_event_once(event: UnmatchedEvent) -> None:
    assert unmatched.explain(event_id=event.pk, explanation=" A test by ops. ", explained_by="ops")
    assert not unmatched.explain(event_id=event.pk, explanation="Another.", explained_by="someone")
    event.refresh_from_db()
    assert (event.status, event.explanation, event.explained_by) == ("explained", "A test by ops.", "ops")
    assert event.explained_at is not None


@pytest.mark.parametrize("change", [{"facts": {}}, {"reason": "None."}, {"block_number": 1}, {"sweep_id": None}])
def test_what_the_chain_says_cannot_be_changed(event: UnmatchedEvent, change: dict[str, Any]) -> None:
    if change == {"sweep_id": None}:
        change = {"sweep_id": Sweep.objects.get().id}
    with transaction.atomic(), pytest.raises(IntegrityError, match="append-only"):
        UnmatchedEvent.objects.filter(id=event.pk).update(**change)


def test_an_event_cannot_be_deleted(event: UnmatchedEvent) -> None:
    with transaction.atomic(), pytest.raises(IntegrityError, match="append-only"):
        event.delete()


@pytest.mark.parametrize(
    "change", [{"status": "explained"}, {"explanation": "Fine."}, {"explained_at": timezone.now()}]
)
def test_an_explanation_is_whole(event: UnmatchedEvent, change: dict[str, Any]) -> None:
    with transaction.atomic(), pytest.raises(IntegrityError, match="explained_whole"):
        UnmatchedEvent.objects.filter(id=event.pk).update(**change)
