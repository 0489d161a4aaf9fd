"""GET /v1/sweep/status/:id: one shape for sweeps on Solana and on V4, shown only to their partner."""

from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from partners.models import ApiKey, Partner
from sweepapi.fees import FeeRates
from sweepapi.modes import Mode
from sweeps.models import Sweep, SweepTransaction
from tests.factories.partners import PartnerFactory
from tests.factories.solana_sweeps import (
    MAINNET,
    SolanaExecutionFactory,
    SolanaSweepFactory,
    random_signature,
)
from tests.factories.sweeps import (
    SweepFactory,
    SweepTransactionFactory,
    V4SweepFactory,
    evm_reading,
    executed_receipt,
)
from tests.openapi import assert_documented
from tests.partner_app import error_of
from tests.settling import settle

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("shipped_cluster")]

PATH = "/v1/sweep/status/{sweep_id}"


def state_of(api: Client, sweep: Sweep) -> dict[str, Any]:
    response = api.get(PATH.format(sweep_id=sweep.id))
    assert response.status_code == 200, response.content
    assert_documented(response, path=PATH)
    data: dict[str, Any] = response.json()["data"]
    return data


def partly_landed(partner: Partner) -> tuple[Sweep, SweepTransaction]:
    """Return a completed sweep of two transactions, and the one of them that landed."""
    sweep = SolanaSweepFactory.create(
        partner=partner, status="completed", completed_at=timezone.now(), flags=["partial"], execution=None
    )
    amounts = FeeRates(sweep.total_fee_bps, sweep.partner_share_bps).split(400_000)
    landed = SolanaExecutionFactory.create(sweep=sweep, position=0, status="executed", **vars(amounts))
    SolanaExecutionFactory.create(sweep=sweep, position=1, status="expired", closed_at=timezone.now())
    tx = SweepTransactionFactory.create(
        sweep=sweep,
        execution=landed,
        tx_hash=random_signature(),
        status="accepted",
        source="discovered",
        block_number=400,
        block_hash=random_signature(),
        confirmed_at=timezone.now(),
    )
    return sweep, tx


def test_a_pending_sweep_on_solana_is_shown_with_its_execution(api: Client, partner: Partner) -> None:
    sweep = SolanaSweepFactory.create(partner=partner)
    state = state_of(api, sweep)
    assert (state["sweepId"], state["status"], state["open"]) == (str(sweep.id), "pending", True)
    assert (state["chain"], state["network"], state["mode"]) == ("solana", MAINNET, "v1_solana")
    assert (state["feeMode"], state["flags"], state["tokenCount"]) == ("offchain_accounting", [], 1)
    assert (state["transaction"], state["transactions"], state["ledger"]) == (None, [], {"entries": []})
    execution, token = sweep.executions.get(), sweep.tokens.get()
    assert state["operations"] == [
        {"id": execution.execution_id, "status": "pending", "tokens": [token.asset], "txHash": None, "reason": ""}
    ]
    assert (state["fees"]["expectedFees"]["grossOutput"], state["fees"]["actualFees"]) == ("1000000", None)
    assert (state["checkAttempts"], state["lastCheckedAt"], state["lastError"]) == (0, None, None)
    assert state["nextCheckAt"].endswith("Z")


def test_a_partly_landed_sweep_says_what_landed(api: Client, partner: Partner) -> None:
    sweep, tx = partly_landed(partner)
    state = state_of(api, sweep)
    assert (state["status"], state["flags"], state["txHashes"]) == ("completed", ["partial"], [tx.tx_hash])
    first, second = state["operations"]
    assert (first["status"], first["txHash"]) == ("executed", tx.tx_hash)
    assert (second["status"], second["txHash"]) == ("expired", None)
    assert first["tokens"] + second["tokens"] == [token["mint"] for token in state["tokens"]]
    assert state["fees"]["actualFees"]["grossOutput"] == "400000"
    assert state["transaction"]["txHash"] == tx.tx_hash


def test_an_execution_shows_why_its_transaction_was_rejected(api: Client, partner: Partner) -> None:
    sweep = SolanaSweepFactory.create(partner=partner)
    SweepTransactionFactory.create(sweep=sweep, tx_hash=random_signature(), status="rejected", reason="Another order.")
    (execution,) = state_of(api, sweep)["operations"]
    assert execution["reason"] == "Another order."


def test_a_sweep_on_v4_has_the_same_shape(api: Client, partner: Partner) -> None:
    tx = SweepTransactionFactory.create(sweep=V4SweepFactory.create(partner=partner))
    settle(sweep_id=tx.sweep.id, reading=evm_reading(executed_receipt(tx)))
    on_v4, on_solana = state_of(api, tx.sweep), state_of(api, SolanaSweepFactory.create(partner=partner))
    assert on_v4.keys() == on_solana.keys()
    (execution,) = on_v4["operations"]
    assert (execution["id"], execution["txHash"]) == (tx.execution.execution_id, tx.tx_hash)
    assert (on_v4["mode"], on_v4["feeMode"], on_v4["network"]) == ("v4_fallback", "offchain_accounting", "eip155:31337")
    accounts = {entry["account"] for entry in on_v4["ledger"]["entries"]}
    assert accounts == {"protocol_revenue", "partner_payable", "fees_charged"}


def test_a_sweep_on_v5_looks_like_a_missing_one(api: Client, partner: Partner) -> None:
    sweep = SweepFactory.create(partner=partner)
    assert error_of(api.get(PATH.format(sweep_id=sweep.id))) == (404, "sweep_not_found")
    assert api.get(f"/v2/sweep/status/{sweep.id}").status_code == 200


def test_a_sweep_on_solana_looks_like_a_missing_one_on_v2(api: Client, partner: Partner) -> None:
    sweep = SolanaSweepFactory.create(partner=partner)
    assert error_of(api.get(f"/v2/sweep/status/{sweep.id}")) == (404, "sweep_not_found")


def test_another_partners_sweep_looks_exactly_like_a_missing_one() -> None:
    sweep = SolanaSweepFactory.create()
    _, key = ApiKey.issue(partner=PartnerFactory.create(), name="stranger", mode=Mode.TEST)
    stranger = Client(headers={"x-api-key": key, "x-request-id": "same"})
    answers = [stranger.get(PATH.format(sweep_id=sweep_id)) for sweep_id in (sweep.id, uuid4(), "nonsense")]
    assert {error_of(answer) for answer in answers} == {(404, "sweep_not_found")}
    assert len({answer.content for answer in answers}) == 1


def test_a_key_is_required_and_only_get_is_allowed(api: Client, anonymous: Client) -> None:
    path = PATH.format(sweep_id=uuid4())
    assert error_of(anonymous.get(path)) == (401, "missing_api_key")
    assert error_of(api.post(path, {}, content_type="application/json")) == (405, "method_not_allowed")


def test_there_is_no_confirm_on_v1(api: Client, partner: Partner) -> None:
    path = PATH.format(sweep_id=SolanaSweepFactory.create(partner=partner).id)
    response = api.post(f"{path}/confirm", {"txHash": random_signature()}, content_type="application/json")
    assert error_of(response) == (404, "not_found")


def test_the_number_of_queries_does_not_grow_with_executions(
    api: Client, partner: Partner, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    sweep = SolanaSweepFactory.create(partner=partner)
    for position in range(1, 6):
        execution = SolanaExecutionFactory.create(sweep=sweep, position=position)
        SweepTransactionFactory.create(sweep=sweep, execution=execution, tx_hash=random_signature())
    with django_assert_max_num_queries(10):
        api.get(PATH.format(sweep_id=sweep.id))
