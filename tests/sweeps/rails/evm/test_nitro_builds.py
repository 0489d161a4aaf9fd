"""POST /v2/sweep/build on a chain of Nitro: the gas limit holds what the chain takes for the data of what is sent."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from eth_abi.abi import encode
from web3.exceptions import Web3RPCError

from sweepapi.evm.chain.fee_models.nitro import NODE_INTERFACE
from tests.fake_node import FakeNode
from tests.hostile_tokens import Condition, arm, put_contract
from tests.nitro import NitroChain
from tests.partner_app import PartnerApp, details_of, error_of
from tests.sweeps.rails.evm.planner import Planner
from tests.wallets import completed, delegate, deployed, executions_of, send_calls

pytestmark = pytest.mark.django_db

RATIOS = (1, 10, 70, 1_000, 10_000)
TWO, THREE = {"USDC": 2.0, "UNI": 3.0}, {"USDC": 3.0, "DAI": 2.0, "UNI": 1.0}
PRICED = 70  # a usual ratio


@pytest.fixture
def on_nitro(charge_for_data: Callable[[int], NitroChain], api: Client) -> Callable[[int], PartnerApp]:
    """The partner's app on a chain whose units of data cost so many times the base fee."""
    return lambda ratio: PartnerApp(api, charge_for_data(ratio).local)


def receipt_of(app: PartnerApp, tx_hash: str) -> dict[str, Any]:
    receipt: dict[str, Any] = app.chain.rpc("eth_getTransactionReceipt", tx_hash)
    return receipt


def executed(app: PartnerApp, execution: dict[str, Any]) -> list[dict[str, Any]]:
    """Approve, sign and send what an execution asks for, with the gas that it says; returns the receipts."""
    transaction = execution["transaction"] | {"data": completed(app.user, execution)}
    sent = [app.chain.send(app.user, one, gas=int(one["gas"])) for one in (*execution["approvals"], transaction)]
    return [receipt_of(app, tx_hash) for tx_hash in sent]


def succeeded(receipts: list[dict[str, Any]]) -> bool:
    return {receipt["status"] for receipt in receipts} == {"0x1"}


