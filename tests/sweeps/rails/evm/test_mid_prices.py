"""On the local chain, the price impact of a build is what its sweep then loses against the price of before."""

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest

from sweepapi.errors import TokensRefused
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.fee_models.op_stack import OpStackFees
from sweepapi.evm.trial.legs import leg_gas
from sweepapi.evm.worth.valuing import TokenEconomics
from sweepapi.evm.worth.ways import NEW_APPROVAL
from sweepapi.worth.losses import loss_bps
from sweeps.models import Sweep
from sweeps.rails.evm.build.stages import SignedTerms
from tests.fee_oracles import put_op_oracle
from tests.local_chain import LocalChain, Token
from tests.many_tokens import open_market
from tests.partner_app import PartnerApp, details_of, error_of
from tests.sweeps.rails.evm.planner import Planner
from tests.thin_pools import open_thin_pool

pytestmark = pytest.mark.django_db

SLOT0, RESERVES = "0x3850c7bd", "0x0902f1ac"
GET_POOL, GET_PAIR = "1698ee82", "e6a43905"
MINT = "40c10f19"
DOLLAR = 10**6


def words(chain: LocalChain, to: str, data: str) -> list[int]:
    answer = chain.rpc("eth_call", {"to": to, "data": data}, "latest")[2:]
    return [int(answer[start : start + 64], 16) for start in range(0, len(answer), 64)]


def mid_price(chain: LocalChain, sold: Token, bought: Token, fee: int | None) -> Fraction:
    """Return what the only pool of these tokens shows, read without the code under test."""
    of_pair = "".join(token.address[2:].lower().zfill(64) for token in (sold, bought))
    if fee is None:
        (pool,) = words(chain, chain.contracts["uniswapV2Factory"], f"0x{GET_PAIR}{of_pair}")
        first, second, _ = words(chain, f"0x{pool:040x}", RESERVES)
        price = Fraction(second, first)
    else:
        (pool,) = words(chain, chain.contracts["uniswapV3Factory"], f"0x{GET_POOL}{of_pair}{fee:064x}")
        price = Fraction(words(chain, f"0x{pool:040x}", SLOT0)[0], 2**96) ** 2
    return price if int(sold.address, 16) < int(bought.address, 16) else 1 / price


def mint(chain: LocalChain, token: Token, holder: str, whole: float) -> None:
    data = f"0x{MINT}{holder[2:].zfill(64)}{token.units(whole):064x}"
    assert chain.receipt(chain.send(chain.users[0], {"to": token.address, "data": data}))["status"] == 1


def economics(planner: Planner, units: dict[str, float], *, output: str = "USDC") -> dict[str, TokenEconomics]:
    """Return the economics of a plan by symbol."""
    return {token.symbol: token.economics for token in planner.sweep(units, output=output).tokens}


def shown_warnings(built: dict[str, Any]) -> list[tuple[str, str]]:
    return [(warning["code"], warning["token"]) for warning in built["warnings"]]


# --- measured against what is executed --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sold", "path", "fees"),
    [
        ("DAI", ["USDC"], [100]),
        ("GUSD", ["WETH"], [None]),
        ("DAI", ["WETH"], [None]),
        ("DAI", ["WETH", "GUSD"], [None, None]),
    ],
)
@pytest.mark.parametrize("whole", [3, 20_000_000])
def test_the_impact_is_what_the_executed_swap_loses(
    app: PartnerApp, sold: str, path: list[str], fees: list[int | None], whole: int
) -> None:
    tokens = [app.chain.token(symbol) for symbol in (sold, *path)]
    mint(app.chain, tokens[0], app.user.address, whole)
    mid = Fraction(1)
    for (token_in, token_out), fee in zip(pairwise(tokens), fees, strict=True):
        mid *= mid_price(app.chain, token_in, token_out, fee)
    built = app.build({sold: whole}, output=path[-1])
    executed = app.confirm(built, app.execute(built))["feeAuthorization"]["actualFees"]
    lost = loss_bps(ideal=tokens[0].units(whole) * mid, actual=int(executed["grossOutput"]))
    (token,) = built["tokens"]
    assert token["priceImpactBps"] == token["route"]["priceImpactBps"] == lost > 0


