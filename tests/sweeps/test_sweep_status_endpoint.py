"""GET /v2/sweep/status/:id: the stored state of a sweep, shown only to its partner, without reading the chain."""

from collections.abc import Callable
from datetime import datetime
from uuid import uuid4

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from partners.models import ApiKey, Partner
from sweepapi.modes import Mode
from sweepapi.rpc import ProviderPool
from sweeps.models import EventKind
from tests.factories.ledger import random_hash
from tests.factories.partners import PartnerFactory
from tests.factories.sweeps import SweepFactory, SweepTransactionFactory, note
from tests.openapi import assert_documented
from tests.partner_app import PartnerApp, error_of

pytestmark = pytest.mark.django_db

PATH = "/v2/sweep/status/{sweep_id}"


@pytest.fixture
def app(app: PartnerApp, each_mode: str) -> PartnerApp:
    """The partner's application, while the service builds in each of its modes."""
    assert each_mode
    return app


def test_a_new_sweep_is_shown_as_built(app: PartnerApp) -> None:
    built = app.build({"USDC": 3, "GUSD": 2})
    state = app.state(built["sweepId"])
    same = ("sweepId", "status", "chain", "chainId", "mode", "contractVersion", "contractAddress", "createdAt")
    assert {name: state[name] for name in same} == {name: built[name] for name in same}
    assert (state["open"], state["flags"], state["tokenCount"]) == (True, [], 2)
    assert (state["wallet"], state["outputMint"]) == (app.user.address, app.chain.token("WETH").address)
    assert (state["transaction"], state["transactions"], state["ledger"]) == (None, [], {"entries": []})
    authorization = state["feeAuthorization"]
    assert authorization["nonce"] == (built["feeAuthorization"] or {"nonce": None})["nonce"]
    assert authorization["deadline"] == built["expiresAt"]
    assert authorization["actualFees"] is None
    assert authorization["expectedFees"]["totalFee"] == built["feeSummary"]["totalFee"]
    assert (authorization["txHash"], authorization["lastError"], authorization["checkAttempts"]) == (None, None, 0)


@pytest.mark.parametrize("completed", [False, True])
def test_the_shape_is_the_documented_one(app: PartnerApp, *, completed: bool) -> None:
    sweep_id = app.complete()[0]["sweepId"] if completed else app.build()["sweepId"]
    assert_documented(app.api.get(PATH.format(sweep_id=sweep_id)), path=PATH)


def test_confirm_and_status_show_the_same(app: PartnerApp) -> None:
    state, _ = app.complete()
    assert app.state(state["sweepId"]) == state


def test_times_are_utc_and_say_so(app: PartnerApp) -> None:
    state, _ = app.complete()
    for text in (state["createdAt"], state["expiresAt"], state["feeAuthorization"]["confirmedAt"]):
        assert text.endswith("Z")
        assert datetime.fromisoformat(text).tzinfo is not None


def test_the_newest_candidate_is_shown_until_one_is_accepted(api: Client, partner: Partner) -> None:
    sweep = SweepFactory.create(partner=partner)
    _, newest = SweepTransactionFactory.create_batch(2, sweep=sweep)
    state = api.get(PATH.format(sweep_id=sweep.id)).json()["data"]
    assert state["transaction"]["txHash"] == state["feeAuthorization"]["txHash"] == newest.tx_hash
    assert len(state["transactions"]) == 2


def test_the_chain_is_never_read(
    app: PartnerApp, use_providers: Callable[..., ProviderPool], round_trips: list[list[str]]
) -> None:
    state, _ = app.complete()
    use_providers("http://127.0.0.1:1")
    round_trips.clear()
    assert app.state(state["sweepId"]) == state
    assert round_trips == []


def test_the_number_of_queries_does_not_grow_with_transactions_and_events(
    api: Client, partner: Partner, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    sweep = SweepFactory.create(partner=partner)
    for tx in SweepTransactionFactory.create_batch(10, sweep=sweep):
        note(sweep, EventKind.REPORTED, tx_hash=tx.tx_hash)
    with django_assert_max_num_queries(10):
        api.get(PATH.format(sweep_id=sweep.id))


def test_another_partners_sweep_looks_exactly_like_a_missing_one() -> None:
    sweep = SweepFactory.create()
    _, key = ApiKey.issue(partner=PartnerFactory.create(), name="stranger", mode=Mode.TEST)
    stranger = Client(headers={"x-api-key": key, "x-request-id": "same"})
    answers = [stranger.get(PATH.format(sweep_id=sweep_id)) for sweep_id in (sweep.id, uuid4(), "nonsense")]
    assert {error_of(answer) for answer in answers} == {(404, "sweep_not_found")}
    assert len({answer.content for answer in answers}) == 1


def test_a_request_without_a_key_is_refused(anonymous: Client) -> None:
    sweep = SweepFactory.create()
    assert error_of(anonymous.get(PATH.format(sweep_id=sweep.id))) == (401, "missing_api_key")


def test_other_methods_are_refused(api: Client) -> None:
    assert error_of(api.delete(PATH.format(sweep_id=uuid4()))) == (405, "method_not_allowed")


def test_a_sweep_of_another_rail_looks_like_a_missing_one(api: Client, partner: Partner) -> None:
    sweep = SweepFactory.create(partner=partner, rail="solana_v1")
    assert error_of(api.get(f"/v2/sweep/status/{sweep.id}")) == (404, "sweep_not_found")
    confirm = api.post(
        f"/v2/sweep/status/{sweep.id}/confirm", {"txHash": random_hash()}, content_type="application/json"
    )
    assert error_of(confirm) == (404, "sweep_not_found")
