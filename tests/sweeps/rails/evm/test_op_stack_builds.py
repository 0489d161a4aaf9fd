"""POST /v2/sweep/build on a rollup of the OP stack: what it charges for data is that of the bytes that are sent."""

from collections.abc import Callable
from typing import Any

import pytest
from eth_abi.abi import encode

from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.fee_models.op_stack import ORACLE, OpStackFees
from sweepapi.evm.encoding.abi import Function
from tests.fake_node import FakeNode, without_simulation
from tests.fee_oracles import put_op_oracle, units_of
from tests.hostile_tokens import Condition, Harm
from tests.local_chain import LocalChain
from tests.partner_app import PartnerApp
from tests.sweeps.rails.evm.planner import Planner
from tests.sweeps.test_discover_endpoint import discovered
from tests.wallets import completed, executions_of

pytestmark = pytest.mark.django_db

EXECUTE = Function("execute(bytes32,bytes)")
# Of a signed transaction in addition to its calldata: the signature, the fees, the recipient and lengths.
ENVELOPE_UNITS = 115 * 16
AUTHORIZATION_UNITS = 92 * 16  # an account without code gets some with the batch (EIP-7702)


@pytest.fixture(autouse=True)
def op_stack(chain: LocalChain, change_chain: Callable[..., Chain]) -> None:
    """Data costs a wei for every unit of gas that it would take on the chain below."""
    change_chain(fee_model=OpStackFees())
    put_op_oracle(chain, wei_per_unit=1)


def units(data: str) -> int:
    return units_of(bytes.fromhex(data[2:])) + ENVELOPE_UNITS


def batched(execution: dict[str, Any]) -> str:
    calls = [(call["to"], 0, bytes.fromhex(call["data"][2:])) for call in execution["calls"]["calls"]]
    return f"0x{EXECUTE.encode(bytes(32), encode(['(address,uint256,bytes)[]'], [calls])).hex()}"


@pytest.mark.parametrize("atomic", ["ready", "unsupported"])
def test_discover_charges_the_basket_for_the_bytes_that_its_build_sends(app: PartnerApp, atomic: str) -> None:
    execution = {"wallet": {"atomic": atomic}}
    basket = discovered(app, execution=execution)["bestBasket"]
    economics = app.build(tokens=basket["tokens"], output="WETH", execution=execution)["economics"]
    assert basket["economics"]["execution"] == economics["execution"]
    # Floors, which discover does not show, may have another byte that is zero.
    assert int(basket["economics"]["dataFee"]) == pytest.approx(int(economics["dataFee"]), rel=0.001)


def test_every_way_has_the_fee_of_what_is_sent(app: PartnerApp) -> None:
    built = app.build({"USDC": 2, "UNI": 3}, output="WETH")
    ways = executions_of(built)
    assert ways.keys() == {"calls", "transactions", "permits", "permit2"}
    signed, with_permits = (units(completed(app.user, ways[kind])) for kind in ("permit2", "permits"))
    as_caller = units(ways["transactions"]["transaction"]["data"])
    approvals = sum(units(approval["data"]) for approval in ways["permit2"]["approvals"])
    for fee, expected in (
        (built["transaction"]["dataFee"], signed),
        (ways["permit2"]["transaction"]["dataFee"], signed),
        (ways["permits"]["transaction"]["dataFee"], with_permits),
        (ways["transactions"]["transaction"]["dataFee"], as_caller),
        (ways["permits"]["dataFee"], with_permits),
        (ways["permit2"]["dataFee"], signed + approvals),
        (ways["transactions"]["dataFee"], as_caller + approvals),
        (ways["calls"]["dataFee"], units(batched(ways["calls"])) + AUTHORIZATION_UNITS),
        (built["economics"]["dataFee"], next(int(way["dataFee"]) for way in ways.values())),
    ):
        assert int(fee) == pytest.approx(expected, rel=0.015)


def test_v4_has_the_fee_of_what_is_sent(app: PartnerApp, use_mode: Callable[[str], object]) -> None:
    use_mode("v4_fallback")
    built = app.build({"USDC": 2, "UNI": 3}, output="WETH")
    sent = units(completed(app.user, executions_of(built)["permit2"]))
    assert int(built["transaction"]["dataFee"]) == pytest.approx(sent, rel=0.01)


