"""POST /v2/sweep/build: a hint that contradicts the chain is a warning for a symbol, and a refusal for decimals."""

from typing import Any

import pytest

from sweeps.models import Sweep
from tests.openapi import assert_documented
from tests.partner_app import PartnerApp, details_of, error_of

pytestmark = pytest.mark.django_db


def build_with_hints(app: PartnerApp, *hints: dict[str, Any]) -> Any:
    """Post a build of USDC and DAI with these hints, in order."""
    body = app.body({"USDC": 300, "DAI": 200})
    for token, hint in zip(body["tokens"], hints, strict=False):
        token.update(hint)
    return app.post_build(body)


def warnings_of(response: Any) -> list[dict[str, str]]:
    assert response.status_code == 201, response.content
    warnings: list[dict[str, str]] = response.json()["data"]["warnings"]
    return warnings


def test_hints_that_agree_with_the_chain_give_no_warning(app: PartnerApp) -> None:
    assert warnings_of(build_with_hints(app, {"symbol": "USDC", "decimals": 6}, {"symbol": "DAI"})) == []


def test_a_build_without_hints_has_no_warnings(app: PartnerApp) -> None:
    assert warnings_of(build_with_hints(app)) == []


@pytest.mark.parametrize("symbol", ["usdc", "$USDC", "USDC.e"])
def test_a_symbol_that_differs_is_built_with_a_warning_that_names_the_real_one(app: PartnerApp, symbol: str) -> None:
    response = build_with_hints(app, {"symbol": symbol})
    assert warnings_of(response) == [
        {
            "code": "symbol_differs",
            "message": "The token's symbol is 'USDC'.",
            "token": app.chain.token("USDC").address,
        }
    ]
    assert response.json()["data"]["tokens"][0]["symbol"] == "USDC"
    assert_documented(response, path="/v2/sweep/build")


def test_each_symbol_that_differs_gets_its_own_warning(app: PartnerApp) -> None:
    warnings = warnings_of(build_with_hints(app, {"symbol": "usdc"}, {"symbol": "dai"}))
    assert [warning["token"] for warning in warnings] == [app.chain.token(symbol).address for symbol in ("USDC", "DAI")]


def test_the_symbol_of_the_chain_is_stored(app: PartnerApp) -> None:
    build_with_hints(app, {"symbol": "usdc"})
    assert [token.symbol for token in Sweep.objects.get().tokens.all()] == ["USDC", "DAI"]


def test_decimals_that_differ_are_refused_whatever_the_symbol(app: PartnerApp) -> None:
    response = build_with_hints(app, {"symbol": "usdc", "decimals": 18})
    assert error_of(response) == (400, "invalid_request")
    assert details_of(response) == {("tokens[0].decimals", "contradicts_chain")}
