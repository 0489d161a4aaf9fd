"""Chains that charge for nothing but gas, such as Ethereum."""

from collections.abc import Sequence
from dataclasses import dataclass

from sweepapi.evm.chain.fee_models.costs import NO_COST, DataReads, UnsignedTransaction
from sweepapi.rpc import Call


@dataclass(frozen=True)
class PlainFees:
    """The gas that calldata and code use is all that is charged."""

    charges_gas = False

    def reads(self, transactions: Sequence[UnsignedTransaction], *, chain_id: int, multicall3: str) -> DataReads:  # noqa: ARG002 - as the protocol has it
        """Read nothing."""
        return DataReads([], lambda _answers: [NO_COST] * len(transactions))

    def as_read(self, call: Call) -> Call:
        """Return the same call."""
        return call


PLAIN = PlainFees()
