"""Whole sweeps on a real chain: build, approve, sign, send, confirm, and balances and books equal to the event."""

from collections.abc import Callable
from typing import Any

import pytest

from partners.models import Partner
from sweepapi import networks
from sweepapi.evm import batch
from sweepapi.evm.chains import Chain
from tests.factories.partners import FeeShareFactory
from tests.local_chain import PERMIT2, LocalChain
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


def sweep_and_compare(app: PartnerApp, partner: Partner, built: dict[str, Any], output: str) -> dict[str, int]:
    """Send and confirm a built sweep; compare balances and books with the event, and return its amounts."""
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

    actual = {name: int(amount) for name, amount in state["feeAuthorization"]["actualFees"].items()}
    moved = [after - held for after, held in zip(holdings(chain, output, holders), before, strict=True)]
    moved[0] += gas_paid(chain, tx_hash) if output == "ETH" else 0
    fees = [actual["partnerFee"], actual["protocolFee"]] if is_paid_on_chain else [0, actual["totalFee"]]
    assert moved == [actual["userAmount"], *fees]
    assert actual["userAmount"] >= int(built["estimatedOutput"]["minUser"])
    spent = [
        held - chain.balance_of(app.user.address, mint) for (mint, _), held in zip(inputs, tokens_before, strict=True)
    ]
    assert spent == [amount for _, amount in inputs]
    booked = {entry["account"]: int(entry["amount"]) for entry in state["ledger"]["entries"]}
    assert booked == {
        "fees_charged": actual["totalFee"],
        "partner_settled" if is_paid_on_chain else "partner_payable": actual["partnerFee"],
        "protocol_revenue": actual["protocolFee"],
    }
    assert int(state["transaction"]["gasUsed"]) <= int(built["transaction"]["gas"])
    return actual


def test_five_tokens_of_five_decimals_become_the_wrapped_coin(app: PartnerApp, partner: Partner) -> None:
    built = app.build(FIVE)
    assert sorted({token["decimals"] for token in built["tokens"]}) == [2, 6, 8, 18]
    actual = sweep_and_compare(app, partner, built, "WETH")
    assert actual["grossOutput"] == int(built["estimatedOutput"]["gross"]), "no trades in between"


def test_tokens_and_the_wrapped_coin_become_the_native_coin(app: PartnerApp, partner: Partner) -> None:
    actual = sweep_and_compare(app, partner, app.build({**FIVE, "WETH": 0.5}, output="ETH"), "ETH")
    assert actual["grossOutput"] > 5 * 10**17


def test_the_wrapped_coin_alone_becomes_the_native_coin(app: PartnerApp, partner: Partner) -> None:
    actual = sweep_and_compare(app, partner, app.build({"WETH": 2}, output="ETH"), "ETH")
    assert actual["grossOutput"] == 2 * 10**18


def test_tokens_become_another_token_through_two_pools(app: PartnerApp, partner: Partner) -> None:
    built = app.build({"WBTC": 0.001, "LINK": 1, "USDT": 3}, output="UNI")
    assert {len(token["route"]["path"]) for token in built["tokens"]} == {3}
    sweep_and_compare(app, partner, built, "UNI")


def test_tokens_that_are_not_vetted_go_through_approvals(
    app: PartnerApp, partner: Partner, change_chain: Callable[..., Chain]
) -> None:
    change_chain(vetted_tokens=frozenset())
    built = app.build(FIVE)
    assert {leg[3] for leg in built["transactionTemplate"]["args"][0]} == {str(batch.FUNDING_APPROVED)}
    sweep_and_compare(app, partner, built, "WETH")


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
    assert app.confirm(first, app.chain.sign_and_send(app.user, first))["status"] == "completed"


def test_nothing_is_left_on_the_contract_or_the_router(app: PartnerApp) -> None:
    built = app.build({**FIVE, "WETH": 0.5}, output="ETH")
    app.confirm(built, app.execute(built))
    for holder in (built["contractAddress"], app.chain.contracts["swapRouter02"], PERMIT2):
        assert app.chain.coin(holder) == 0
        assert [app.chain.balance(holder, app.chain.token(symbol)) for symbol in [*FIVE, "WETH"]] == [0] * 6
