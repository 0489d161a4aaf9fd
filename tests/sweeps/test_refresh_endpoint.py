"""POST /v2/sweep/build/:id/refresh: another offer under the same signature, or the reason why there is none."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from partners.models import ApiKey
from sweepapi import networks
from sweepapi.errors import SweepVoid
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.signers import LocalFeeSigner
from sweepapi.evm.trial.attempts import Attempt, TrialOutcome
from sweepapi.evm.trial.trying import try_all
from sweepapi.modes import Mode
from sweepapi.rpc import Call, ProviderPool
from sweeps.models import Offer, Sweep
from sweeps.rails.evm.build import planning
from sweeps.story import build
from sweeps.story.withdrawal import cancel_on_chain, cancel_sweep, void
from tests.factories.partners import PartnerFactory, requester_of
from tests.factories.sweeps import LOCAL, SweepFactory, SweepTransactionFactory
from tests.market_moves import crash_price
from tests.openapi import assert_documented
from tests.partner_app import PartnerApp, details_of, error_of, only_v5
from tests.sessions import rival_after_query

pytestmark = pytest.mark.django_db

PATH = "/v2/sweep/build/{sweep_id}/refresh"
UNKNOWN = "0197a3c4-5d6e-7f80-9a1b-2c3d4e5f6071"


@pytest.fixture
def app(app: PartnerApp, each_mode: str) -> PartnerApp:
    """The partner's application, while the service builds in each of its modes."""
    assert each_mode
    return app


def refresh(app: PartnerApp, sweep_id: str, body: object | None = None, *, client: Client | None = None) -> Any:
    path = PATH.format(sweep_id=sweep_id)
    return (client or app.api).post(path, {} if body is None else body, content_type="application/json")


def refused(app: PartnerApp, built: dict[str, Any]) -> tuple[int, str]:
    """Return how a refresh that must make no offer is refused, in the documented shape."""
    before = Offer.objects.count()
    response = refresh(app, built["sweepId"])
    assert_documented(response, path=PATH)
    assert Offer.objects.count() == before
    return error_of(response)


def test_it_answers_as_the_build_did_with_current_routes_and_the_same_message_to_sign(app: PartnerApp) -> None:
    built = app.build({"USDC": 3, "LINK": 1}, clientReference="mine")
    response = refresh(app, built["sweepId"])
    assert response.status_code == 200
    assert_documented(response, path=PATH)
    again = response.json()["data"]
    assert again.pop("signatureStillValid") is True
    assert list(again) == list(built)
    kept = ("sweepId", "clientReference", "createdAt", "expiresAt", "permit2", "tokens", "estimatedOutput")
    assert [again[name] for name in kept] == [built[name] for name in kept]


def test_the_new_offer_is_executed_with_the_signature_for_the_first(app: PartnerApp) -> None:
    built = app.build({"USDC": 3, "LINK": 1, "DAI": 2}, slippageBps=50, onLegFailure="skip")
    crash_price(app, "LINK")
    again = refresh(app, built["sweepId"]).json()["data"]
    assert again["permit2"] == built["permit2"]
    state = app.confirm(built, app.execute({**again, "permit2": built["permit2"]}))
    assert [token["outcome"] for token in state["tokens"]] == ["swept", "dropped", "swept"]


def test_what_is_dropped_counts_neither_as_expected_nor_as_minimum(app: PartnerApp) -> None:
    built = app.build({"USDC": 3, "LINK": 50, "DAI": 2}, slippageBps=50, onLegFailure="skip")
    crash_price(app, "LINK")
    again = refresh(app, built["sweepId"]).json()["data"]
    output = {name: int(amount) for name, amount in again["estimatedOutput"].items() if "ross" in name or "ser" in name}
    for token in again["tokens"]:
        assert int(token["minOutput"]) <= int(token["expectedOutput"]), token
    assert output["gross"] == sum(int(token["expectedOutput"]) for token in again["tokens"])
    assert output["minGross"] == sum(int(token["minOutput"]) for token in again["tokens"]) < output["gross"]
    assert output["minUser"] < output["user"]


