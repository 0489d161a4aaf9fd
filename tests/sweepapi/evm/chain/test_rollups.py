"""A rollup's fee for data is read where the chains file names the oracle, and shared by the tokens it grows with."""

from collections.abc import Callable

import pytest

from sweepapi import networks
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.rollups import DataFee, data_fee, data_fee_reads
from tests.factories.sweeps import LOCAL

ORACLE = "0x420000000000000000000000000000000000000F"
FIXED, PER_TOKEN = 1_000, 128


def test_a_chain_without_an_oracle_is_not_asked_and_charges_nothing() -> None:
    assert list(data_fee_reads(networks.current().chain(LOCAL), 3)) == []
    assert data_fee([], 3) == DataFee(0, 0)


@pytest.mark.parametrize("count", [1, 30])
def test_the_oracle_gets_the_size_of_a_transaction_with_so_many_tokens(
    change_chain: Callable[..., Chain], count: int
) -> None:
    (read,) = data_fee_reads(change_chain(l1_fee_oracle=ORACLE), count)
    assert (read.target, read.arguments) == (ORACLE, (FIXED + PER_TOKEN * count,))
    assert read.function.encode(*read.arguments).hex() == f"f1c7a58b{FIXED + PER_TOKEN * count:064x}"


def test_a_token_adds_its_part_of_the_size_rounded_up() -> None:
    assert data_fee([(10_000,)], 2) == DataFee(10_000, 10_000 * PER_TOKEN // (FIXED + 2 * PER_TOKEN) + 1)


def test_an_oracle_that_fails_leaves_the_fee_unknown() -> None:
    assert data_fee([None], 2) is None
