"""On the OP stack, the data of a transaction costs a fee in wei beside its gas, and so may the operator's service."""

from collections.abc import Callable
from fractions import Fraction

import pytest
from eth_account import Account

from sweepapi import networks
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.fee_models.costs import DataCost, UnsignedTransaction, noise
from sweepapi.evm.chain.fee_models.op_stack import MAX_WEI_PER_BYTE, ORACLE, OpStackFees
from sweepapi.rpc import ProviderPool
from tests.factories.sweeps import LOCAL
from tests.fake_node import FakeNode
from tests.fee_oracles import put_op_oracle, units_of
from tests.local_chain import LocalChain

TO = "0x52908400098527886E0F7030069857D2E4169EE7"
DATA = b"\x01\x02\x03\x04" + bytes(500) + noise(500, seed="calldata")
GWEI = 10**9
RETURNS_ONE_FOR_ALL = "60015f5260205ff3"
RETURNS_ALL_ONES = "5f195f5260205ff3"
RETURNS_NOTHING = "00"
BURNS_ALL_GAS = "5b5f56"
REVERTS = "5f5ffd"


@pytest.fixture
def op_chain(change_chain: Callable[..., Chain]) -> Chain:
    return change_chain(fee_model=OpStackFees())


def cost_of(chain: Chain, *data: bytes, pool: ProviderPool | None = None) -> list[DataCost | None]:
    reads = chain.data_reads([UnsignedTransaction(TO, one) for one in data])
    return reads.costs((pool or networks.current().pool(LOCAL)).batch(reads.calls))


def test_the_fee_of_a_transactions_bytes_is_that_of_the_signed_transaction(chain: LocalChain, op_chain: Chain) -> None:
    put_op_oracle(chain, wei_per_unit=3 * GWEI)
    signed = Account.from_key(chain.world["users"][0]["privateKey"]).sign_transaction(
        {
            "to": TO,
            "data": DATA,
            "value": 0,
            "chainId": op_chain.chain_id,
            "nonce": 17,
            "gas": 1_200_000,
            "maxFeePerGas": 30_000_000,
            "maxPriorityFeePerGas": 1_000_000,
        }
    )
    (cost,) = cost_of(op_chain, DATA)
    assert cost is not None
    assert cost.wei == pytest.approx(units_of(bytes(signed.raw_transaction)) * 3 * GWEI, rel=0.01)
    assert cost == DataCost(gas=0, most_gas=0, wei=cost.wei, most_wei=2 * cost.wei)


def test_zeros_in_place_of_a_signature_would_cost_less(chain: LocalChain, op_chain: Chain) -> None:
    put_op_oracle(chain, wei_per_unit=GWEI)
    zeros, noisy = cost_of(op_chain, DATA + bytes(65), DATA + noise(65, seed="signature"))
    assert zeros is not None
    assert noisy is not None
    assert noisy.wei - zeros.wei == pytest.approx(65 * 12 * GWEI, rel=0.05)


def test_the_operators_fee_has_a_constant_part_and_grows_with_the_gas(chain: LocalChain, op_chain: Chain) -> None:
    put_op_oracle(chain, wei_per_unit=GWEI)
    (without,) = cost_of(op_chain, DATA)
    put_op_oracle(chain, wei_per_unit=GWEI, operator_scalar=2_500_000, operator_constant=7)
    (cost,) = cost_of(op_chain, DATA)
    assert without is not None
    assert cost is not None
    assert cost.wei_per_gas == Fraction(5, 2)
    assert cost.fee(1_001) == without.wei + 7 + 2_503
    assert cost.most_fee(2_000) == 2 * without.wei + 7 + 5_000


def test_one_call_reads_the_fees_of_all_transactions(chain: LocalChain, op_chain: Chain) -> None:
    put_op_oracle(chain, wei_per_unit=GWEI)
    reads = op_chain.data_reads([UnsignedTransaction(TO, DATA)] * 30)
    assert len(reads.calls) == 1
    assert None not in reads.costs(networks.current().pool(LOCAL).batch(reads.calls))


@pytest.mark.parametrize(
    "code", ["", RETURNS_NOTHING, RETURNS_ALL_ONES, BURNS_ALL_GAS, REVERTS], ids=["none", "0x", "huge", "burns", "no"]
)
def test_an_oracle_that_answers_nonsense_leaves_the_cost_unknown(chain: LocalChain, op_chain: Chain, code: str) -> None:
    chain.put_code(ORACLE, code)
    assert cost_of(op_chain, DATA, DATA) == [None, None]


def test_a_fee_of_zero_is_not_believed(chain: LocalChain, op_chain: Chain) -> None:
    put_op_oracle(chain, wei_per_unit=0)
    assert cost_of(op_chain, DATA) == [None]


def test_a_fee_is_believed_up_to_a_price_that_no_chain_ever_had(chain: LocalChain, op_chain: Chain) -> None:
    put_op_oracle(chain, wei_per_unit=MAX_WEI_PER_BYTE // 16)
    (cost,) = cost_of(op_chain, DATA)
    assert cost is not None
    put_op_oracle(chain, wei_per_unit=MAX_WEI_PER_BYTE)
    assert cost_of(op_chain, DATA) == [None]


def test_an_operators_fee_that_no_chain_has_leaves_the_cost_unknown(chain: LocalChain, op_chain: Chain) -> None:
    put_op_oracle(chain, wei_per_unit=GWEI, operator_constant=10**18 + 1)
    assert cost_of(op_chain, DATA) == [None]


@pytest.mark.parametrize("answer", ["0x", "0x12", "nonsense", None, []])
def test_a_node_that_does_not_answer_the_read_leaves_the_cost_unknown(
    chain: LocalChain, op_chain: Chain, node: FakeNode, answer: object
) -> None:
    put_op_oracle(chain, wei_per_unit=GWEI)
    node.alter = lambda method, _params, result: answer if method == "eth_call" else result
    assert cost_of(op_chain, DATA) == [None]