@pytest.mark.parametrize("kind", ["uniswap_v2", "uniswap_v3"])
@pytest.mark.parametrize(("decimals", "whole_in_pool"), [(0, 10**6), (2, 10**9), (18, 10**6), (30, 1_000)])
def test_decimals_make_no_difference(planner: Planner, kind: str, decimals: int, whole_in_pool: int) -> None:
    """Selling 1 % of what a pool has, less its fee of 0.3 %: 0.997 / 1.00997 is 1.284 % less than one."""
    (token,) = open_market(planner.chain, 1, kind=kind, decimals=decimals, pool_side=whole_in_pool * 10**decimals)
    planner.listed[token.symbol] = token
    for output in ("WETH", "ETH"):
        one = economics(planner, {token.symbol: whole_in_pool / 100}, output=output)[token.symbol]
        assert one.price_impact_bps == 129


def test_a_fee_on_transfer_is_a_tax_and_not_an_impact(planner: Planner) -> None:
    one = economics(planner, {"TFEE": 5.0}, output="WETH")["TFEE"]
    assert (one.transfer_tax_bps, one.price_impact_bps) == (199, 31), "1 % twice; the pool's fee of 0.3 %, rounded up"


def test_the_wrapped_coin_is_unwrapped_without_an_impact(planner: Planner) -> None:
    one = economics(planner, {"WETH": 0.5}, output="ETH")["WETH"]
    assert (one.price_impact_bps, one.transfer_tax_bps) == (0, 0)


# --- decoys -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("price", [0.1, 1.5])
def test_a_narrow_pool_at_a_false_price_does_not_move_the_impact(planner: Planner, price: float) -> None:
    """Its virtual reserve of USDC is larger than that of the real pool, but it holds a hundredth of that."""
    chain = planner.chain
    dai, usdc, owner = chain.token("DAI"), chain.token("USDC"), chain.users[-1].address
    sweep = {"DAI": 30_000_000.0}
    before = economics(planner, sweep)["DAI"].price_impact_bps
    assert before is not None
    assert before > 200
    for token in (dai, usdc):
        mint(chain, token, owner, 10**8)
    open_thin_pool(chain, (dai, 10**7 / price), (usdc, 10**7), fee=500)
    assert economics(planner, sweep)["DAI"].price_impact_bps == before


@pytest.mark.parametrize("output", ["DAI", "WETH"])
def test_a_decoy_with_the_wrapped_coin_does_not_move_values(planner: Planner, output: str) -> None:
    """It prices the coin at a hundredth, and holds an eightieth of the coins that the real pool holds."""
    other = planner.token("USDC" if output == "WETH" else output)
    value = economics(planner, {"LINK": 3.0}, output=output)["LINK"].value
    mint(planner.chain, other, planner.chain.users[-1].address, 10**6)
    open_thin_pool(planner.chain, (planner.token("WETH"), 5_000), (other, 5_000 * 25), fee=100)
    assert economics(planner, {"LINK": 3.0}, output=output)["LINK"].value == value


# --- values -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("output", ["USDC", "WETH", "ETH", "GUSD", "DAI"])
def test_values_are_in_the_reference_token(planner: Planner, output: str) -> None:
    planned = planner.sweep({"LINK": 100.0}, output=output)
    total = planned.economics
    assert total.reference is not None
    assert (total.reference.symbol, total.reference.decimals) == ("USDC", 6)
    assert planned.tokens[0].economics.value == total.value == pytest.approx(1_500 * DOLLAR, rel=0.02)
    if output == "USDC":
        assert total.value == planned.tokens[0].expected_output


def test_the_reference_token_itself_can_be_swept(planner: Planner) -> None:
    assert economics(planner, {"USDC": 100.0}, output="LINK")["USDC"].value == pytest.approx(100 * DOLLAR, rel=0.02)


