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


def test_a_last_hop_with_a_better_price_is_taken_only_while_it_swaps_the_whole_sum(app: PartnerApp) -> None:
    weth = app.chain.token("WETH")
    open_thin_pool(app.chain, (weth, 0.05), (app.chain.token("UNI"), 5000), fee=FEE)
    assert fee_tiers(app, 1, "UNI")[-1] == FEE
    built = app.build({"LINK": 100}, output="UNI")
    assert built["lastHop"]["feeTier"] != FEE
    app.execute(built)
    assert app.chain.balance(app.chain.contracts["v5"], weth) == 0
