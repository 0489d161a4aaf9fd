"""Moves the prices of the local chain against the users of a test."""

from dev.chain.sender import calldata
from tests.partner_app import PartnerApp


def crash_price(app: PartnerApp, symbol: str, *, output: str = "WETH") -> None:
    """Have another user sell ten million of a token."""
    token, whale = app.chain.token(symbol), app.chain.users[1]
    mint = calldata("mint(address,uint256)", whale.address, token.units(10**7))
    app.chain.send(whale, {"to": token.address, "data": f"0x{mint.hex()}"})
    sale = app.build({symbol: 10**7}, wallet=whale.address, output=output, slippageBps=5000)
    assert app.chain.receipt(app.execute(sale, user=whale))["status"] == 1
