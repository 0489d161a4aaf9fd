"""POST /v2/sweep/build: the sweep is tried on the chain as it is, before the user has approved or signed anything."""

from collections.abc import Callable
from typing import Any

import pytest

from dev.chain.sender import calldata
from sweepapi.evm.contracts.v5 import decode_executed
from sweepapi.evm.encoding import responses
from tests.fake_node import FakeNode, without_simulation
from tests.hostile_tokens import Condition, Harm
from tests.local_chain import LocalChain
from tests.partner_app import PartnerApp, details_of, error_of
from tests.wallets import executions_of, gas_used

pytestmark = pytest.mark.django_db


def simulation_of(built: dict[str, Any]) -> dict[str, Any]:
    simulated: dict[str, Any] = built["issues"]["simulation"]
    return simulated


def executed_gross(chain: LocalChain, tx_hash: str) -> int:
    logs = responses.logs(chain.rpc("eth_getTransactionReceipt", tx_hash)["logs"])
    (event,) = [event for log in logs if (event := decode_executed(log)) is not None]
    return event.gross_output


# --- what goes through ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("units", "output"),
    [
        ({"USDC": 3}, "WETH"),
        ({"USDC": 3, "DAI": 2, "WBTC": 0.001}, "WETH"),
        ({"GUSD": 2, "WBTC": 0.001, "LINK": 3, "WETH": 1}, "USDC"),
        ({"DAI": 2, "WETH": 1}, "ETH"),
        ({"TFEE": 5, "USDC": 3}, "WETH"),
        ({"TFEE": 500, "GUSD": 300, "LINK": 20}, "USDC"),  # the router swaps in the pool of the last hop
    ],
)
def test_a_user_without_approvals_learns_the_exact_output_and_gas(
    app: PartnerApp, units: dict[str, float], output: str
) -> None:
    built = app.build(units, output=output)
    simulated = simulation_of(built)
    assert (simulated["status"], simulated["method"], simulated["reason"]) == ("ok", "eth_simulateV1", None)
    since = app.chain.web3.eth.block_number
    tx_hash = app.execute(built)
    assert simulated["grossOutput"] == str(executed_gross(app.chain, tx_hash)) == built["estimatedOutput"]["gross"]
    used = gas_used(app.chain, app.user, since=since)
    assert abs(int(executions_of(built)["permit2"]["gas"]) - used) <= used // 100


def test_nothing_remains_of_a_simulation(app: PartnerApp) -> None:
    before = app.chain.rpc("eth_blockNumber")
    app.build()
    assert app.chain.rpc("eth_blockNumber") == before
    assert [issue["actual"] for issue in app.build()["issues"]["allowance"]] == ["0"]


def test_a_wallet_that_cannot_pay_for_gas_is_simulated_without_a_price(app: PartnerApp) -> None:
    app.chain.give_coins(app.user.address, 0)
    assert simulation_of(app.build())["status"] == "ok"


def test_a_wallet_that_holds_too_little_is_not_simulated(app: PartnerApp) -> None:
    balance = app.chain.balance(app.user.address, app.chain.token("USDC"))
    tokens = [{"mint": app.chain.token("USDC").address, "amount": str(balance + 1)}]
    simulated = simulation_of(app.build(tokens=tokens))
    assert (simulated["status"], simulated["method"]) == ("skipped", None)
    assert simulated["reason"] == "The wallet holds less of a token than the sweep takes."


def test_it_takes_four_round_trips(app: PartnerApp, node: FakeNode) -> None:
    app.build({"USDC": 3, "DAI": 2, "GUSD": 2, "WBTC": 0.001}, output="WETH")
    assert len(node.asked) <= 1 + 4  # with the proof of the chain


# --- what does not ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("condition", list(Condition)[1:5])
@pytest.mark.parametrize("others", [{}, {"USDC": 3}], ids=["alone", "beside another"])
def test_a_honeypot_that_hides_from_probes_is_refused(
    app: PartnerApp, trap: Callable[..., str], condition: Condition, others: dict[str, float]
) -> None:
    trap(condition)
    response = app.post_build(app.body({**others, "UNI": 1}))
    assert error_of(response) == (422, "tokens_refused")
    ((field, code),) = details_of(response)
    assert field == f"tokens[{len(others)}].mint"
    # Probes have no gas price and other code, but anvil gives them a base fee.
    assert code == ("transfer_refused" if condition is Condition.BLOCK_HAS_A_BASE_FEE else "simulation_failed")


