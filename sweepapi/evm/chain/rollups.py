"""What a rollup of the OP stack charges for a transaction's data in addition to its gas.

Source: ethereum-optimism/optimism ``GasPriceOracle``, ``getL1FeeUpperBound`` (since Fjord): a bound for the size of an
unsigned transaction, as if its data could not be compressed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.multicall import Read
from sweepapi.evm.encoding.abi import Function

GET_L1_FEE_UPPER_BOUND = Function("getL1FeeUpperBound(uint256)", "(uint256)")
# The call of a sweep takes 932 bytes and 128 for each token, on V4 less; the rest of a transaction takes less than 68.
# The call of a router takes about 450 more, but when the fee is read, no router was chosen yet.
FIXED_BYTES = 1_000
BYTES_PER_TOKEN = 128


@dataclass(frozen=True)
class DataFee:
    """What a transaction's data costs in wei, and the part of it that one token adds."""

    total: int
    per_token: int

    def with_more(self, token_count: int) -> "DataFee":
        """Return the fee of a transaction with so many more tokens, or fewer if that is negative."""
        return DataFee(max(self.total + self.per_token * token_count, 0), self.per_token)

    def with_bytes(self, byte_count: int) -> int:
        """Return the fee of a transaction with so many more bytes, or of several."""
        return self.total - (-self.per_token * byte_count // BYTES_PER_TOKEN)


def data_fee_reads(chain: Chain, token_count: int) -> Iterator[Read]:
    """Yield the read of what the data of a sweep costs, where the chain charges for it."""
    if chain.l1_fee_oracle is not None:
        yield Read(chain.l1_fee_oracle, GET_L1_FEE_UPPER_BOUND, (_size_bytes(token_count),))


def data_fee(results: Sequence[Any], token_count: int) -> DataFee | None:
    """Return the fee from the results of ``data_fee_reads``: zero without such a read, None if it failed."""
    if not results:
        return DataFee(0, 0)
    if results[0] is None:
        return None
    total: int = results[0][0]
    return DataFee(total, -(-total * BYTES_PER_TOKEN // _size_bytes(token_count)))


def _size_bytes(token_count: int) -> int:
    return FIXED_BYTES + BYTES_PER_TOKEN * token_count
