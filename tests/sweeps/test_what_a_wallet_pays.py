"""What the service says about money is true for this wallet: no sale that costs more than it brings is recommended."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from eth_account import Account
from eth_account.signers.local import LocalAccount

from sweepapi.evm.encoding.abi import Function
from sweeps.models import Sweep
from tests.fake_node import FakeNode, without_simulation
from tests.local_chain import PERMIT2
from tests.openapi import assert_documented
from tests.partner_app import PartnerApp, details_of, error_of
from tests.sweeps.test_discover_endpoint import discovered
from tests.wallets import executions_of, gas_used, send

pytestmark = pytest.mark.django_db

FOUR = {"USDC": 0.32, "USDT": 0.32, "DAI": 0.32, "GUSD": 0.32}
GWEI, LOW = 10**9, 10
TRANSFER = Function("transfer(address,uint256)")
READY, SPONSORED = {"wallet": {"atomic": "ready"}}, {"wallet": {"gas": "sponsored"}}


@pytest.fixture
def poor(app: PartnerApp) -> LocalAccount:
    """A new user with 0.32 dollars each of four stablecoins, who has approved nothing."""
    return new_user(app, FOUR)


def new_user(app: PartnerApp, units: dict[str, float]) -> LocalAccount:
    """Return a user who holds coins and so much of these tokens."""
    user: LocalAccount = Account.create()
    app.chain.give_coins(user.address)
    for symbol, whole in units.items():
        token = app.chain.token(symbol)
        data = "0x" + TRANSFER.encode(user.address, token.units(whole)).hex()
        assert app.chain.receipt(app.chain.send(app.user, {"to": token.address, "data": data}))["status"] == 1
    return user


@pytest.fixture(autouse=True)
def set_gas_price(app: PartnerApp) -> Iterator[Callable[[int], None]]:
    """Set the base fee in wei, to which a tip of a gwei is added; it is almost nothing at first."""

    def change(wei: int) -> None:
        app.chain.rpc("anvil_setNextBlockBaseFeePerGas", hex(wei))
        app.chain.rpc("evm_mine")

    change(LOW)
    yield change
    change(LOW)


# --- the wallet of four small balances --------------------------------------------------------------------------------


def test_discover_does_not_recommend_a_sale_that_loses_money(
    app: PartnerApp, set_gas_price: Callable[[int], None], poor: LocalAccount
) -> None:
    set_gas_price(GWEI)
    found = discovered(app, wallet=poor.address, candidates=[app.chain.token(symbol).address for symbol in FOUR])
    assert (found["bestBasket"]["tokens"], found["bestBasket"]["economics"]) == ([], None)
    for token in found["tokens"]:
        assert (token["verdict"], token["excludedBecause"]) in (
            ("sellable", "basket_uneconomic"),
            ("uneconomic", None),
        )


@pytest.mark.parametrize(("left_bps", "is_recommended"), [(25, False), (100, True)])
def test_a_basket_that_leaves_less_than_estimates_may_be_off_by_is_not_recommended(
    app: PartnerApp,
    set_gas_price: Callable[[int], None],
    left_bps: int,
    is_recommended: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """What is left is a part of output and cost together, which are about twice the output here.

    The base fee falls by an eighth after a block that is empty.
    """
    request = {"wallet": new_user(app, {"USDC": 20}).address, "execution": READY}
    economics = discovered(app, **request)["bestBasket"]["economics"]
    break_even = (int(economics["netOutput"]) + int(economics["gasShare"])) // int(economics["gas"])
    set_gas_price((break_even * (10_000 - 2 * left_bps) // 10_000 - GWEI) * 8 // 7)
    assert bool(discovered(app, **request)["bestBasket"]["tokens"]) == is_recommended


def test_a_build_of_it_is_refused(app: PartnerApp, poor: LocalAccount) -> None:
    """Each token pays for its own gas, but all together do not pay for the transaction."""
    body = app.body(FOUR, wallet=poor.address, execution=READY)
    assert error_of(app.post_build(body)) == (422, "uneconomic")
    assert not Sweep.objects.exists()
    economics = app.post_build(body | {"acceptUneconomic": True}).json()["data"]["economics"]
    assert int(economics["netOutput"]) < 0
    assert economics["summary"].startswith("You sell 4 tokens worth $1.2")
    assert economics["summary"].endswith(" less than the gas.")


def test_every_token_that_does_not_pay_for_itself_is_named(
    app: PartnerApp, set_gas_price: Callable[[int], None], poor: LocalAccount
) -> None:
    set_gas_price(GWEI)
    response = app.post_build(app.body(FOUR, wallet=poor.address))
    assert error_of(response) == (422, "tokens_refused")
    assert details_of(response) == {(f"tokens[{i}].mint", "uneconomic") for i in range(4)}


def test_what_is_accepted_costs_what_was_said(
    app: PartnerApp, set_gas_price: Callable[[int], None], poor: LocalAccount
) -> None:
    set_gas_price(GWEI)
    built = app.build(FOUR, wallet=poor.address, acceptUneconomic=True)
    way = executions_of(built)["transactions"]
    since = app.chain.web3.eth.block_number
    before = app.chain.balance(poor.address, app.chain.token("WETH"))
    send(app.chain, poor, way)
    used = gas_used(app.chain, poor, since=since)
    assert abs(int(way["gas"]) - used) * 100 <= used
    received = app.chain.balance(poor.address, app.chain.token("WETH")) - before
    assert received == int(built["estimatedOutput"]["user"])
    assert int(way["netOutput"]) == received - int(way["gasShare"])


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_a_sweep_whose_tokens_pay_for_themselves_but_not_for_the_transaction_is_uneconomic(app: PartnerApp) -> None:
    response = app.post_build(app.body({"USDC": 0.5}, execution=READY))
    assert_documented(response, path="/v2/sweep/build")
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["retryable"]) == (422, "uneconomic", False)
    details = {detail["message"].split()[1]: detail["message"] for detail in error["details"]}
    assert details.keys() == {"calls", "transactions", "permits", "permit2"}
    assert {(detail["field"], detail["code"]) for detail in error["details"]} == {("execution", "uneconomic")}
    quoted = app.api.post("/v2/sweep/quote", app.body({"USDC": 0.5}), content_type="application/json")
    assert error_of(quoted) == (422, "uneconomic")


def test_the_refusal_names_the_gas_price_below_which_the_sweep_pays(app: PartnerApp) -> None:
    words = app.post_build(app.body({"USDC": 0.5})).json()["error"]["details"][0]["message"].split()
    break_even = int(words[words.index("below") + 1])
    accepted = app.build({"USDC": 0.5}, acceptUneconomic=True)
    brought, gas = int(accepted["estimatedOutput"]["user"]), int(accepted["executions"][0]["gas"])
    assert break_even * gas <= brought < (break_even + 1) * gas
    assert break_even < int(accepted["economics"]["gasPrice"])


def test_a_refreshed_offer_is_not_refused_for_its_gas(app: PartnerApp, set_gas_price: Callable[[int], None]) -> None:
    built = app.build({"USDC": 3})
    set_gas_price(1_000 * GWEI)
    again = app.api.post(f"/v2/sweep/build/{built['sweepId']}/refresh", content_type="application/json")
    assert again.status_code == 200, again.content
    assert int(again.json()["data"]["economics"]["netOutput"]) < 0


def test_who_accepts_a_loss_keeps_tokens_that_are_not_worth_their_gas(app: PartnerApp) -> None:
    tokens = {"USDC": 30, "DAI": 0.01}
    skipping = app.build(tokens, onUnroutable="skip")
    assert [token["reason"] for token in skipping["skippedTokens"]] == ["uneconomic"]
    kept = app.build(tokens, onUnroutable="skip", acceptUneconomic=True)
    assert (len(kept["tokens"]), kept["skippedTokens"]) == (2, [])


def test_sponsored_gas_is_left_out(app: PartnerApp) -> None:
    built = app.build({"USDC": 0.5}, execution=SPONSORED)
    economics, user = built["economics"], built["estimatedOutput"]["user"]
    assert [economics[name] for name in ("gasPrice", "cost", "gasShare", "netOutput")] == ["0", "0", "0", user]
    assert economics["summary"] == "You sell 1 token worth $0.49 and receive $0.49."
    assert [token["gasShare"] for token in built["tokens"]] == ["0"]
    found = discovered(app, execution=SPONSORED)
    assert {token["gasShare"] for token in found["tokens"] if token["verdict"] == "sellable"} == {"0"}
    again = app.api.post(f"/v2/sweep/build/{built['sweepId']}/refresh", content_type="application/json")
    assert again.json()["data"]["economics"]["cost"] == "0"


# --- coins for the gas ------------------------------------------------------------------------------------------------


def test_a_wallet_without_coins_is_told_what_each_way_needs(app: PartnerApp) -> None:
    app.chain.give_coins(app.user.address, 0)
    response = app.post_build(app.body({"USDC": 3}, execution=READY))
    assert_documented(response, path="/v2/sweep/build")
    built = response.json()["data"]
    issues = {issue["execution"]: issue for issue in built["issues"]["gas"]}
    assert issues.keys() == executions_of(built).keys()
    price = int(built["economics"]["gasPrice"])
    for kind, issue in issues.items():
        way = executions_of(built)[kind]
        assert issue["actual"] == "0"
        assert price < int(issue["maxFeePerGas"]) <= 2 * price
        assert int(issue["needed"]) <= int(way["gasLimit"]) * int(issue["maxFeePerGas"])
    single = executions_of(built)["calls"]
    assert int(issues["calls"]["needed"]) == int(single["gasLimit"]) * int(issues["calls"]["maxFeePerGas"])
    assert app.build({"USDC": 3}, execution=SPONSORED)["issues"]["gas"] == []


@pytest.mark.parametrize("kind", ["transactions", "permit2"])
def test_what_is_needed_suffices_and_less_does_not(app: PartnerApp, kind: str) -> None:
    """Wallets offer twice the base fee and the tip for each transaction, with the limit that the answer names."""
    app.chain.give_coins(app.user.address, 0)
    built = app.build({"USDC": 3, "LINK": 1})
    issue = next(one for one in built["issues"]["gas"] if one["execution"] == kind)
    way = executions_of(built)[kind]
    first, *_ = way["approvals"]
    least_first = int(first["gas"]) * int(issue["maxFeePerGas"])
    assert int(issue["needed"]) > least_first
    spent = int(way["gas"]) - int(way["transaction"]["gas"])
    assert int(issue["needed"]) > int(way["transaction"]["gas"]) * int(issue["maxFeePerGas"]) + spent


def test_a_wallet_with_enough_coins_has_no_issue(app: PartnerApp) -> None:
    assert app.build({"USDC": 3}, execution=READY)["issues"]["gas"] == []


# --- what decides -----------------------------------------------------------------------------------------------------


def test_a_way_counts_only_if_the_wallet_said_that_it_has_it(app: PartnerApp) -> None:
    unasked, said = app.build(), app.build(execution=READY)
    assert unasked["economics"]["execution"] == unasked["executions"][0]["kind"] == "transactions"
    assert unasked["executions"][-1]["kind"] == "calls"
    assert said["economics"]["execution"] == said["executions"][0]["kind"] == "calls"
    assert int(said["economics"]["gas"]) < int(unasked["economics"]["gas"])


def test_an_approval_that_is_there_makes_a_token_cheaper(app: PartnerApp) -> None:
    before = app.build({"USDC": 3, "DAI": 3})
    app.chain.approve(app.user, app.chain.token("USDC"), app.chain.token("DAI"))
    after = app.build({"USDC": 3, "DAI": 3})
    assert (before["economics"]["execution"], after["economics"]["execution"]) == ("transactions", "permit2")
    for token, earlier in zip(after["tokens"], before["tokens"], strict=True):
        assert int(token["gasShare"]) < int(earlier["gasShare"])
    found = discovered(app)
    shares = {token["symbol"]: int(token["gas"]) for token in found["tokens"] if token["gas"]}
    assert shares["USDC"] < shares["USDT"]


def test_economics_are_those_of_the_entry_that_stands_first(app: PartnerApp) -> None:
    built = app.build({"USDC": 3, "DAI": 3}, execution=READY)
    names = ("gas", "dataFee", "cost", "gasShare", "gasValue", "netOutput", "netValue")
    first = built["executions"][0]
    assert [built["economics"][name] for name in names] == [first[name] for name in names]
    for one in built["executions"]:
        assert int(one["cost"]) == int(one["gas"]) * int(built["economics"]["gasPrice"]) + int(one["dataFee"])
        assert int(one["netOutput"]) == int(built["estimatedOutput"]["user"]) - int(one["gasShare"])
        assert int(one["gasLimit"]) > int(one["gas"])


def test_what_could_not_be_tried_is_marked_as_estimated(app: PartnerApp, start_node: Any, use_providers: Any) -> None:
    assert not executions_of(app.build())["transactions"]["estimated"]
    node: FakeNode = start_node()
    use_providers(node.url)
    node.alter = without_simulation
    built = app.build()
    assert built["issues"]["simulation"]["status"] == "skipped"
    assert all(one["estimated"] for one in built["executions"])


def test_allowances_of_permit2_and_of_the_contract_are_told_apart(app: PartnerApp) -> None:
    app.chain.approve(app.user, app.chain.token("USDC"))
    executions = executions_of(app.build({"USDC": 3}))
    assert (executions["permit2"]["approvals"], len(executions["transactions"]["approvals"])) == ([], 1)
    (approval,) = executions["transactions"]["approvals"]
    assert PERMIT2[2:].lower() not in approval["data"]
    assert 46_000 < int(approval["gas"]) < 100_000