def test_a_reference_that_is_not_a_token_leaves_values_unknown(
    planner: Planner, change_chain: Callable[..., Chain]
) -> None:
    change_chain(reference_token=planner.chain.users[3].address)
    total = planner.sweep({"LINK": 1.0}, output="WETH").economics
    assert (total.reference, total.value) == (None, None)
    assert total.net_output is not None


@pytest.mark.parametrize(("output", "unit"), [("WETH", 10**18), ("ETH", 10**18), ("USDC", 2_500 * DOLLAR)])
def test_a_sweep_costs_its_gas_at_the_current_price(planner: Planner, output: str, unit: int) -> None:
    planned = planner.sweep({"LINK": 1.0, "UNI": 1.0}, output=output)
    total = planned.economics
    assert planned.gas_price is not None
    way = planned.ways[0]
    assert (total.execution, total.gas, total.gas_price) == ("transactions", way.gas, planned.gas_price.wei)
    assert (total.data_fee, total.cost) == (0, way.gas * planned.gas_price.wei)
    assert total.gas_share is not None
    assert total.gas_share == pytest.approx(total.gas * planned.gas_price.wei * unit / 10**18, rel=0.02)
    assert total.net_output == planned.expected.user_amount - total.gas_share
    for token in planned.tokens:
        cost = (leg_gas(token.swap) + NEW_APPROVAL) * planned.gas_price.wei * unit / 10**18
        assert token.economics.gas_share == pytest.approx(cost, rel=0.02)


def test_a_plan_estimates_what_the_data_costs_and_the_part_of_each_token(
    planner: Planner, change_chain: Callable[..., Chain]
) -> None:
    change_chain(fee_model=OpStackFees())
    put_op_oracle(planner.chain, wei_per_unit=1)
    fees = []
    for units in ({"LINK": 1.0}, {"LINK": 1.0, "UNI": 1.0}):
        planned = planner.sweep(units, output="WETH")
        total, data_fee = planned.economics, planned.rates.data_fee
        assert planned.gas_price is not None
        assert data_fee is not None
        assert total.data_fee == data_fee.with_bytes(350 * len(units) - 250).fixed
        assert total.gas_share == total.gas * planned.gas_price.wei + total.data_fee
        for token in planned.tokens:
            gas = leg_gas(token.swap) + NEW_APPROVAL
            of_token = data_fee.of_token(gas, more_bytes=350)  # with its approval
            assert token.economics.gas_share == gas * planned.gas_price.wei + of_token > data_fee.per_token
        fees.append(data_fee)
    assert fees[1] == fees[0].with_more(1)


def test_an_oracle_that_does_not_answer_leaves_costs_unknown(
    planner: Planner, change_chain: Callable[..., Chain]
) -> None:
    change_chain(fee_model=OpStackFees())
    total = planner.sweep({"LINK": 1.0}, output="WETH").economics
    assert (total.data_fee, total.gas_share, total.net_output) == (None, None, None)
    assert total.value is not None


# --- warnings and refusals -------------------------------------------------------------------------------------------


def test_a_build_that_would_sell_far_below_the_price_is_refused(app: PartnerApp) -> None:
    response = app.post_build(app.body({"LINK": 2, "DAI": 10**9}, output="USDC"))
    assert error_of(response) == (422, "tokens_refused")
    assert details_of(response) == {("tokens[1].mint", "price_impact_too_high")}
    assert not Sweep.objects.exists()


def test_what_the_request_accepts_is_built_with_a_warning(app: PartnerApp) -> None:
    body = app.body({"LINK": 2, "DAI": 10**9}, output="USDC")
    refused = app.post_build(body).json()["error"]["details"][0]["message"]
    built = app.post_build(body | {"acceptPriceImpactBps": 5_002}).json()["data"]
    dai, usdc = app.chain.token("DAI").address, app.chain.token("USDC").address
    impact = built["tokens"][1]["priceImpactBps"]
    assert (impact, refused) == (5_001, "The price impact is 5001 basis points.")
    assert shown_warnings(built) == [("price_impact_high", dai), ("price_impact_high", usdc)]
    assert [built["tokens"][1]["valueWarning"], built["economics"]["valueWarning"]] == ["price_impact_high"] * 2


