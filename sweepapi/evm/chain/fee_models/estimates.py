"""Estimates what a sweep's data costs before its calldata is known, and the part of it that each token adds.

The estimate is the cost of calldata like that of a sweep: words of zeros, with as much noise in each as a sweep has.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

from sweepapi.evm.chain.fee_models.costs import DataCost, UnsignedTransaction, noise

CONTRACT = f"0x{noise(20, seed='contract').hex()}"
SELECTOR_BYTES, WORD_BYTES = 4, 32
# How many bytes of each word of a sweep on V5 are not zero: the authorization and its signature, the route, and
# Permit2's nonce, deadline and signature. Builds on the local chain are within 5 percent of it; on V4 they are smaller.
FIXED_WORDS = (20, 16, 20, 20, 20, 1, 2, 2, 4, 32, 2, 32, 4, 2, 1, 8, 1, 2, 2, 2, 2, 32, 32, 1, 2, 32, 32, 1)
TOKEN_WORDS = (20, 8, 7, 6)  # the token, its amount, its floor and its hop
TOKENS = 10  # of the larger one of two sweeps, whose difference is what tokens add


@dataclass(frozen=True)
class DataFee:
    """What is charged for the data of a transaction in addition to its gas, and the part of it that one token adds."""

    fixed: int  # wei
    per_token: int  # wei, which ``fixed`` contains
    per_gas: Fraction = Fraction(0)  # wei for every unit of gas that the transaction uses

    def total(self, gas: int) -> int:
        """Return the fee in wei of a transaction that uses this much gas."""
        return self.fixed + ceil(self.per_gas * gas)

    def of_token(self, gas: int, *, more_bytes: int = 0) -> int:
        """Return the fee in wei that a token adds which uses this much gas and, beside its leg, so many bytes."""
        return self.per_token + self._of_bytes(more_bytes) + ceil(self.per_gas * gas)

    def with_bytes(self, byte_count: int) -> "DataFee":
        """Return the fee of so many more bytes of calldata, in one transaction or in others."""
        return replace(self, fixed=self.fixed + self._of_bytes(byte_count))

    def _of_bytes(self, byte_count: int) -> int:
        return -(-self.per_token * byte_count // (WORD_BYTES * len(TOKEN_WORDS)))

    def with_more(self, token_count: int) -> "DataFee":
        """Return the fee of a transaction with so many more tokens, or fewer if that is negative."""
        return replace(self, fixed=max(self.fixed + self.per_token * token_count, 0))


def typical_sweeps() -> list[UnsignedTransaction]:
    """Return the transactions whose costs ``estimated_fee`` needs."""
    return [_typical(0), _typical(TOKENS)]


def estimated_fee(costs: Sequence[DataCost | None], *, token_count: int, gas_price: int) -> DataFee | None:
    """Return the fee for a sweep of so many tokens at this price of gas in wei; None if a cost is not known."""
    if None in costs:
        return None
    fixed, larger = (cost.wei + cost.gas * gas_price for cost in costs if cost is not None)
    per_token = max(-(-(larger - fixed) // TOKENS), 0)
    per_gas = next(cost.wei_per_gas for cost in costs if cost is not None)
    return DataFee(fixed, per_token, per_gas).with_more(token_count)


def _typical(token_count: int) -> UnsignedTransaction:
    words = [*FIXED_WORDS, *TOKEN_WORDS * token_count]
    return UnsignedTransaction(CONTRACT, noise(SELECTOR_BYTES, seed="selector") + b"".join(_words(words)))


def _words(sizes: Iterable[int]) -> Iterable[bytes]:
    for position, size in enumerate(sizes):
        yield bytes(WORD_BYTES - size) + noise(size, seed=f"word {position}")
