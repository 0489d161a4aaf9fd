"""POST /v2/sweep/quote: what a build would answer, without anything that is reserved, signed or stored."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client

from sweepapi.evm.signers.local import LocalFeeSigner
from sweeps.rails.evm.serializers.answer import ISSUED_FIELDS, QUOTED_EXECUTION_FIELDS
from tests.openapi import assert_documented
from tests.partner_app import PartnerApp, details_of, error_of
from tests.stored_builds import stored_rows

pytestmark = pytest.mark.django_db

QUOTE = "/v2/sweep/quote"
WRITES = ("INSERT", "UPDATE", "DELETE")
LAST_USED = 'UPDATE "partners_apikey" '  # by the authentication of any request


def post_quote(app: PartnerApp, body: dict[str, Any]) -> Any:
    return app.api.post(QUOTE, body, content_type="application/json")


def quoted(app: PartnerApp, *arguments: Any, **changes: Any) -> dict[str, Any]:
    """Quote a sweep and return the response's data."""
    response = post_quote(app, app.body(*arguments, **changes))
    assert response.status_code == 200, response.content
    data: dict[str, Any] = response.json()["data"]
    return data


@pytest.mark.parametrize("changes", [{}, {"onLegFailure": "skip", "maxSkipped": 1, "slippageBps": 30}], ids=str)
@pytest.mark.parametrize("output", ["UNI", "ETH"])
def test_it_answers_what_a_build_answers_apart_from_what_is_issued(
    app: PartnerApp, each_mode: str, output: str, changes: dict[str, Any]
) -> None:
    quote = quoted(app, {"USDC": 3, "LINK": 1, "TFEE": 2}, output=output, **changes)
    built = app.build({"USDC": 3, "LINK": 1, "TFEE": 2}, output=output, **changes)
    costs = [{name: one[name] for name in QUOTED_EXECUTION_FIELDS} for one in built["executions"]]
    kept = {name: value for name, value in built.items() if name not in ISSUED_FIELDS}
    assert quote == kept | {"executions": costs}
    assert quote["mode"] == each_mode
    assert set(ISSUED_FIELDS) <= built.keys()


def test_it_shows_the_options_of_the_user_with_prompts_costs_and_approvals(app: PartnerApp, each_mode: str) -> None:
    assert each_mode
    executions = quoted(app, {"USDC": 3, "UNI": 1}, execution={"wallet": {"atomic": "ready"}})["executions"]
    calls, plain, permits, permit2 = executions
    assert [(one["kind"], one["prompts"], one["transactions"]) for one in executions] == [
        ("calls", 1, 1),
        ("transactions", 3, 3),
        ("permits", 4, 1),
        ("permit2", 4, 3),
    ]
    for one in (permit2, plain):
        assert [call["to"] for call in one["approvals"]] == [app.chain.token(it).address for it in ("USDC", "UNI")]
    assert int(calls["gas"]) < int(plain["gas"]) < int(permits["gas"])
    assert all("transaction" not in one and "typedData" not in one for one in executions)


def test_a_wallet_that_makes_no_batches_is_quoted_without_them(app: PartnerApp) -> None:
    quote = quoted(app, {"USDC": 3}, execution={"wallet": {"atomic": "unsupported"}})
    assert "calls" not in [one["kind"] for one in quote["executions"]]


def test_nothing_is_reserved_stored_or_signed(app: PartnerApp, each_mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert each_mode
    first = app.build()
    before, signed, written = stored_rows(), [], []
    monkeypatch.setattr(LocalFeeSigner, "sign", lambda _signer, data: signed.append(data))

    def watch(execute: Any, sql: str, *arguments: Any) -> Any:
        if sql.startswith(WRITES) and not sql.startswith(LAST_USED):
            written.append(sql)
        return execute(sql, *arguments)

    with connection.execute_wrapper(watch):
        quoted(app)
    assert (signed, written, stored_rows()) == ([], [], before)
    monkeypatch.undo()
    following = app.build()
    nonces = [int(built["permit2"]["message"]["nonce"]) for built in (first, following)]
    assert nonces[1] == nonces[0] + 1


def test_it_takes_the_round_trips_of_a_build(app: PartnerApp, round_trips: list[list[str]]) -> None:
    app.build()  # the first request of a process also reads the chain's id
    round_trips.clear()
    app.build()
    of_a_build = list(round_trips)
    round_trips.clear()
    quoted(app)
    assert round_trips == of_a_build


def test_the_answer_has_the_documented_shape(app: PartnerApp) -> None:
    assert_documented(post_quote(app, app.body({"USDC": 3, "TFEE": 1})), path=QUOTE)


def test_what_a_build_refuses_is_refused(app: PartnerApp) -> None:
    assert details_of(post_quote(app, app.body(slipageBps=1))) == {("slipageBps", "unknown_field")}
    assert error_of(post_quote(app, app.body(partnerId="x"))) == (400, "forbidden_field")
    assert error_of(post_quote(app, app.body(chain="nowhere"))) == (400, "unsupported_chain")
    body = app.body({"WETH": 1}, output="USDC")
    body["tokens"][0]["amount"] = "1"
    refused = post_quote(app, body)
    assert error_of(refused) == (422, "tokens_refused")
    assert_documented(refused, path=QUOTE)


@pytest.mark.usefixtures("no_providers")
def test_without_a_provider_it_can_be_retried(app: PartnerApp) -> None:
    response = post_quote(app, app.body())
    assert error_of(response) == (503, "chain_unavailable")
    assert response.headers["Retry-After"] == "5"


def test_it_needs_a_key(app: PartnerApp, anonymous: Client) -> None:
    response = anonymous.post(QUOTE, app.body(), content_type="application/json")
    assert error_of(response) == (401, "missing_api_key")


def test_v1_has_no_quotes(app: PartnerApp) -> None:
    response = app.api.post("/v1/sweep/quote", app.body(), content_type="application/json")
    assert error_of(response) == (404, "not_found")


def test_the_idempotency_key_of_a_build_has_no_effect(app: PartnerApp) -> None:
    keyed = {"Idempotency-Key": "once"}
    bodies = [app.body(), app.body(slippageBps=50)]
    answers = [app.api.post(QUOTE, body, content_type="application/json", headers=keyed) for body in bodies]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].content != answers[1].content
