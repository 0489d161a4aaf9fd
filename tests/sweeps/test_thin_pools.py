"""POST /v2/sweep/build: no route uses a pool that can't swap the whole amount, however good its price."""

import pytest

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


def test_the_last_pool_of_a_route_leaves_nothing_of_the_first_hop_on_the_router(app: PartnerApp) -> None:
    weth = app.chain.token("WETH")
    open_thin_pool(app.chain, (weth, 0.05), (app.chain.token("UNI"), 5000), fee=FEE)
    built = app.build({"LINK": 100}, output="UNI")
    app.execute(built)
    assert app.chain.balance(app.chain.contracts["swapRouter02"], weth) == 0
    assert FEE not in built["tokens"][0]["route"]["feeTiers"]
    assert fee_tiers(app, 1, "UNI") == [3000, FEE]