def test_the_options_of_the_user_are_those_that_the_build_chose(app: PartnerApp) -> None:
    built = app.build({"USDC": 3}, approvals="unlimited", execution={"wallet": {"atomic": "unsupported"}})
    again = refresh(app, built["sweepId"]).json()["data"]
    costs = [[one["kind"], one["prompts"], one["approvals"]] for one in built["executions"]]
    assert [[one["kind"], one["prompts"], one["approvals"]] for one in again["executions"]] == costs
    assert [kind for kind, *_ in costs] == ["transactions", "permit2", "permits"]
    assert costs[1][2][0]["data"].endswith("f" * 64), "an unlimited approval"


def test_what_the_build_left_out_is_not_part_of_the_sweep(app: PartnerApp) -> None:
    body = app.body({"USDC": 3, "LINK": 1}, onUnroutable="skip")
    body["tokens"].append({"mint": app.chain.users[3].address, "amount": "1"})
    built = app.post_build(body).json()["data"]
    assert len(built["skippedTokens"]) == 1
    again = refresh(app, built["sweepId"]).json()["data"]
    assert [token["mint"] for token in again["tokens"]] == [token["mint"] for token in built["tokens"]]
    assert again["skippedTokens"] == []


def test_no_more_tokens_are_dropped_than_the_user_signed_whatever_the_build_left_out(app: PartnerApp) -> None:
    choices: dict[str, Any] = {"onUnroutable": "skip", "onLegFailure": "skip", "maxSkipped": 1}
    built = app.build({"USDC": 3, "LINK": 1, "UNI": 1}, slippageBps=50, **choices)
    crash_price(app, "LINK")
    dropped = [token["route"] is None for token in refresh(app, built["sweepId"]).json()["data"]["tokens"]]
    assert dropped == [False, True, False]
    crash_price(app, "UNI")
    assert refused(app, built) == (409, "new_build_required")


def test_a_body_is_not_needed(app: PartnerApp) -> None:
    path = PATH.format(sweep_id=app.build()["sweepId"])
    assert app.api.generic("POST", path).status_code == 200


def test_a_body_that_asks_for_other_terms_is_refused(app: PartnerApp) -> None:
    response = refresh(app, app.build()["sweepId"], {"slippageBps": 500})
    assert error_of(response) == (400, "invalid_request")
    assert details_of(response) == {("slippageBps", "unknown_field")}