def test_a_token_that_costs_more_gas_than_it_brings_is_refused_or_left_out(app: PartnerApp) -> None:
    body = app.body({"LINK": 100, "DAI": 0.000_1}, output="USDC")
    refused = app.post_build(body)
    assert error_of(refused) == (422, "tokens_refused")
    assert details_of(refused) == {("tokens[1].mint", "uneconomic")}
    unswappable = {"mint": app.chain.token("UNI").address, "amount": str(2**200)}
    both = app.post_build(body | {"tokens": [*body["tokens"], unswappable]})
    details = both.json()["error"]["details"]
    assert [(one["code"], one["value"]) for one in details] == [("uneconomic", "99"), ("no_route", None)]
    built = app.post_build(body | {"onUnroutable": "skip"}).json()["data"]
    (skipped,) = built["skippedTokens"]
    assert (skipped["mint"], skipped["reason"]) == (app.chain.token("DAI").address, "uneconomic")
    assert skipped["value"] == details[0]["value"]
    share, loss = map(int, re.findall(r"\d+", details[0]["message"]))
    accepted = app.post_build(body | {"acceptUneconomic": True}).json()["data"]["tokens"][1]
    assert share - loss == int(accepted["gasShare"]) + int(accepted["netOutput"])  # what the user receives for it


def test_a_token_that_loses_much_of_its_worth_to_its_gas_is_warned_of(app: PartnerApp) -> None:
    built = app.build({"LINK": 100, "DAI": 1}, output="USDC")
    assert shown_warnings(built) == [("value_loss_high", app.chain.token("DAI").address)]
    assert [token["valueWarning"] for token in built["tokens"]] == [None, "value_loss_high"]


def test_a_sweep_at_fair_prices_has_no_warnings(app: PartnerApp) -> None:
    assert shown_warnings(app.build({"LINK": 100, "DAI": 100}, output="USDC")) == []


def test_what_the_user_accepted_is_planned_and_renewed_without_asking_again(planner: Planner) -> None:
    request = planner.request({"DAI": 10**9})
    with pytest.raises(TokensRefused):
        planner.plan(request)
    planned = planner.plan(replace(request, accepted_impact_bps=5_100))
    signed = SignedTerms([token.floor for token in planned.tokens], planned.max_skipped)
    assert planner.plan(request, signed).tokens[0].economics == planned.tokens[0].economics


# --- in total, and beside the gas -------------------------------------------------------------------------------------


@pytest.mark.parametrize("output", ["USDC", "GUSD", "ETH"])
def test_the_figures_of_an_answer_add_up_after_the_simulation(app: PartnerApp, output: str) -> None:
    """The simulation moves the expected output of joined tokens and of those that a router swaps."""
    built = app.build({"LINK": 2, "UNI": 3, "TFEE": 5}, output=output)
    total, estimated, fee_bps = built["economics"], built["estimatedOutput"], built["feeSummary"]["totalFeeBps"]
    for token in built["tokens"]:
        expected, net = int(token["expectedOutput"]), int(token["netOutput"])
        assert net == expected * (10_000 - fee_bps) // 10_000 - int(token["gasShare"])
        assert int(token["netValue"]) == pytest.approx(int(token["value"]) * net / expected, abs=2)
        assert int(token["minValue"]) == pytest.approx(int(token["value"]) * int(token["minOutput"]) / expected, abs=2)
    assert sum(int(token["value"]) for token in built["tokens"]) == pytest.approx(int(total["value"]), abs=3)
    assert sum(int(token["minValue"]) for token in built["tokens"]) == pytest.approx(int(total["minValue"]), abs=3)
    assert int(total["netOutput"]) == int(estimated["user"]) - int(total["gasShare"])
    assert int(total["netValue"]) < int(total["value"]) - int(total["gasValue"])
    impacts, taxes = ([token[name] for token in built["tokens"]] for name in ("priceImpactBps", "transferTaxBps"))
    assert min(impacts) <= total["priceImpactBps"] <= max(impacts)
    assert 0 == min(taxes) < total["transferTaxBps"] < max(taxes)
