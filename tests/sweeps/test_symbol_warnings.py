"""A requested symbol that is not the token's own is warned of and refuses nothing."""

import pytest
from sweeps.market import Facts
from sweeps.plan import BuildRequest, TokenWish, symbol_warnings

from sweepapi.evm.erc20 import TokenFacts
from sweepapi.evm.responses import Block
from tests.partner_app import PartnerApp

MINT, OTHER = "0x" + "11" * 20, "0x" + "22" * 20


def warned(**symbols: str | None) -> list[dict[str, str]]:
    """Return the warnings about two tokens whose symbols are USDC and DAI, requested under these."""
    request = BuildRequest(
        chain="local",
        wallet="0x" + "33" * 20,
        tokens=[TokenWish(MINT, 1, symbol=symbols.get("usdc")), TokenWish(OTHER, 1, symbol=symbols.get("dai"))],
        output_mint="0x" + "44" * 20,
        slippage_bps=100,
    )
    tokens = {MINT: TokenFacts("USDC", 6, 0, 0), OTHER: TokenFacts("DAI", 18, 0, 0)}
    return symbol_warnings(
        request, Facts(Block(1, "0x", 1), paused=False, used_permit_words={}, tokens=tokens, pools={})
    )


@pytest.mark.parametrize("symbol", ["usdc", "$USDC", "USDC.e", ""])
def test_a_symbol_that_differs_is_warned_of_with_the_real_one(symbol: str) -> None:
    assert warned(usdc=symbol, dai="DAI") == [
        {"code": "symbol_differs", "message": f"The token's symbol is 'USDC', not {symbol!r}.", "token": MINT}
    ]


def test_the_right_symbol_or_none_is_not_warned_of() -> None:
    assert warned(usdc="USDC") == []


def test_every_token_is_warned_of_by_itself() -> None:
    assert [warning["token"] for warning in warned(usdc="usdc", dai="dai")] == [MINT, OTHER]


@pytest.mark.django_db
def test_a_symbol_that_differs_refuses_nothing(app: PartnerApp) -> None:
    body = app.body()
    body["tokens"][0]["symbol"] = "usdc"
    assert app.post_build(body).status_code == 201
