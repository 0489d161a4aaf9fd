"""POST /v2/sweep/status/:id/cancel: a partner withdraws a sweep that the user declined."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from indexer.jobs import send_cancellations
from partners.models import ApiKey, Partner
from sweepapi.errors import RateLimited
from sweeps.models import Sweep, SweepEvent
from sweeps.rails.evm_v5.models import Cancellation
from sweeps.story.withdrawal import cancel_on_chain, cancel_sweep
from tests.factories.partners import PartnerFactory, requester_of
from tests.factories.sweeps import SweepFactory, SweepTransactionFactory, V4SweepFactory
from tests.openapi import assert_documented
from tests.partner_app import PartnerApp, details_of, error_of
from tests.sessions import rival_at_the_lock

pytestmark = pytest.mark.django_db

PATH = "/v2/sweep/status/{sweep_id}/cancel"
UNKNOWN = "0197a3c4-5d6e-7f80-9a1b-2c3d4e5f6071"
CLOSED = {"is_open": False, "closed_at": timezone.now(), "next_check_at": None}


def cancel(api: Client, sweep: Sweep | str, body: object | None = None) -> Any:
    path = PATH.format(sweep_id=sweep if isinstance(sweep, str) else sweep.id)
    return api.post(path, {} if body is None else body, content_type="application/json")


def cancelled(api: Client, sweep: Sweep | str, **body: object) -> dict[str, Any]:
    """Cancel a sweep and return its status object."""
    response = cancel(api, sweep, body)
    assert response.status_code == 200, response.content
    assert_documented(response, path=PATH)
    data: dict[str, Any] = response.json()["data"]
    return data


def events_of(sweep: Sweep) -> list[tuple[str, dict[str, Any]]]:
    return [(event.type, event.facts) for event in SweepEvent.objects.filter(sweep=sweep)]


@pytest.fixture
def sweep(partner: Partner) -> Sweep:
    """A pending V5 sweep of the partner."""
    return SweepFactory.create(partner=partner)


def test_a_pending_sweep_is_void_at_once_and_confirm_refuses_it(app: PartnerApp) -> None:
    built = app.build()
    state = cancelled(app.api, built["sweepId"])
    assert (state["status"], state["open"]) == ("void", True)
    assert state == app.state(built["sweepId"])
    assert [event["type"] for event in state["events"]] == ["sweep_pending", "sweep_void"]
    assert error_of(app.post_confirm(built["sweepId"], "0x" + "ab" * 32)) == (409, "sweep_void")


def test_the_events_name_the_key_to_operators_and_not_to_partners(api: Client, sweep: Sweep) -> None:
    state = cancelled(api, sweep, onChain=True)
    key_id = ApiKey.objects.get().key_id
    facts = {"reason": "Cancelled by the partner.", "requested_by": f"API key tests ({key_id})"}
    assert events_of(sweep) == [("sweep_void", facts), ("cancellation_requested", facts)]
    assert key_id not in str(state)


def test_without_on_chain_nothing_is_requested(api: Client, sweep: Sweep) -> None:
    for body in ({}, {"onChain": False}):
        cancelled(api, sweep, **body)
    sweep.refresh_from_db()
    assert (sweep.cancellation_requested_at, Cancellation.objects.count()) == (None, 0)


def test_a_body_is_not_needed(api: Client, sweep: Sweep) -> None:
    assert api.generic("POST", PATH.format(sweep_id=sweep.id)).status_code == 200


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"onChain": "true"}, ("onChain", "invalid_type")),
        ({"onChain": None}, ("onChain", "invalid_type")),
        ({"onchain": True}, ("onchain", "unknown_field")),
    ],
    ids=str,
)
def test_another_body_is_refused(api: Client, sweep: Sweep, body: object, detail: tuple[str, str]) -> None:
    response = cancel(api, sweep, body)
    assert error_of(response) == (400, "invalid_request")
    assert details_of(response) == {detail}
    sweep.refresh_from_db()
    assert sweep.status == "pending"


def test_on_chain_the_worker_takes_away_what_the_user_signed(app: PartnerApp) -> None:
    built = app.build()
    app.approve(built)
    cancelled(app.api, built["sweepId"], onChain=True)
    send_cancellations()
    app.chain.mine()
    assert app.chain.receipt(app.chain.sign_and_send(app.user, built))["status"] == 0


def test_cancelling_again_changes_nothing(api: Client, sweep: Sweep) -> None:
    first = cancelled(api, sweep, onChain=True)
    assert cancelled(api, sweep, onChain=True) == cancelled(api, sweep) == first
    assert Cancellation.objects.count() == 1


def test_a_void_sweep_can_still_be_cancelled_on_chain(api: Client, sweep: Sweep) -> None:
    cancelled(api, sweep)
    state = cancelled(api, sweep, onChain=True)
    assert [event["type"] for event in state["events"]] == ["sweep_void", "cancellation_requested"]
    assert Cancellation.objects.get().execution == sweep.executions.get()


def test_a_closed_void_sweep_is_answered_as_it_is(api: Client, partner: Partner) -> None:
    voided = {"status": "void", "voided_at": timezone.now(), "void_reason": "why", "execution__status": "cancelled"}
    sweep = SweepFactory.create(partner=partner, **voided, **CLOSED)
    state = cancelled(api, sweep, onChain=True)
    assert (state["status"], state["open"], state["events"], Cancellation.objects.count()) == ("void", False, [], 0)


@pytest.mark.parametrize("body", [{}, {"onChain": True}], ids=str)
def test_a_sweep_whose_transaction_may_still_be_mined_is_not_cancelled(
    api: Client, partner: Partner, body: dict[str, Any]
) -> None:
    sweep = SweepTransactionFactory.create(sweep__partner=partner).sweep
    response = cancel(api, sweep, body)
    assert error_of(response) == (409, "sweep_not_voidable")
    assert_documented(response, path=PATH)
    assert (Cancellation.objects.count(), events_of(sweep)) == (0, [])


@pytest.mark.parametrize("status", ["expired", "failed"])
def test_a_sweep_that_can_no_longer_be_executed_is_refused_with_its_code(
    api: Client, partner: Partner, status: str
) -> None:
    response = cancel(api, SweepFactory.create(partner=partner, status=status, **CLOSED))
    assert error_of(response) == (409, f"sweep_{status}")
    assert_documented(response, path=PATH)


def test_an_executed_sweep_names_its_transaction(app: PartnerApp) -> None:
    state, tx_hash = app.complete()
    response = cancel(app.api, state["sweepId"], {"onChain": True})
    assert error_of(response) == (409, "sweep_already_confirmed")
    assert [detail["message"] for detail in response.json()["error"]["details"]] == [tx_hash]
    assert_documented(response, path=PATH)


def test_on_v4_only_voiding_is_possible(api: Client, partner: Partner) -> None:
    sweep = V4SweepFactory.create(partner=partner)
    response = cancel(api, sweep, {"onChain": True})
    assert error_of(response) == (409, "sweep_not_cancellable")
    sweep.refresh_from_db()
    assert sweep.status == "pending"
    assert cancelled(api, sweep)["status"] == "void"


def test_a_sweep_of_another_partner_looks_like_a_missing_one(api: Client) -> None:
    answers = [cancel(api, one) for one in (SweepFactory.create(), UNKNOWN, "build")]
    assert [error_of(answer) for answer in answers] == [(404, "sweep_not_found")] * 3
    assert len({answer.json()["error"]["message"] for answer in answers}) == 1
    assert Sweep.objects.get().status == "pending"


# --- the daily limit --------------------------------------------------------------------------------------------------


def requested(partner: Partner, *, hours_ago: float) -> Sweep:
    """Store a sweep whose cancellation on chain was requested."""
    at = timezone.now() - timedelta(hours=hours_ago)
    return SweepFactory.create(partner=partner, cancellation_requested_at=at)


def test_cancellations_on_chain_are_limited_per_partner_and_day(
    api: Client, partner: Partner, sweep: Sweep, settings: Settings
) -> None:
    settings.ONCHAIN_CANCELLATIONS_PER_DAY = 2
    for hours_ago in (25, 23, 1):
        requested(partner, hours_ago=hours_ago)
    requested(PartnerFactory.create(), hours_ago=1)
    response = cancel(api, sweep, {"onChain": True})
    assert error_of(response) == (429, "rate_limited")
    assert_documented(response, path=PATH)
    assert 3590 <= int(response.headers["Retry-After"]) <= 3600
    sweep.refresh_from_db()
    assert (sweep.status, Cancellation.objects.count()) == ("pending", 0)
    assert cancelled(api, sweep)["status"] == "void", "voiding alone costs nothing"


def test_below_the_limit_and_for_a_sweep_that_was_counted_before_it_is_not_refused(
    api: Client, partner: Partner, sweep: Sweep, settings: Settings
) -> None:
    settings.ONCHAIN_CANCELLATIONS_PER_DAY = 2
    requested(partner, hours_ago=25)
    requested(partner, hours_ago=1)
    cancelled(api, sweep, onChain=True)
    cancelled(api, sweep, onChain=True)
    assert error_of(cancel(api, SweepFactory.create(partner=partner), {"onChain": True})) == (429, "rate_limited")


def test_a_limit_of_zero_leaves_cancelling_to_operators(api: Client, sweep: Sweep, settings: Settings) -> None:
    settings.ONCHAIN_CANCELLATIONS_PER_DAY = 0
    response = cancel(api, sweep, {"onChain": True})
    assert (error_of(response), response.headers["Retry-After"]) == ((429, "rate_limited"), "86400")
    assert cancel_on_chain(sweep_id=sweep.id, reason="why", requested_by="ops")


@pytest.mark.django_db(transaction=True)
def test_cancellations_at_the_same_time_do_not_exceed_the_limit(settings: Settings) -> None:
    settings.ONCHAIN_CANCELLATIONS_PER_DAY = 1
    partner = PartnerFactory.create()
    ours, theirs = SweepFactory.create_batch(2, partner=partner)
    with (
        rival_at_the_lock(lambda: cancel_sweep_on_chain(theirs), is_first=True),
        pytest.raises(RateLimited),
    ):
        cancel_sweep_on_chain(ours)
    assert Cancellation.objects.get().execution.sweep == theirs


def cancel_sweep_on_chain(sweep: Sweep) -> None:
    cancel_sweep(requester=requester_of(sweep.partner), sweep_id=sweep.id, on_chain=True, answered=str)
