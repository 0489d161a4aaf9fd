"""Whole sweeps on a real chain: build, approve, sign, send, confirm, and balances and books equal to the event."""

from typing import Any

import pytest

from partners.models import Partner
from sweepapi import networks
from sweeps.models import Sweep
from sweeps.story.build import renew_offer
from tests.factories.partners import FeeShareFactory
from tests.local_chain import PERMIT2, LocalChain
from tests.market_moves import crash_price
from tests.partner_app import PartnerApp

pytestmark = pytest.mark.django_db

FIVE = {"USDC": 3.0, "USDT": 2.5, "DAI": 3.25, "GUSD": 2.0, "WBTC": 0.001}


@pytest.fixture
def app(app: PartnerApp, each_mode: str) -> PartnerApp:
    """The partner's application, while the service builds in each of its modes."""
    assert each_mode
    return app


def holdings(chain: LocalChain, output: str, holders: tuple[str, ...]) -> list[int]:
    """Return what each holder has of the output: a token's symbol, or ``ETH``."""
    if output == "ETH":
        return [chain.coin(holder) for holder in holders]
    return [chain.balance(holder, chain.token(output)) for holder in holders]


def gas_paid(chain: LocalChain, tx_hash: str) -> int:
    receipt = chain.receipt(tx_hash)
    return receipt["gasUsed"] * receipt["effectiveGasPrice"]


def outcomes(state: dict[str, Any]) -> list[str]:
    return [token["outcome"] for token in state["tokens"]]


def amounts_of(state: dict[str, Any]) -> dict[str, int]:
    return {name: int(amount) for name, amount in state["feeAuthorization"]["actualFees"].items()}


def sweep_and_compare(app: PartnerApp, partner: Partner, built: dict[str, Any], output: str) -> dict[str, Any]:
    """Send and confirm a built sweep; compare balances and books with the event, and return the status object."""
    chain = app.chain
    protocol = networks.current().chains["local"].protocol_recipient
    assert protocol is not None
    holders = (app.user.address, Partner.objects.get(pk=partner.pk).payout_wallet, protocol)
    is_paid_on_chain = built["feeMode"] == "onchain_partner_fees"
    app.approve(built)
    inputs = [(token["mint"], int(token["amount"])) for token in built["tokens"]]
    before = holdings(chain, output, holders)
    tokens_before = [chain.balance_of(app.user.address, mint) for mint, _ in inputs]

    tx_hash = chain.sign_and_send(app.user, built)
    state = app.confirm(built, tx_hash)

    actual = amounts_of(state)
    moved = [after - held for after, held in zip(holdings(chain, output, holders), before, strict=True)]
    moved[0] += gas_paid(chain, tx_hash) if output == "ETH" else 0
    fees = [actual["partnerFee"], actual["protocolFee"]] if is_paid_on_chain else [0, actual["totalFee"]]
    assert moved == [actual["userAmount"], *fees]
    swept = [outcome == "swept" for outcome in outcomes(state)]
    floors = [int(token["floor"]) for token in built["tokens"]]
    assert actual["userAmount"] >= sum(floor for floor, ran in zip(floors, swept, strict=True) if ran)
    spent = [
        held - chain.balance_of(app.user.address, mint) for (mint, _), held in zip(inputs, tokens_before, strict=True)
    ]
    assert spent == [amount if ran else 0 for (_, amount), ran in zip(inputs, swept, strict=True)]
    booked = {entry["account"]: int(entry["amount"]) for entry in state["ledger"]["entries"]}
    assert booked == {
        "fees_charged": actual["totalFee"],
        "partner_settled" if is_paid_on_chain else "partner_payable": actual["partnerFee"],
        "protocol_revenue": actual["protocolFee"],
    }
    assert int(state["transaction"]["gasUsed"]) <= int(built["transaction"]["gas"])
    return state


def test_five_tokens_of_five_decimals_become_the_wrapped_coin(app: PartnerApp, partner: Partner) -> None:
    built = app.build(FIVE)
    assert sorted({token["decimals"] for token in built["tokens"]}) == [2, 6, 8, 18]
    actual = amounts_of(sweep_and_compare(app, partner, built, "WETH"))
    assert actual["grossOutput"] == int(built["estimatedOutput"]["gross"]), "no trades in between"


def test_tokens_and_the_wrapped_coin_become_the_native_coin(app: PartnerApp, partner: Partner) -> None:
    built = app.build({**FIVE, "WETH": 0.5}, output="ETH")
    assert amounts_of(sweep_and_compare(app, partner, built, "ETH"))["grossOutput"] > 5 * 10**17


def test_the_wrapped_coin_alone_becomes_the_native_coin(app: PartnerApp, partner: Partner) -> None:
    state = sweep_and_compare(app, partner, app.build({"WETH": 2}, output="ETH"), "ETH")
    assert amounts_of(state)["grossOutput"] == 2 * 10**18