# --- limits and costs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("kind", ["permits", "permit2", "transactions"])
@pytest.mark.parametrize("output", ["WETH", "USDT"])
def test_what_is_sent_with_the_gas_of_the_answer_is_executed_and_uses_what_the_answer_says(
    on_nitro: Callable[[int], PartnerApp], ratio: int, kind: str, output: str
) -> None:
    app = on_nitro(ratio)
    built = app.build(TWO, output=output)
    assert built["issues"]["simulation"]["status"] == "ok"
    assert "data_cost_unknown" not in [warning["code"] for warning in built["warnings"]]
    execution = executions_of(built)[kind]
    assert execution["dataFee"] == execution["transaction"]["dataFee"] == "0"
    receipts = executed(app, execution)
    assert succeeded(receipts)
    data, used = (sum(int(one[name], 16) for one in receipts) for name in ("gasUsedForL1", "gasUsed"))
    assert data > 400 * ratio
    assert int(execution["gas"]) - data == pytest.approx(used - data, rel=0.02, abs=data * 3 // 100)


def test_what_the_user_pays_is_what_the_economics_say(on_nitro: Callable[[int], PartnerApp]) -> None:
    app = on_nitro(PRICED)
    built = app.build(THREE)
    before = app.chain.coin(app.user.address)
    assert succeeded(executed(app, executions_of(built)[built["economics"]["execution"]]))
    assert int(built["economics"]["gasShare"]) == pytest.approx(before - app.chain.coin(app.user.address), rel=0.03)


def test_a_limit_without_the_part_for_the_data_does_not_suffice(
    on_nitro: Callable[[int], PartnerApp], app: PartnerApp
) -> None:
    plain = int(executions_of(app.build(TWO))["permits"]["transaction"]["gas"])
    nitro = on_nitro(PRICED)
    execution = executions_of(nitro.build(TWO))["permits"]
    transaction = execution["transaction"] | {"data": completed(nitro.user, execution)}
    assert int(transaction["gas"]) > plain + 400 * PRICED
    with pytest.raises(Web3RPCError, match="intrinsic gas too low"):
        nitro.chain.send(nitro.user, transaction, gas=plain)


def test_the_limits_hold_what_data_may_cost_until_it_is_sent(
    charge_for_data: Callable[[int], NitroChain], api: Client
) -> None:
    """Half the base fee, which is twice the gas for the same data, and a price of data that is a quarter higher."""
    chain = charge_for_data(PRICED)
    chain.node.base_fee, chain.node.data_price = 4 * chain.node.base_fee, 4 * chain.node.data_price
    app = PartnerApp(api, chain.local)
    built = app.build(TWO)
    chain.node.base_fee //= 2
    chain.node.data_price = chain.node.data_price * 5 // 4
    assert succeeded(executed(app, executions_of(built)["permit2"]))


def test_a_base_fee_at_its_minimum_is_not_expected_to_fall(
    charge_for_data: Callable[[int], NitroChain], api: Client
) -> None:
    chain = charge_for_data(PRICED)
    app = PartnerApp(api, chain.local)
    least = int(app.build(TWO)["transaction"]["gas"])
    chain.node.min_base_fee //= 4
    assert int(app.build(TWO)["transaction"]["gas"]) > least * 3 // 2


@pytest.mark.parametrize("is_upgraded", [False, True], ids=["with code", "upgraded"])
def test_a_batch_of_calls_costs_its_own_data(on_nitro: Callable[[int], PartnerApp], *, is_upgraded: bool) -> None:
    app = on_nitro(PRICED)
    account = deployed(app.chain, "BatchAccount")
    if not is_upgraded:
        delegate(app.chain, app.user, account)
    atomic = "ready" if is_upgraded else "supported"
    execution = executions_of(app.build(TWO, execution={"wallet": {"atomic": atomic}}))["calls"]
    tx_hash = send_calls(app.chain, app.user, execution, upgrade_to=account if is_upgraded else None)
    receipt = receipt_of(app, tx_hash)
    assert receipt["status"] == "0x1"
    assert int(execution["gas"]) == pytest.approx(int(receipt["gasUsed"], 16), rel=0.03)
    assert int(execution["gasLimit"]) > int(receipt["gasUsed"], 16)


# --- trials -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", RATIOS)
def test_a_node_that_does_not_simulate_measures_the_same(
    on_nitro: Callable[[int], PartnerApp],
    start_node: Callable[[], FakeNode],
    use_providers: Callable[..., object],
    ratio: int,
) -> None:
    app = on_nitro(ratio)
    simulated = app.build(THREE)
    fake = start_node()
    fake.upstream, fake.lacks = app.chain.world["rpcUrl"], ["eth_simulateV1"]
    use_providers(fake.url)
    called = app.build(THREE)
    assert called["issues"]["simulation"]["method"] == "eth_call"
    for part, name in (("transaction", "gas"), ("economics", "gas")):
        assert int(called[part][name]) == pytest.approx(int(simulated[part][name]), rel=0.03)


@pytest.mark.parametrize("condition", [Condition.GAS_HAS_A_PRICE, Condition.BLOCK_HAS_A_BASE_FEE])
@pytest.mark.parametrize("others", [{}, {"USDC": 3.0}], ids=["alone", "beside another"])
@pytest.mark.parametrize("ratio", [1, PRICED])
def test_a_token_that_refuses_at_a_price_is_found(
    on_nitro: Callable[[int], PartnerApp], condition: Condition, others: dict[str, float], ratio: int
) -> None:
    app = on_nitro(ratio)
    put_contract(app, "TrapToken")
    arm(app, condition)
    response = app.post_build(app.body({**others, "UNI": 1.0}))
    assert error_of(response) == (422, "tokens_refused")
    assert {field for field, _ in details_of(response)} == {f"tokens[{len(others)}].mint"}


@pytest.mark.parametrize("ratio", RATIOS)
def test_it_takes_no_further_round_trip(
    on_nitro: Callable[[int], PartnerApp], round_trips: list[list[str]], ratio: int
) -> None:
    app = on_nitro(ratio)
    app.build(THREE)
    assert len(round_trips) <= 4


def of_the_interface(answer: object) -> Callable[[str, list[Any], Any], Any]:
    """Return what has a node answer this about the cost of data."""

    def alter(method: str, params: list[Any], result: Any) -> Any:
        return answer if method == "eth_call" and params[0]["to"] == NODE_INTERFACE else result

    return alter


@pytest.mark.parametrize(
    "answer",
    [
        "0x",
        None,
        f"0x{'ff' * 96}",
        f"0x{encode(['uint64', 'uint256', 'uint256'], [0, 10**7, 10**9]).hex()}",
        f"0x{encode(['uint64', 'uint256', 'uint256'], [10**12, 10**7, 10**14]).hex()}",
    ],
    ids=["nothing", "null", "highest", "zero", "huge"],
)
def test_a_cost_that_makes_no_sense_is_unknown_and_the_build_says_so(
    charge_for_data: Callable[[int], NitroChain],
    start_node: Callable[[], FakeNode],
    use_providers: Callable[..., object],
    api: Client,
    answer: object,
) -> None:
    chain = charge_for_data(PRICED)
    fake = start_node()
    fake.upstream, fake.alter = chain.node.url, of_the_interface(answer)
    use_providers(fake.url)
    built = PartnerApp(api, chain.local).build(TWO)
    assert [warning["code"] for warning in built["warnings"]] == ["data_cost_unknown"]
    assert [built["economics"][name] for name in ("dataFee", "gasShare", "netOutput")] == [None] * 3
    assert {execution["dataFee"] for execution in built["executions"]} == {None}
    assert built["issues"]["simulation"]["status"] == "ok"


# --- estimates --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", [PRICED, 10_000])
def test_plans_estimate_what_the_data_costs(
    on_nitro: Callable[[int], PartnerApp], planner: Planner, ratio: int
) -> None:
    app = on_nitro(ratio)
    planned = planner.sweep(THREE, output="WETH")
    built = executions_of(app.build(THREE))
    assert planned.gas_price is not None
    for way in planned.ways:
        gas_price, data_fee = planned.gas_price.wei, planned.data_fee_of(way)
        assert data_fee is not None
        promised = way.gas + data_fee // gas_price
        assert promised == pytest.approx(int(built[way.kind]["gas"]), rel=0.2), way.kind


@pytest.mark.parametrize("ratio", RATIOS)
def test_discover_works_and_counts_the_data(on_nitro: Callable[[int], PartnerApp], app: PartnerApp, ratio: int) -> None:
    def discovered(by: PartnerApp) -> dict[str, dict[str, Any]]:
        body = {"chain": "local", "wallet": by.user.address, "outputMint": by.chain.token("WETH").address}
        response = by.api.post("/v2/sweep/discover", body, content_type="application/json")
        assert response.status_code == 200, response.content
        return {token["symbol"]: token for token in response.json()["data"]["tokens"]}

    plain = discovered(app)
    nitro = discovered(on_nitro(ratio))
    assert nitro.keys() == plain.keys()
    for symbol, token in nitro.items():
        if token["verdict"] == "sellable":
            assert token["expectedOutput"] == plain[symbol]["expectedOutput"]
            assert int(token["gasShare"]) > 400 * ratio * 10_000_000
