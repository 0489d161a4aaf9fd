"""POST /v2/sweep/build where no provider has ``eth_simulateV1``: one ``eth_call`` tries the sweep instead."""

from collections.abc import Callable
from typing import Any

import pytest

from sweepapi.evm.contracts.v4 import decode_executed as decode_executed_v4
from sweepapi.evm.contracts.v5 import decode_executed
from sweepapi.evm.encoding import responses
from tests.fake_node import FakeNode, without_simulation
from tests.hostile_tokens import Condition, Harm
from tests.partner_app import PartnerApp, details_of, error_of
from tests.wallets import executions_of, gas_used

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def node(node: FakeNode) -> FakeNode:
    """The only provider, which does not know the method."""
    node.lacks = ["eth_simulateV1"]
    return node


@pytest.fixture
def gas_limits(node: FakeNode) -> list[int]:
    """The gas limits of the calls that the node was sent."""
    seen: list[int] = []

    def note(method: str, params: list[Any], result: Any) -> Any:
        if method == "eth_call":
            seen.append(int(params[0].get("gas", "0x0"), 16))
        return result

    node.alter = note
    return seen


def simulation_of(built: dict[str, Any]) -> dict[str, Any]:
    simulated: dict[str, Any] = built["issues"]["simulation"]
    return simulated


def executed_gross(app: PartnerApp, tx_hash: str) -> int:
    logs = responses.logs(app.chain.rpc("eth_getTransactionReceipt", tx_hash)["logs"])
    (event,) = [event for log in logs if (event := decode_executed(log) or decode_executed_v4(log)) is not None]
    return event.gross_output


@pytest.mark.parametrize(
    ("units", "output"),
    [
        ({"USDC": 3}, "WETH"),
        ({"GUSD": 2, "WBTC": 0.001, "LINK": 3, "WETH": 1}, "USDC"),
        ({"DAI": 2, "WETH": 1}, "ETH"),
        ({"TFEE": 500, "GUSD": 300, "LINK": 20}, "USDC"),
    ],
)
def test_the_output_is_exact_and_the_gas_within_1_percent(
    app: PartnerApp, each_mode: str, units: dict[str, float], output: str
) -> None:
    assert each_mode
    built = app.build(units, output=output)
    simulated = simulation_of(built)
    assert (simulated["status"], simulated["method"], simulated["reason"]) == ("ok", "eth_call", None)
    since = app.chain.web3.eth.block_number
    tx_hash = app.execute(built)
    assert simulated["grossOutput"] == str(executed_gross(app, tx_hash)) == built["estimatedOutput"]["gross"]
    used = gas_used(app.chain, app.user, since=since)
    assert abs(int(executions_of(built)["permit2"]["gas"]) - used) <= used // 100


def test_a_wallet_that_cannot_pay_for_gas_is_simulated_without_a_price(app: PartnerApp) -> None:
    app.chain.give_coins(app.user.address, 0)
    assert simulation_of(app.build())["status"] == "ok"


def test_a_wallet_that_can_pay_for_its_sweep_is_simulated_with_a_price_of_gas(
    app: PartnerApp, trap: Callable[..., str]
) -> None:
    trap(Condition.GAS_HAS_A_PRICE)
    app.chain.give_coins(app.user.address, 3_000_000 * int(app.chain.rpc("eth_gasPrice"), 16))
    response = app.post_build(app.body({"USDC": 3, "UNI": 1}))
    assert error_of(response) == (422, "tokens_refused")
    assert details_of(response) == {("tokens[1].mint", "simulation_failed")}


def test_only_the_first_build_takes_a_further_round_trip(app: PartnerApp, node: FakeNode) -> None:
    units = {"USDC": 3, "DAI": 2, "GUSD": 2, "WBTC": 0.001}
    app.build(units)
    first = len(node.asked)
    assert first <= 1 + 5  # with the proof of the chain
    app.build(units)
    assert len(node.asked) - first <= 4


def test_a_provider_that_learned_the_method_is_noticed_by_the_next_build(app: PartnerApp, node: FakeNode) -> None:
    app.build()
    node.lacks = ()
    assert [simulation_of(app.build())["method"] for _ in range(2)] == ["eth_call", "eth_simulateV1"]


@pytest.mark.parametrize("condition", [Condition.GAS_HAS_A_PRICE, Condition.CONTRACT_CALLS])
@pytest.mark.parametrize("others", [{}, {"USDC": 3}], ids=["alone", "beside another"])
def test_a_token_that_makes_the_sweep_fail_is_named_and_refused(
    app: PartnerApp, trap: Callable[..., str], condition: Condition, others: dict[str, float]
) -> None:
    trap(condition)
    response = app.post_build(app.body({**others, "UNI": 1}))
    assert error_of(response) == (422, "tokens_refused")
    assert details_of(response) == {(f"tokens[{len(others)}].mint", "simulation_failed")}


def test_a_token_that_harms_only_accounts_without_code_is_not_found_out(
    app: PartnerApp, trap: Callable[..., str]
) -> None:
    trap(Condition.SENDER_HAS_NO_CODE)
    simulated = simulation_of(app.build({"UNI": 1}))
    assert (simulated["status"], simulated["method"]) == ("ok", "eth_call")


@pytest.mark.parametrize("harm", list(Harm))
def test_a_token_that_breaks_the_sweep_is_left_out_if_the_partner_wants_that(
    app: PartnerApp, trap: Callable[..., str], harm: Harm
) -> None:
    token = trap(Condition.CONTRACT_CALLS, harm)
    built = app.build({"USDC": 3, "UNI": 1, "DAI": 2}, onUnroutable="skip")
    assert [one["mint"] for one in built["skippedTokens"]] == [token]
    simulated = simulation_of(built)
    assert (simulated["status"], simulated["method"]) == ("ok", "eth_call")
    assert executed_gross(app, app.execute(built)) == int(simulated["grossOutput"])


def test_no_request_may_burn_more_gas_than_nodes_allow(
    app: PartnerApp, trap: Callable[..., str], gas_limits: list[int]
) -> None:
    trap(Condition.CONTRACT_CALLS, Harm.BURN_ALL_GAS)
    app.build({"USDC": 3, "UNI": 1, "DAI": 2}, onUnroutable="skip")
    assert max(gas_limits) <= 25_000_000


def test_a_provider_that_can_do_neither_is_named_as_the_reason(app: PartnerApp, node: FakeNode) -> None:
    node.alter = without_simulation
    built = app.build()
    simulated = simulation_of(built)
    assert (simulated["status"], simulated["method"], simulated["gasUsed"]) == ("skipped", None, None)
    assert simulated["reason"] == (
        "The chain's provider neither simulates transactions nor makes calls with other code for the wallet."
    )
    app.approve(built)
    assert app.chain.receipt(app.chain.sign_and_send(app.user, built))["status"] == 1
