"""What a sweep's data costs is estimated from the difference between two sweeps, where the chain charges for it."""

from collections.abc import Callable
from fractions import Fraction

from sweepapi import networks
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.fee_models.costs import NO_COST, DataCost, UnsignedTransaction
from sweepapi.evm.chain.fee_models.estimates import TOKENS, DataFee, estimated_fee, typical_sweeps
from sweepapi.evm.chain.fee_models.op_stack import OpStackFees
from tests.factories.sweeps import LOCAL
from tests.fee_oracles import put_op_oracle
from tests.local_chain import LocalChain


def test_a_chain_that_charges_for_gas_alone_is_not_asked() -> None:
    plain = networks.current().chain(LOCAL)
    reads = plain.data_reads(typical_sweeps())
    assert list(reads.calls) == []
    assert estimated_fee(reads.costs([]), token_count=3, gas_price=5) == DataFee(0, 0)
    assert plain.data_reads([UnsignedTransaction(LOCAL, b"")] * 2).costs([]) == [NO_COST] * 2


def test_each_token_adds_the_same() -> None:
    costs = [DataCost(0, 0, 1_000, 2_000, Fraction(1, 2)), DataCost(0, 0, 1_000 + 40 * TOKENS, 2_000, Fraction(1, 2))]
    fee = estimated_fee(costs, token_count=3, gas_price=5)
    assert fee == DataFee(1_120, 40, Fraction(1, 2))
    assert (fee.total(101), fee.of_token(11)) == (1_171, 46)
    assert fee.with_more(-2) == DataFee(1_040, 40, Fraction(1, 2))


def test_gas_for_data_costs_its_price() -> None:
    costs = [DataCost(100, 150, 0, 0), DataCost(100 + 7 * TOKENS, 150, 0, 0)]
    assert estimated_fee(costs, token_count=1, gas_price=3) == DataFee(321, 21)


def test_what_could_not_be_read_is_unknown() -> None:
    assert estimated_fee([None, NO_COST], token_count=1, gas_price=3) is None
    assert estimated_fee([NO_COST, None], token_count=1, gas_price=3) is None


def test_larger_sweeps_cost_more(chain: LocalChain, change_chain: Callable[..., Chain]) -> None:
    put_op_oracle(chain, wei_per_unit=1)
    reads = change_chain(fee_model=OpStackFees()).data_reads(typical_sweeps())
    fee = estimated_fee(reads.costs(networks.current().pool(LOCAL).batch(reads.calls)), token_count=1, gas_price=3)
    assert fee is not None
    assert 0 < fee.per_token < fee.fixed