def test_a_sweep_that_fails_only_as_a_whole_is_not_offered_again(
    app: PartnerApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = app.build({"USDC": 3, "DAI": 2})

    def fail_together(
        tries: Sequence[Attempt], pool: ProviderPool, *, also: Sequence[Call]
    ) -> tuple[list[TrialOutcome | None], list[Any]]:
        (whole, *alone), answers = try_all(tries, pool, also=also)
        assert whole is not None
        return [replace(whole, least_gas=None, gross_output=None), *alone], answers

    monkeypatch.setattr(planning, "try_all", fail_together)
    assert refused(app, built) == (409, "new_build_required")


def test_prices_that_no_longer_reach_what_was_signed_need_a_new_build(app: PartnerApp) -> None:
    built = app.build({"LINK": 1}, slippageBps=50)
    crash_price(app, "LINK")
    assert refused(app, built) == (409, "new_build_required")
    assert refresh(app, built["sweepId"]).json()["error"]["message"].startswith("At current prices ")


def test_a_contract_that_was_replaced_needs_a_new_build_and_nothing_is_read_or_signed(
    app: PartnerApp,
    change_chain: Callable[..., Chain],
    round_trips: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    built = app.build()
    chain, signed = networks.current().chain(LOCAL), []
    change_chain(v5_contract=chain.v4_contract, v4_contract=chain.v5_contract)
    monkeypatch.setattr(LocalFeeSigner, "sign", lambda _signer, data: signed.append(data))
    round_trips.clear()
    assert refused(app, built) == (409, "new_build_required")
    assert (signed, round_trips) == ([], [])


def test_a_sweep_of_another_partner_looks_like_a_missing_one(app: PartnerApp) -> None:
    built = app.build()
    _, plaintext = ApiKey.issue(partner=PartnerFactory.create(), name="other", mode=Mode.TEST)
    other = Client(headers={"x-api-key": plaintext})
    answers = [
        refresh(app, built["sweepId"], client=other),
        refresh(app, UNKNOWN),
        refresh(app, "build"),
        refresh(app, built["sweepId"].upper()),
    ]
    assert [error_of(answer) for answer in answers] == [(404, "sweep_not_found")] * 4
    assert len({answer.json()["error"]["message"] for answer in answers}) == 1


def test_an_executed_sweep_names_its_transaction(app: PartnerApp) -> None:
    built = app.build()
    tx_hash = app.execute(built)
    app.confirm(built, tx_hash)
    response = refresh(app, built["sweepId"])
    assert error_of(response) == (409, "sweep_already_confirmed")
    assert [detail["message"] for detail in response.json()["error"]["details"]] == [tx_hash]


def test_a_sweep_that_was_executed_and_not_reported_says_so(app: PartnerApp) -> None:
    built = app.build()
    app.execute(built)
    response = refresh(app, built["sweepId"])
    assert error_of(response) == (409, "new_build_required")
    reason, advice = response.json()["error"]["message"].split(". ")
    assert reason.startswith("The sweep would revert: ")
    assert " was executed " in reason
    assert advice == "Build a new one, unless the user has executed this one."


def test_a_void_sweep_is_not_offered_again(app: PartnerApp) -> None:
    built = app.build()
    void(sweep_id=Sweep.objects.get().id, reason="why", requested_by="ops")
    assert refused(app, built) == (409, "sweep_void")


@only_v5
def test_a_sweep_that_is_being_cancelled_on_chain_is_not_offered_again(app: PartnerApp) -> None:
    built = app.build()
    cancel_on_chain(sweep_id=Sweep.objects.get().id, reason="why", requested_by="ops")
    assert refused(app, built) == (409, "sweep_void")


@pytest.mark.django_db(transaction=True)
def test_a_sweep_that_is_cancelled_while_it_is_planned_is_not_offered_again(app: PartnerApp) -> None:
    app.build()
    sweep = Sweep.objects.select_related("partner").get()

    def cancel() -> None:
        cancel_sweep(requester=requester_of(sweep.partner), sweep_id=sweep.id, on_chain=False, answered=str)

    with rival_after_query(cancel, number=1), pytest.raises(SweepVoid):
        build.renew_offer(networks.current(), sweep, answered=dict)
    assert Offer.objects.count() == 1


def test_a_sweep_past_its_deadline_is_not_offered_again(app: PartnerApp) -> None:
    built = app.build()
    Sweep.objects.update(deadline=timezone.now() - timedelta(seconds=1))
    assert refused(app, built) == (409, "sweep_expired")


def test_a_closed_sweep_that_failed_is_not_offered_again(app: PartnerApp) -> None:
    built = app.build()
    closed = {"is_open": False, "closed_at": timezone.now(), "next_check_at": None}
    Sweep.objects.update(status="failed", last_event=2, **closed)
    assert refused(app, built) == (409, "sweep_failed")


def test_a_sweep_whose_transaction_is_still_to_come_is_offered_again(app: PartnerApp) -> None:
    built = app.build()
    SweepTransactionFactory.create(sweep=Sweep.objects.get(), execution=Sweep.objects.get().executions.get())
    assert refresh(app, built["sweepId"]).status_code == 200


def test_the_number_of_offers_is_bounded_and_the_last_refusal_reads_nothing(
    app: PartnerApp, monkeypatch: pytest.MonkeyPatch, round_trips: list[list[str]]
) -> None:
    monkeypatch.setattr(build, "MAX_OFFERS", 3)
    built = app.build()
    assert [refresh(app, built["sweepId"]).status_code for _ in range(2)] == [200, 200]
    round_trips.clear()
    assert refused(app, built) == (409, "too_many_offers")
    assert round_trips == []
    assert [offer.sequence for offer in Offer.objects.all()] == [1, 2, 3]


@pytest.mark.usefixtures("no_providers")
def test_without_a_provider_it_can_be_retried(app: PartnerApp) -> None:
    sweep = SweepFactory.create(
        partner=ApiKey.objects.get().partner, execution__venue=networks.current().chain(LOCAL).v5_contract
    )
    response = refresh(app, str(sweep.id))
    assert error_of(response) == (503, "chain_unavailable")
    assert_documented(response, path=PATH)