@pytest.mark.parametrize("others", [{}, {"USDC": 3}], ids=["alone", "beside another"])
def test_a_wallet_that_can_pay_for_its_sweep_is_simulated_with_a_price_of_gas(
    app: PartnerApp, trap: Callable[..., str], others: dict[str, float]
) -> None:
    trap(Condition.GAS_HAS_A_PRICE)
    # A quarter of what the limits that are tried need together.
    app.chain.give_coins(app.user.address, 3_000_000 * int(app.chain.rpc("eth_gasPrice"), 16))
    response = app.post_build(app.body({**others, "UNI": 1}))
    assert error_of(response) == (422, "tokens_refused")
    assert details_of(response) == {(f"tokens[{len(others)}].mint", "simulation_failed")}


def test_if_a_joined_token_is_left_out_the_others_get_its_part_of_the_price(
    app: PartnerApp, trap: Callable[..., str]
) -> None:
    trap(Condition.CONTRACT_CALLS)
    built = app.build({"GUSD": 2, "UNI": 1, "LINK": 3}, output="USDC", onUnroutable="skip")
    assert [token["route"]["kind"] for token in built["tokens"]] == ["joined", "joined"]
    tx_hash = app.execute(built)
    gross = executed_gross(app.chain, tx_hash)
    assert str(gross) == simulation_of(built)["grossOutput"] == built["estimatedOutput"]["gross"]


@pytest.mark.parametrize("harm", list(Harm)[:4])
def test_a_token_that_breaks_the_sweep_is_left_out_if_the_partner_wants_that(
    app: PartnerApp, trap: Callable[..., str], harm: Harm
) -> None:
    token = trap(Condition.CONTRACT_CALLS, harm)
    built = app.build({"USDC": 3, "UNI": 1, "DAI": 2}, onUnroutable="skip")
    assert [one["mint"] for one in built["skippedTokens"]] == [token]
    assert built["skippedTokens"][0]["reason"] in ("simulation_failed", "transfer_refused", "transfer_fee")
    assert [one["symbol"] for one in built["tokens"]] == ["USDC", "DAI"]
    simulated = simulation_of(built)
    assert simulated["status"] == "ok"
    tx_hash = app.execute(built)
    assert executed_gross(app.chain, tx_hash) == int(simulated["grossOutput"])


def test_a_router_leg_that_fails_only_beside_the_others_is_left_out(app: PartnerApp) -> None:
    units = {"TFEE": 20e6, "GUSD": 20e6}  # the router swaps the first in the pool of the other's last hop
    for symbol, amount in units.items():
        token = app.chain.token(symbol)
        mint = calldata("mint(address,uint256)", app.user.address, token.units(amount)).hex()
        app.chain.send(app.user, {"to": token.address, "data": f"0x{mint}"})
    body = app.body(units, output="USDC", slippageBps=50)
    assert simulation_of(app.build(**body))["status"] == "reverted"
    built = app.build(**body, onUnroutable="skip")
    ((left_out, reason),) = [(one["mint"], one["reason"]) for one in built["skippedTokens"]]
    assert (left_out, reason) == (app.chain.token("TFEE").address, "simulation_failed")
    assert simulation_of(built)["status"] == "ok"
    assert app.chain.receipt(app.execute(built))["status"] == 1


def test_the_gas_that_a_token_burns_is_bounded(app: PartnerApp, trap: Callable[..., str], node: FakeNode) -> None:
    trap(Condition.CONTRACT_CALLS, Harm.BURN_ALL_GAS)
    app.build({"USDC": 3, "UNI": 1}, onUnroutable="skip")
    assert len(node.asked) <= 1 + 5


