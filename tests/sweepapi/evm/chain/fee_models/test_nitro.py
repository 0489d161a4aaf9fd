"""On Nitro, the data of a transaction costs units of its gas, which nodes estimate with a padding."""

from collections.abc import Callable

import pytest
from eth_abi.abi import encode

from sweepapi.evm.chain.fee_models.costs import DataCost, UnsignedTransaction, noise
from sweepapi.evm.chain.fee_models.nitro import GAS_INFO, NODE_INTERFACE, NitroFees
from sweepapi.rpc import Call, ErrorPolicy
from sweepapi.rpc.errors import CallFailedError
from tests.fake_node import FakeNode
from tests.local_chain import LocalChain
from tests.nitro import NitroChain

TO = "0x52908400098527886E0F7030069857D2E4169EE7"
DATA = b"\x01\x02\x03\x04" + bytes(500) + noise(500, seed="calldata")
BASE_FEE = 10_000_000
MODEL = NitroFees()


def costs_of(chain: NitroChain, *data: bytes) -> list[DataCost | None]:
    reads = chain.facts.data_reads([UnsignedTransaction(TO, one) for one in data])
    return reads.costs(chain.pool.batch(reads.calls))


def cost(gas: int, base_fee: int, price: int, *, minimum: object = (1,), data: bytes = DATA) -> DataCost | None:
    """Return what these answers mean."""
    reads = MODEL.reads([UnsignedTransaction(TO, data)], chain_id=1, multicall3=TO)
    (known,) = reads.costs([minimum, (gas, base_fee, price)])
    return known


@pytest.mark.parametrize("ratio", [1, 10, 70, 1_000, 10_000])
def test_the_gas_is_what_a_transaction_is_charged_and_the_most_is_more(
    charge_for_data: Callable[[int], NitroChain], ratio: int
) -> None:
    chain = charge_for_data(ratio)
    (known,) = costs_of(chain, DATA)
    assert known is not None
    tx_hash = chain.local.send(
        chain.local.users[0], {"to": TO, "data": f"0x{DATA.hex()}"}, gas=2 * known.most_gas + 10**6
    )
    charged = int(chain.local.rpc("eth_getTransactionReceipt", tx_hash)["gasUsedForL1"], 16)
    assert known.gas == pytest.approx(charged, rel=0.02)
    assert charged * 5 / 4 < known.most_gas < charged * 3 / 2
    assert (known.wei, known.most_wei, known.fee(10**6), known.most_fee(10**6)) == (0, 0, 0, 0)


def test_the_most_is_for_half_the_base_fee_but_not_below_its_minimum() -> None:
    at_minimum, above, far_above = (
        cost(10**6, BASE_FEE, 50 * BASE_FEE, minimum=(least,)) for least in (10**7, 8 * 10**6, 1)
    )
    assert at_minimum is not None
    assert above is not None
    assert far_above is not None
    assert at_minimum.gas == above.gas == far_above.gas
    assert above.most_gas == pytest.approx(at_minimum.most_gas * 5 / 4, rel=1e-5)
    assert far_above.most_gas == pytest.approx(at_minimum.most_gas * 2, rel=1e-5)


@pytest.mark.parametrize("minimum", [CallFailedError("no"), (0,), (2**255,)])
def test_a_minimum_that_makes_no_sense_is_not_needed(minimum: object) -> None:
    assert cost(10**6, BASE_FEE, 50 * BASE_FEE, minimum=minimum) is not None


@pytest.mark.parametrize(
    ("gas", "base_fee", "price"),
    [
        (0, BASE_FEE, 50 * BASE_FEE),
        (0, 0, 0),
        (10**6, 0, 50 * BASE_FEE),
        (10**6, BASE_FEE, 0),
        (2**64 - 1, BASE_FEE, 50 * BASE_FEE),
        (10**6, 2**255, 2**255),
        (10**6, 2**255, 50 * BASE_FEE),
        (10**6, BASE_FEE, 2**255),
        (10**6, BASE_FEE, 1),  # more units than there are bytes
        (10, BASE_FEE, 50 * BASE_FEE),  # fewer than the padding
    ],
)
def test_an_answer_that_makes_no_sense_leaves_the_cost_unknown(gas: int, base_fee: int, price: int) -> None:
    assert cost(gas, base_fee, price) is None


@pytest.mark.parametrize("answer", ["0x", "0x12", f"0x{'ff' * 96}", "nonsense", None, []])
def test_a_node_that_does_not_answer_leaves_the_cost_unknown(
    chain: LocalChain,
    charge_for_data: Callable[[int], NitroChain],
    start_node: Callable[[], FakeNode],
    use_providers: Callable[..., object],
    answer: object,
) -> None:
    nitro = charge_for_data(70)
    fake = start_node()
    fake.upstream = nitro.node.url
    fake.alter = lambda method, _params, result: answer if method == "eth_call" else result
    use_providers(fake.url)
    reads = nitro.facts.data_reads([UnsignedTransaction(TO, DATA)] * 2)
    pool = use_providers(fake.url)
    assert reads.costs(pool.batch(reads.calls)) == [None, None]  # type: ignore[attr-defined]
    assert chain.rpc("eth_chainId")


def test_a_chain_of_another_kind_is_not_taken_for_nitro(
    charge_for_data: Callable[[int], NitroChain], use_providers: Callable[..., object], chain: LocalChain
) -> None:
    nitro = charge_for_data(70)
    reads = nitro.facts.data_reads([UnsignedTransaction(TO, DATA)])
    pool = use_providers(chain.world["rpcUrl"])  # without the interface, a call returns nothing
    assert reads.costs(pool.batch(reads.calls)) == [None]  # type: ignore[attr-defined]


def test_calls_are_made_in_a_block_without_a_base_fee_unless_they_try_a_transaction() -> None:
    def prepared(method: str, *params: object, as_sent: bool = False) -> tuple[object, ...]:
        return MODEL.as_read(Call(method, params, str, ErrorPolicy.NONE, as_sent=as_sent)).params

    free, overrides = {"baseFeePerGas": "0x0"}, {TO: {"code": "0x00"}}
    assert prepared("eth_call", {"to": TO}, "latest") == ({"to": TO}, "latest", {}, free)
    assert prepared("eth_call", {"to": TO}, "0x1", overrides) == ({"to": TO}, "0x1", overrides, free)
    assert prepared("eth_call", {"to": TO}, "latest", overrides, as_sent=True) == ({"to": TO}, "latest", overrides)
    assert prepared("eth_getBalance", TO, "latest") == (TO, "latest")


def test_the_interface_and_the_prices_are_at_the_addresses_of_arbitrum() -> None:
    calls = MODEL.reads([UnsignedTransaction(TO, b"\x01")], chain_id=1, multicall3=TO).calls
    assert [call.params[0]["to"] for call in calls] == [GAS_INFO, NODE_INTERFACE]
    arguments = encode(["address", "bool", "bytes"], [TO, False, b"\x01"]).hex()
    assert calls[1].params[0]["data"] == f"0x77d488a2{arguments}"
    assert calls[0].params[0]["data"] == "0xf918379a"
