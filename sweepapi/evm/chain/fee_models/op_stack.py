"""Rollups of the OP stack, such as Base: two fees in wei, which are taken from the sender beside the gas.

The data fee follows from the transaction's bytes, compressed by FastLZ, and from the prices of gas and blobs on the
chain below. The operator fee follows from the gas that the transaction uses; chains before Isthmus have none.

Sources: ethereum-optimism/optimism ``GasPriceOracle`` (``getL1Fee`` takes the unsigned transaction and adds 68 bytes
for its signature) and ethereum-optimism/specs (``isthmus`` and ``jovian``: the operator fee is linear in the gas).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sweepapi.evm.chain.fee_models.costs import DataCost, DataReads, UnsignedTransaction
from sweepapi.evm.chain.multicall import Read, multicall
from sweepapi.evm.chain.sending import Fees, OutgoingTransaction
from sweepapi.evm.encoding.abi import Function
from sweepapi.rpc import Call, ErrorPolicy

ORACLE = "0x420000000000000000000000000000000000000F"  # the predeploy of every chain of the OP stack
GET_L1_FEE = Function("getL1Fee(bytes)", "(uint256)")
GET_OPERATOR_FEE = Function("getOperatorFee(uint256)", "(uint256)")

# The prices below can double within the fifteen minutes of an offer: each of 75 blocks may raise them by an eighth.
MARGIN = 2
# More than this is not a fee: a byte at 10,000 gwei for each of 16 units of gas, and one ether to the operator.
MAX_WEI_PER_BYTE = 16 * 10**13
MAX_OPERATOR_WEI = 10**18
OPERATOR_GAS = 10_000_000

# What is not known yet, in the usual length.
NONCE, GAS, FEES = 0x1A7, 0x1B77F1, Fees(max_fee=0x1C9C3E5, priority_fee=0xF42B6)


@dataclass(frozen=True)
class OpStackFees:
    """``getL1Fee`` of the bytes as they are sent, and ``getOperatorFee`` where it answers."""

    charges_gas = False

    def reads(self, transactions: Sequence[UnsignedTransaction], *, chain_id: int, multicall3: str) -> DataReads:
        """Read all fees in one call, whose failure leaves them unknown."""
        serialized = [_serialized(transaction, chain_id) for transaction in transactions]
        reads = [Read(ORACLE, GET_OPERATOR_FEE, (gas,)) for gas in (0, OPERATOR_GAS)]
        reads += [Read(ORACLE, GET_L1_FEE, (data,)) for data in serialized]
        call = multicall(multicall3=multicall3, reads=reads, error_policy=ErrorPolicy.ANY)

        def costs(answers: Sequence[Any]) -> list[DataCost | None]:
            (answer,) = answers
            if not isinstance(answer, list):
                return [None] * len(serialized)
            operator, fees = _operator_fee(*answer[:2]), answer[2:]
            return [_cost(len(data), fee, operator) for data, fee in zip(serialized, fees, strict=True)]

        return DataReads([call], costs)

    def as_read(self, call: Call) -> Call:
        """Return the same call, which nodes do not charge for."""
        return call


def _serialized(transaction: UnsignedTransaction, chain_id: int) -> bytes:
    return OutgoingTransaction(chain_id, NONCE, transaction.to, transaction.data, GAS, FEES).preimage


def _operator_fee(fixed: Sequence[int] | None, with_gas: Sequence[int] | None) -> tuple[int, Fraction] | None:
    """Return the constant part, and the part for each unit of gas, both in wei; None if they make no sense."""
    if fixed is None and with_gas is None:
        return 0, Fraction(0)
    if fixed is None or with_gas is None or not fixed[0] <= with_gas[0] <= MAX_OPERATOR_WEI:
        return None
    return fixed[0], Fraction(with_gas[0] - fixed[0], OPERATOR_GAS)


def _cost(size: int, fee: Sequence[int] | None, operator: tuple[int, Fraction] | None) -> DataCost | None:
    if fee is None or operator is None or not 0 < fee[0] <= MAX_WEI_PER_BYTE * size:
        return None
    constant, wei_per_gas = operator
    return DataCost(0, 0, fee[0] + constant, fee[0] * MARGIN + constant, wei_per_gas)
