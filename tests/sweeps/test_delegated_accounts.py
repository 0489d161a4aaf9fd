"""A delegated account is offered signatures if its code takes what its key signs, and last if that is not known."""

from typing import Any

import pytest

from tests.fake_node import FakeNode
from tests.openapi import assert_documented
from tests.partner_app import PartnerApp
from tests.replaced_precompile import replacing_ecrecover
from tests.wallets import delegate, deployed, executions_of, send

pytestmark = pytest.mark.django_db

WITHOUT_SIGNATURES = ["transactions", "calls"]


def built_for(app: PartnerApp, contract: str, **changes: Any) -> dict[str, Any]:
    """Build a sweep for an account that delegates to this contract."""
    delegate(app.chain, app.user, deployed(app.chain, contract))
    response = app.post_build(app.body({"USDC": 3, "UNI": 4}, **changes))
    assert_documented(response, path="/v2/sweep/build")
    data: dict[str, Any] = response.json()["data"]
    return data


def warned(built: dict[str, Any]) -> set[str]:
    return {warning["code"] for warning in built["warnings"]} & {"no_signatures", "signature_uncertain"}


@pytest.mark.parametrize("method", ["eth_call", "eth_simulateV1"])
def test_code_that_takes_plain_signatures_is_offered_every_way(app: PartnerApp, node: FakeNode, method: str) -> None:
    node.alter = replacing_ecrecover(app.chain, by=method)
    built = built_for(app, "SigningBatchAccount")
    assert built["issues"]["wallet"]["takesPlainSignature"] is True
    # The wallet did not say that it takes batches.
    assert (list(executions_of(built)), warned(built)) == (["transactions", "permits", "permit2", "calls"], set())
    assert app.confirm(built, send(app.chain, app.user, executions_of(built)["permit2"]))["status"] == "completed"


@pytest.mark.parametrize("contract", ["RehashingBatchAccount", "NestingBatchAccount"])
def test_code_that_hashes_digests_again_is_offered_no_signatures(
    app: PartnerApp, node: FakeNode, contract: str
) -> None:
    node.alter = replacing_ecrecover(app.chain, by="eth_call")
    built = built_for(app, contract)
    wallet = built["issues"]["wallet"]
    assert (wallet["answersEip1271"], wallet["takesPlainSignature"]) == (True, False)
    assert (list(executions_of(built)), warned(built)) == (WITHOUT_SIGNATURES, {"no_signatures"})


def test_code_that_nests_typed_data_says_so_to_any_node(app: PartnerApp) -> None:
    built = built_for(app, "NestingBatchAccount")
    assert built["issues"]["wallet"]["takesPlainSignature"] is False
    assert (list(executions_of(built)), warned(built)) == (WITHOUT_SIGNATURES, {"no_signatures"})


@pytest.mark.parametrize("contract", ["SigningBatchAccount", "RehashingBatchAccount"])
def test_where_it_can_not_be_shown_signatures_come_last_with_a_warning(app: PartnerApp, contract: str) -> None:
    built = built_for(app, contract)
    assert built["issues"]["wallet"]["takesPlainSignature"] is None
    ways = [*WITHOUT_SIGNATURES, "permits", "permit2"]
    assert (list(executions_of(built)), warned(built)) == (ways, {"signature_uncertain"})


def test_a_key_without_code_and_a_contract_are_asked_nothing_of_it(app: PartnerApp) -> None:
    wallet = deployed(app.chain, "SigningBatchAccount")
    for built in (app.build(), app.build(wallet=wallet)):
        assert built["issues"]["wallet"]["takesPlainSignature"] is None
        assert ("permit2" in executions_of(built), warned(built)) == (True, set())


def test_it_takes_no_further_round_trip(app: PartnerApp, round_trips: list[list[str]]) -> None:
    app.build({"USDC": 3, "UNI": 4})
    of_a_key = [len(trip) for trip in round_trips]
    round_trips.clear()
    built_for(app, "SigningBatchAccount")
    assert len(round_trips) == len(of_a_key)
    assert len(round_trips[1]) == of_a_key[1] + 4, (
        "whether it checks signatures and makes batches, and two ways to ask which it takes"
    )


@pytest.mark.parametrize("path", ["quote", "build"])
def test_quotes_and_builds_say_the_same(app: PartnerApp, path: str) -> None:
    delegate(app.chain, app.user, deployed(app.chain, "NestingBatchAccount"))
    response = app.api.post(f"/v2/sweep/{path}", app.body(), content_type="application/json")
    assert [execution["kind"] for execution in response.json()["data"]["executions"]] == WITHOUT_SIGNATURES
