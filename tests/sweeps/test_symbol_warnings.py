"""A requested symbol that differs from the token's own gives a warning and refuses nothing."""

from typing import Any

import pytest

from tests.partner_app import PartnerApp

pytestmark = pytest.mark.django_db


def warnings_for(app: PartnerApp, **symbols: str) -> list[dict[str, Any]]:
    """Build a sweep of USDC and DAI with these hints, by the real symbol, and return its warnings."""
    body = app.body({"USDC": 3, "DAI": 3})
    for symbol, token in zip(("USDC", "DAI"), body["tokens"], strict=True):
        if symbol in symbols:
            token["symbol"] = symbols[symbol]
    response = app.post_build(body)
    assert response.status_code == 201, response.content
    warnings: list[dict[str, Any]] = response.json()["data"]["warnings"]
    return warnings


@pytest.mark.parametrize("symbol", ["usdc", "$USDC", "USDC.e", "U" * 64])
def test_a_symbol_that_differs_gives_a_warning_with_the_real_one(app: PartnerApp, symbol: str) -> None:
    usdc = app.chain.token("USDC").address
    assert warnings_for(app, USDC=symbol, DAI="DAI") == [
        {"code": "symbol_differs", "message": "The token's symbol is 'USDC'.", "token": usdc}
    ]


def test_the_right_symbol_or_none_gives_no_warning(app: PartnerApp) -> None:
    assert warnings_for(app, USDC="USDC") == []


def test_every_token_gets_its_own_warning(app: PartnerApp) -> None:
    tokens = [warning["token"] for warning in warnings_for(app, USDC="usdc", DAI="dai")]
    assert tokens == [app.chain.token(symbol).address for symbol in ("USDC", "DAI")]