def test_if_no_token_is_left_the_build_is_refused(app: PartnerApp, trap: Callable[..., str]) -> None:
    trap(Condition.GAS_HAS_A_PRICE)
    response = app.post_build(app.body({"UNI": 1}, onUnroutable="skip"))
    assert error_of(response) == (422, "tokens_refused")


def test_if_no_token_is_left_the_refusal_has_the_reason_of_each(app: PartnerApp, trap: Callable[..., str]) -> None:
    body = app.body({"UNI": 1}, onUnroutable="skip")
    body["tokens"].append({"mint": app.chain.users[3].address, "amount": "1"})
    trap(Condition.CONTRACT_CALLS)
    response = app.post_build(body)
    assert error_of(response) == (422, "tokens_refused")
    assert details_of(response) == {("tokens[0].mint", "simulation_failed"), ("tokens[1].mint", "not_a_token")}


def test_a_token_that_fails_alone_is_refused_although_the_whole_could_not_be_tried(
    app: PartnerApp, trap: Callable[..., str], node: FakeNode
) -> None:
    def only_single_tokens(method: str, params: list[Any], result: Any) -> Any:
        if method == "eth_simulateV1" and len(params[0]["blockStateCalls"][0]["calls"]) > 2:  # approval and sweep
            return None
        return without_simulation(method, params, result) if method == "eth_call" else result

    trap(Condition.CONTRACT_CALLS)
    node.alter = only_single_tokens
    response = app.post_build(app.body({"USDC": 3, "UNI": 1}))
    assert error_of(response) == (422, "tokens_refused")
    assert details_of(response) == {("tokens[1].mint", "simulation_failed")}


def test_tokens_that_the_wallet_does_not_hold_are_left_out(app: PartnerApp) -> None:
    balance = app.chain.balance(app.user.address, app.chain.token("DAI"))
    tokens = [
        {"mint": app.chain.token("USDC").address, "amount": "3000000"},
        {"mint": app.chain.token("DAI").address, "amount": str(balance + 1)},
    ]
    built = app.build(tokens=tokens, onUnroutable="skip")
    assert [(one["mint"], one["reason"]) for one in built["skippedTokens"]] == [
        (app.chain.token("DAI").address, "insufficient_balance")
    ]
    assert simulation_of(built)["status"] == "ok"


@pytest.mark.parametrize("amount", [1, 1_000])
def test_a_token_that_is_worth_less_than_its_gas_is_left_out_or_refused(app: PartnerApp, amount: int) -> None:
    usdc, dai = app.chain.token("USDC"), app.chain.token("DAI")
    tokens = [{"mint": dai.address, "amount": str(dai.units(5))}, {"mint": usdc.address, "amount": str(amount)}]
    response = app.post_build(app.body(tokens=tokens))
    assert error_of(response) == (422, "tokens_refused")
    assert details_of(response) == {("tokens[1].mint", "uneconomic")}
    (left_out,) = app.build(tokens=tokens, onUnroutable="skip")["skippedTokens"]
    assert (left_out["mint"], left_out["reason"]) == (usdc.address, "uneconomic")
    assert int(left_out["expectedOutput"]) > 0
    assert int(left_out["gas"]) > 50_000


def test_a_token_whose_minimum_rounds_to_zero_is_left_out_whatever_gas_costs(app: PartnerApp, node: FakeNode) -> None:
    node.lacks = ["eth_feeHistory", "eth_maxPriorityFeePerGas", "eth_gasPrice"]
    node.alter = lambda method, _params, result: (
        {name: value for name, value in result.items() if name != "baseFeePerGas"}
        if method == "eth_getBlockByNumber"
        else result
    )
    link, dai = app.chain.token("LINK"), app.chain.token("DAI")
    tokens = [{"mint": link.address, "amount": str(link.units(5))}, {"mint": dai.address, "amount": str(15 * 10**11)}]
    built = app.build(tokens=tokens, outputMint=app.chain.token("USDC").address, onUnroutable="skip")
    (left_out,) = built["skippedTokens"]
    assert (left_out["mint"], left_out["reason"]) == (dai.address, "output_too_small")
    assert left_out["message"] == "The minimum output of this amount rounds to zero."
