"""POST /v2/sweep/build: no route uses a pool that can't swap the whole amount, however good its price."""

import pytest

from dev.chain.sender import calldata
from sweepapi.evm.contracts.batch import SKIPPED_TOPIC
from tests.local_chain import Token
from tests.partner_app import PartnerApp
from tests.thin_pools import open_thin_pool

pytestmark = pytest.mark.django_db

FEE = 500


def fee_tiers(app: PartnerApp, whole: float, output: str) -> list[int]:
    (token,) = app.build({"LINK": whole}, output=output)["tokens"]
    tiers: list[int] = token["route"]["feeTiers"]
    return tiers


def test_a_pool_with_a_better_price_is_taken_only_while_it_swaps_the_whole_amount(app: PartnerApp) -> None:
    open_thin_pool(app.chain, (app.chain.token("LINK"), 1), (app.chain.token("WETH"), 1), fee=FEE)
    assert fee_tiers(app, 0.5, "WETH") == [FEE]
    assert FEE not in fee_tiers(app, 5, "WETH")


def test_a_last_hop_with_a_better_price_is_taken_only_while_it_swaps_the_whole_sum(app: PartnerApp) -> None:
    weth = app.chain.token("WETH")
    open_thin_pool(app.chain, (weth, 0.05), (app.chain.token("UNI"), 5000), fee=FEE)
    assert fee_tiers(app, 1, "UNI")[-1] == FEE
    built = app.build({"LINK": 100}, output="UNI")
    assert built["lastHop"]["feeTier"] != FEE
    app.execute(built)
    assert app.chain.balance(app.chain.contracts["v5"], weth) == 0


@pytest.mark.parametrize("limit_percent", [0, 90], ids=["to the end of all prices", "just past its liquidity"])
def test_a_pool_that_is_emptied_after_the_build_is_left_out_with_the_gas_of_the_build(
    app: PartnerApp, limit_percent: int
) -> None:
    link = app.chain.token("LINK")
    open_thin_pool(app.chain, (link, 1), (app.chain.token("WETH"), 1), fee=FEE)
    built = app.build({"LINK": 0.5, "DAI": 3}, output="WETH", onLegFailure="skip")
    assert built["tokens"][0]["route"]["feeTiers"] == [FEE]
    app.approve(built)
    empty_pool(app, link, built["tokens"][0]["route"]["target"], limit_percent)
    receipt = app.chain.receipt(app.chain.sign_and_send(app.user, built))
    assert receipt["status"] == 1
    assert [log["topics"][0].to_0x_hex() for log in receipt["logs"]].count(SKIPPED_TOPIC) == 1


def empty_pool(app: PartnerApp, token: Token, pool: str, limit_percent: int) -> None:
    """Sell more of the token into a V3 pool than it can take, up to this percentage of its square root price."""
    trader, weth, router = app.chain.users[-1], app.chain.token("WETH"), app.chain.contracts["swapRouter02"]
    falls = int(token.address, 16) < int(weth.address, 16)
    price = int(app.chain.rpc("eth_call", {"to": pool, "data": "0x3850c7bd"}, "latest")[:66], 16)
    limit = (price * limit_percent // 100 if falls else price * 100 // limit_percent) if limit_percent else 0
    swap = (token.address, weth.address, FEE, trader.address, token.units(5), 0, limit)
    for to, data in (
        (token.address, calldata("approve(address,uint256)", router, token.units(5))),
        (router, calldata("exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))", swap)),
    ):
        assert app.chain.receipt(app.chain.send(trader, {"to": to, "data": f"0x{data.hex()}"}))["status"] == 1