@pytest.mark.parametrize("output", ["WETH", "USDC"])
def test_a_plan_estimates_it_before_the_bytes_are_known(app: PartnerApp, planner: Planner, output: str) -> None:
    sold = {"DAI": 3.0, "UNI": 2.0, "LINK": 2.0, "WBTC": 0.01, "USDT": 4.0, "GUSD": 5.0}
    for count in (1, 2, 6):
        some = dict(list(sold.items())[:count])
        planned = planner.sweep(some, output=output)
        built = executions_of(app.build(some, output=output))
        for way in planned.ways:
            exact = int(built[way.kind]["dataFee"])
            # The local oracle does not compress, so it charges in full for the addresses that a batch repeats.
            within = 0.3 if way.is_batch else 0.1
            assert planned.data_fee_of(way) == pytest.approx(exact, rel=within), way.kind


def test_the_operators_fee_is_part_of_it(app: PartnerApp, chain: LocalChain) -> None:
    before = app.build({"USDC": 2}, output="WETH")["economics"]
    put_op_oracle(chain, wei_per_unit=1, operator_scalar=10**9, operator_constant=5)
    built = app.build({"USDC": 2}, output="WETH")
    total, transactions = built["economics"], executions_of(built)["transactions"]["transactions"]
    operator = 5 * transactions + 1_000 * int(total["gas"])
    assert (total["execution"], transactions) == ("transactions", 2)
    assert int(total["dataFee"]) == pytest.approx(int(before["dataFee"]) + operator, rel=1e-6)
    paid = int(total["gas"]) * int(total["gasPrice"]) + int(total["dataFee"])
    assert int(total["netOutput"]) == pytest.approx(int(built["estimatedOutput"]["user"]) - paid, abs=1)


def test_it_takes_no_further_round_trip(app: PartnerApp, node: FakeNode) -> None:
    app.build({"USDC": 3, "DAI": 2, "GUSD": 2, "WBTC": 0.001}, output="WETH")
    assert len(node.asked) <= 1 + 4  # with the proof of the chain


@pytest.mark.parametrize("lacks", [[], ["eth_simulateV1"]], ids=["simulating", "calling"])
def test_neither_does_a_sweep_that_leaves_a_token_out(
    app: PartnerApp, node: FakeNode, trap: Callable[..., str], lacks: list[str]
) -> None:
    trap(Condition.CONTRACT_CALLS, Harm.REFUSE)
    node.lacks = lacks
    app.build({"USDC": 3})  # learns whether the node simulates
    node.asked.clear()
    built = app.build({"USDC": 3, "UNI": 1}, onUnroutable="skip")
    assert len(node.asked) <= 5
    sent = units(completed(app.user, executions_of(built)["permit2"]))
    assert int(built["transaction"]["dataFee"]) == pytest.approx(sent, rel=0.01)


def test_the_fee_is_read_where_nothing_is_simulated(app: PartnerApp, node: FakeNode) -> None:
    node.alter = without_simulation
    built = app.build({"USDC": 3})
    assert built["issues"]["simulation"]["status"] == "skipped"
    assert int(built["transaction"]["dataFee"]) > 10_000
    balance = app.chain.balance(app.user.address, app.chain.token("USDC"))
    tokens = [{"mint": app.chain.token("USDC").address, "amount": str(balance + 1)}]
    assert int(app.build(tokens=tokens)["transaction"]["dataFee"]) > 10_000


def test_a_fee_that_could_not_be_read_is_null_and_warned_of(app: PartnerApp, chain: LocalChain) -> None:
    assert "data_cost_unknown" not in [warning["code"] for warning in app.build()["warnings"]]
    chain.put_code(ORACLE, "5f195f5260205ff3")  # returns the highest number
    built = app.build()
    assert [warning["code"] for warning in built["warnings"]] == ["data_cost_unknown"]
    economics, transaction = built["economics"], built["transaction"]
    assert [economics[name] for name in ("dataFee", "gasShare", "netOutput", "netValue")] == [None] * 4
    assert transaction["dataFee"] is None
    assert {execution["dataFee"] for execution in built["executions"]} == {None}
    assert int(economics["value"]) > 0
    assert built["issues"]["simulation"]["status"] == "ok"
