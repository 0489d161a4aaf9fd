"""The node that charges for data charges as Nitro does: by the compressed bytes, out of the gas limit, for good."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from web3.exceptions import Web3RPCError

from dev.chain.nitro.charging import Prices
from dev.chain.nitro.compression import compressed_size
from dev.chain.nitro.node import NODE_INTERFACE, NitroNode, charging
from dev.processes.errors import NodeError
from sweepapi.evm.chain.fee_models.costs import noise
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.tokens.erc20 import APPROVE
from tests.local_chain import LocalChain

RATIO = 50
SPENDER = "0x52908400098527886E0F7030069857D2E4169EE7"
GAS_ESTIMATE_L1_COMPONENT = Function("gasEstimateL1Component(address,bool,bytes)", "(uint64,uint256,uint256)")
GAS_ESTIMATE_COMPONENTS = Function("gasEstimateComponents(address,bool,bytes)", "(uint64,uint64,uint256,uint256)")
DATA = noise(1_000, seed="data")


@dataclass(frozen=True)
class ChargingChain:
    """The node, and a connection to it."""

    node: NitroNode
    local: LocalChain


@pytest.fixture
def nitro(chain: LocalChain) -> Iterator[ChargingChain]:
    with charging(chain.world["rpcUrl"], ratio=RATIO) as node:
        yield ChargingChain(node, LocalChain({**chain.world, "rpcUrl": node.url}))


def approval(chain: LocalChain, amount: int) -> dict[str, Any]:
    return {"to": chain.token("DAI").address, "data": f"0x{APPROVE.encode(SPENDER, amount).hex()}"}


def receipt_of(chain: LocalChain, transaction: dict[str, Any], *, gas: int = 2_000_000) -> dict[str, Any]:
    receipt: dict[str, Any] = chain.rpc("eth_getTransactionReceipt", chain.send(chain.users[0], transaction, gas=gas))
    assert receipt["status"] == "0x1"
    return receipt


def test_bytes_are_compressed_as_arbos_does() -> None:
    assert (compressed_size(b""), compressed_size(bytes(1_000))) == (1, 20)
    assert 1_000 < compressed_size(DATA) < 1_010
    assert compressed_size(DATA * 2) < 1_150


def test_data_costs_its_price_by_the_base_fee_and_an_estimate_allows_for_more() -> None:
    assert Prices(data=30, base_fee=10, min_base_fee=1).gas(160) == 480
    assert Prices(data=30, base_fee=7, min_base_fee=1).gas(1) == 4
    assert Prices(data=30, base_fee=0, min_base_fee=1).gas(160) == 0
    assert Prices(data=30, base_fee=16, min_base_fee=1).estimated_gas(160) == 160 * 33 // 14
    assert Prices(data=30, base_fee=16, min_base_fee=15).estimated_gas(160) == 160 * 33 // 15


@pytest.mark.parametrize("amount", [5, 0])
def test_a_receipt_has_the_gas_for_the_data_in_addition_which_no_refund_covers(
    chain: LocalChain, nitro: ChargingChain, amount: int
) -> None:
    """Clearing an allowance is refunded a part of what the rest uses."""
    snapshot = chain.rpc("evm_snapshot")
    receipt_of(chain, approval(chain, 7))
    plain = receipt_of(chain, approval(chain, amount))
    chain.roll_back(snapshot)
    receipt_of(nitro.local, approval(chain, 7))
    before = nitro.local.coin(chain.users[0].address)
    receipt = receipt_of(nitro.local, approval(chain, amount))
    data = int(receipt["gasUsedForL1"], 16)
    assert data > 16 * 100 * RATIO
    assert int(receipt["gasUsed"], 16) == int(plain["gasUsed"], 16) + data
    paid = before - nitro.local.coin(chain.users[0].address)
    assert paid == int(receipt["gasUsed"], 16) * nitro.node.base_fee


def test_a_limit_must_hold_it(chain: LocalChain, nitro: ChargingChain) -> None:
    used = int(receipt_of(nitro.local, approval(chain, 7))["gasUsed"], 16)
    receipt_of(nitro.local, approval(chain, 8), gas=used)
    with pytest.raises(Web3RPCError, match="intrinsic gas too low"):
        nitro.local.send(chain.users[0], approval(chain, 9), gas=used // 2)


def test_the_node_interface_says_what_data_costs_with_a_padding(chain: LocalChain, nitro: ChargingChain) -> None:
    to, data = approval(chain, 7)["to"], APPROVE.encode(SPENDER, 7)

    def asked(function: Function) -> Sequence[int]:
        inner = f"0x{function.encode(to, False, data).hex()}"  # noqa: FBT003 - an argument
        call = {"from": chain.users[0].address, "to": NODE_INTERFACE, "data": inner}
        return function.decode(bytes.fromhex(nitro.local.rpc("eth_call", call, "latest")[2:]))

    gas, base_fee, price = asked(GAS_ESTIMATE_L1_COMPONENT)
    assert (base_fee, price) == (nitro.node.base_fee, RATIO * nitro.node.base_fee)
    charged = int(receipt_of(nitro.local, approval(chain, 7))["gasUsedForL1"], 16)
    assert 1.1 * charged < gas < 1.5 * charged
    total, for_data, *_ = asked(GAS_ESTIMATE_COMPONENTS)
    assert total > for_data >= gas


def test_an_estimate_suffices(chain: LocalChain, nitro: ChargingChain) -> None:
    call = {"from": chain.users[0].address, **approval(chain, 7)}
    receipt_of(nitro.local, approval(chain, 7), gas=int(nitro.local.rpc("eth_estimateGas", call), 16))


def test_a_call_pays_for_its_data_unless_gas_is_free(chain: LocalChain, nitro: ChargingChain) -> None:
    call = {"from": chain.users[0].address, "to": SPENDER, "data": f"0x{DATA.hex()}", "gas": hex(500_000)}
    with pytest.raises(NodeError, match="intrinsic gas too low"):
        nitro.local.rpc("eth_call", call, "latest")
    assert nitro.local.rpc("eth_call", call, "latest", {}, {"baseFeePerGas": "0x0"}) == "0x"
    assert nitro.local.rpc("eth_call", {**call, "gas": hex(1_500_000)}, "latest") == "0x"


def test_a_simulation_pays_for_its_data_in_a_block_with_a_base_fee(chain: LocalChain, nitro: ChargingChain) -> None:
    call = {"from": chain.users[0].address, "to": SPENDER, "data": f"0x{DATA.hex()}", "gas": hex(1_500_000)}

    def used(**overrides: str) -> int:
        blocks = [{"calls": [call], "blockOverrides": overrides}]
        (block,) = nitro.local.rpc("eth_simulateV1", {"blockStateCalls": blocks}, "latest")
        return int(block["calls"][0]["gasUsed"], 16)

    data = used(baseFeePerGas=hex(nitro.node.base_fee)) - used()
    assert 16 * 1_000 * RATIO < data < 16 * 1_200 * RATIO
    assert used(baseFeePerGas=hex(2 * nitro.node.base_fee)) - used() == data // 2
