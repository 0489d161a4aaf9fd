"""A requested symbol that is not the token's own gives a warning and refuses nothing."""

import pytest

from tests.partner_app import PartnerApp

pytestmark = pytest.mark.django_db


def warnings_of(app: PartnerApp, **symbols: str) -> list[tuple[str, str]]:
    """Build a sweep of these tokens, requested under these symbols, and return code and token of each warning."""
    body = app.body(dict.fromkeys(symbols, 1.0))
    for token, symbol in zip(body["tokens"], symbols.values(), strict=True):
        token["symbol"] = symbol
    response = app.post_build(body)
    assert response.status_code == 201, response.content
    return [(warning["code"], warning["token"]) for warning in response.json()["data"]["warnings"]]


@pytest.mark.parametrize("symbol", ["usdc", "$USDC", "USDC.e"])
def test_a_symbol_that_differs_is_a_warning_about_its_token(app: PartnerApp, symbol: str) -> None:
    assert warnings_of(app, USDC=symbol, DAI="DAI") == [("symbol_differs", app.chain.token("USDC").address)]


def test_every_symbol_that_differs_is_a_warning(app: PartnerApp) -> None:
    tokens = [app.chain.token(symbol).address for symbol in ("USDC", "DAI")]
    assert warnings_of(app, USDC="usdc", DAI="dai") == [("symbol_differs", token) for token in tokens]


def test_the_right_symbol_is_not_a_warning(app: PartnerApp) -> None:
    assert warnings_of(app, USDC="USDC") == []


def test_the_warning_names_the_real_symbol(app: PartnerApp) -> None:
    body = app.body()
    body["tokens"][0]["symbol"] = "usdc"
    (warning,) = app.post_build(body).json()["data"]["warnings"]
    assert "'USDC'" in warning["message"]