def test_tokens_and_the_wrapped_coin_become_another_token_through_one_last_hop(
    app: PartnerApp, partner: Partner
) -> None:
    built = app.build({"WBTC": 0.001, "LINK": 1, "USDT": 3, "WETH": 0.1}, output="UNI")
    assert {token["route"]["kind"] for token in built["tokens"]} == {"joined"}
    actual = amounts_of(sweep_and_compare(app, partner, built, "UNI"))
    each_rounded_down = actual["grossOutput"] - int(built["estimatedOutput"]["gross"])
    assert 0 <= each_rounded_down < len(built["tokens"]), "quoted on the sum"


def test_a_token_that_arrives_short_goes_through_a_router_beside_the_pools(app: PartnerApp) -> None:
    built = app.build({**FIVE, "TFEE": 5})
    assert [token["route"]["kind"] for token in built["tokens"]] == ["pool"] * 5 + ["router"]
    state = app.confirm(built, app.execute(built))
    assert outcomes(state) == ["swept"] * 6
    assert amounts_of(state)["userAmount"] >= int(built["estimatedOutput"]["minUser"])


def test_a_token_whose_price_fell_stays_with_the_user(app: PartnerApp, partner: Partner) -> None:
    built = app.build({"USDC": 3, "LINK": 1, "DAI": 2}, slippageBps=50, onLegFailure="skip")
    crash_price(app, "LINK")
    state = sweep_and_compare(app, partner, built, "WETH")
    assert outcomes(state) == ["swept", "skipped", "swept"]
    assert state["tokens"][1]["skipReason"] == "below_least"
    assert (state["skippedCount"], state["flags"]) == (1, [])
    assert [event["type"] for event in state["events"]][2:4] == ["transaction_accepted", "token_skipped"]


def test_a_joined_token_whose_price_fell_stays_with_the_user(app: PartnerApp, partner: Partner) -> None:
    joined = {"WBTC": 0.001, "LINK": 1, "WETH": 0.1}
    built = app.build(joined, output="USDC", slippageBps=50, onLegFailure="skip")
    crash_price(app, "LINK")
    assert outcomes(sweep_and_compare(app, partner, built, "USDC")) == ["swept", "skipped", "swept"]


def test_an_offer_drops_a_token_whose_price_fell_under_the_same_signature(app: PartnerApp, partner: Partner) -> None:
    built = app.build({"USDC": 3, "LINK": 1, "DAI": 2}, slippageBps=50, onLegFailure="skip")
    crash_price(app, "LINK")
    renewed = renew_offer(networks.current(), Sweep.objects.get(id=built["sweepId"]), answered=dict)
    assert renewed["permit2"] == built["permit2"]
    assert [token["route"] is None for token in renewed["tokens"]] == [False, True, False]
    assert [issue["token"] for issue in renewed["issues"]["allowance"]] == [
        token["mint"] for token in renewed["tokens"] if token["route"] is not None
    ]
    state = sweep_and_compare(app, partner, renewed, "WETH")
    assert outcomes(state) == ["swept", "dropped", "swept"]
    assert (state["skippedCount"], state["flags"]) == (1, [])


def test_an_allowance_that_must_be_reset_first_is_reset_and_swept(app: PartnerApp, partner: Partner) -> None:
    usdt = app.chain.token("USDT")
    app.chain.approve(app.user, usdt, amount=5)
    built = app.build({"USDT": 3})
    assert built["issues"]["allowance"][0]["resetTransaction"] is not None
    sweep_and_compare(app, partner, built, "WETH")


@pytest.mark.parametrize("share_bps", [0, 10_000])
def test_a_recipient_without_a_share_is_neither_paid_nor_booked(
    app: PartnerApp, partner: Partner, share_bps: int
) -> None:
    FeeShareFactory.create(partner=partner, share_bps=share_bps)
    built = app.build({"USDC": 3})
    state = app.confirm(built, app.execute(built))
    booked = {entry["account"].partition("_")[0] for entry in state["ledger"]["entries"]}
    assert booked == {"fees", "protocol" if share_bps == 0 else "partner"}
    assert state["status"] == "completed"


def test_a_sweep_cannot_be_executed_twice(app: PartnerApp) -> None:
    built = app.build()
    app.confirm(built, app.execute(built))
    again = app.chain.sign_and_send(app.user, built)
    assert app.chain.receipt(again)["status"] == 0


def test_one_user_can_execute_several_sweeps_in_any_order(app: PartnerApp) -> None:
    first, second = app.build({"USDC": 3}), app.build({"USDC": 2})
    assert app.confirm(second, app.execute(second))["status"] == "completed"
    assert app.confirm(first, app.execute(first))["status"] == "completed"


def test_nothing_is_left_on_the_contract_or_the_router(app: PartnerApp) -> None:
    built = app.build({**FIVE, "WETH": 0.5}, output="ETH")
    app.confirm(built, app.execute(built))
    for holder in (built["contractAddress"], app.chain.contracts["swapRouter02"], PERMIT2):
        assert app.chain.coin(holder) == 0
        assert [app.chain.balance(holder, app.chain.token(symbol)) for symbol in [*FIVE, "WETH"]] == [0] * 6
