"""Chains of Nitro, such as Arbitrum One: the data of a transaction costs additional units of its gas.

``ArbOS`` compresses the signed transaction by Brotli, and charges 16 units a byte at a price in wei that follows what
posting costs on the chain below. That amount, divided by the base fee of the block, is added to the gas that calldata
and code use: ``gasUsed`` contains it, the limit must hold it, and refunds do not cover it. So it rises if the base fee
falls. Limits of transactions and blocks do not count it.

``NodeInterface.gasEstimateL1Component`` is answered by nodes, not by a contract, so it takes a call for each
transaction. It takes random numbers for fields that it does not know, most of them longer than they will be, adds 16
bytes, then a hundredth, and a tenth to the price.

Sources: OffchainLabs/nitro ``arbos/l1pricing/l1pricing.go`` (``PosterDataCost``), ``arbos/tx_processor.go``
(``GasChargingHook``, ``GetPosterGas``), ``execution/nodeinterface/node_interface.go``, ``arbos/l2pricing``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Any

from sweepapi.evm.chain.fee_models.costs import DataCost, DataReads, UnsignedTransaction
from sweepapi.evm.encoding import responses
from sweepapi.evm.encoding.abi import Function
from sweepapi.rpc import Call, ErrorPolicy
from sweepapi.rpc.errors import CallFailedError

NODE_INTERFACE = "0x00000000000000000000000000000000000000C8"
GAS_INFO = "0x000000000000000000000000000000000000006C"
GAS_ESTIMATE_L1_COMPONENT = Function("gasEstimateL1Component(address,bool,bytes)", "(uint64,uint256,uint256)")
GET_MINIMUM_GAS_PRICE = Function("getMinimumGasPrice()", "(uint256)")

UNITS_PER_BYTE = 16
PADDING_UNITS = 16 * UNITS_PER_BYTE
# What the random fields are longer than usual ones when compressed, measured of sweeps: six bytes of the nonce, four of
# the tip, for which nodes ask nothing, one of the gas limit, and three of the signature's v.
LONGER_UNITS = 14 * UNITS_PER_BYTE
PADDING, PRICE_PADDING = Fraction(101, 100), Fraction(11, 10)
# Of a transaction beside its calldata, at most: fees, lengths and the signature.
ENVELOPE_BYTES = 250

# How far the cost moves within an offer's fifteen minutes. ArbOS smooths the price of data over the batches that are
# posted. The base fee halves in about 70 seconds without load (a factor of e in 102), but not below its minimum.
MOST_PRICE = Fraction(5, 4)
LEAST_BASE_FEE = Fraction(1, 2)
# Above these nothing is a price: 100,000 gwei for a unit of gas, and 100,000 units of gas for one of data.
MAX_BASE_FEE = 10**14
MAX_RATIO = 100_000


@dataclass(frozen=True)
class NitroFees:
    """What ``NodeInterface`` estimates for the bytes as they are sent, without its padding."""

    charges_gas = True

    def reads(self, transactions: Sequence[UnsignedTransaction], *, chain_id: int, multicall3: str) -> DataReads:  # noqa: ARG002 - as the protocol has it
        """Read the minimum of the base fee, and an estimate for each transaction."""
        calls = [_call(GAS_INFO, GET_MINIMUM_GAS_PRICE)]
        calls += [_call(NODE_INTERFACE, GAS_ESTIMATE_L1_COMPONENT, one.to, False, one.data) for one in transactions]  # noqa: FBT003 - as the interface has it

        def costs(answers: Sequence[Any]) -> list[DataCost | None]:
            minimum, *estimates = (None if isinstance(answer, CallFailedError) else answer for answer in answers)
            least = 0 if minimum is None else minimum[0]
            return [
                None if estimate is None else _cost(len(one.data), *estimate, min_base_fee=least)
                for one, estimate in zip(transactions, estimates, strict=True)
            ]

        return DataReads(calls, costs)

    def as_read(self, call: Call) -> Call:
        """Return the call with a base fee of zero, so that its own data takes no part of its gas."""
        if call.method != "eth_call" or call.as_sent:
            return call
        transaction, block, *overrides = call.params
        state = overrides[0] if overrides else {}
        return replace(call, params=(transaction, block, state, {"baseFeePerGas": "0x0"}))


def _call(to: str, function: Function, *arguments: object) -> Call:
    """Return a call whose failure, and a nonsensical result, is a result."""
    transaction = {"to": to, "data": f"0x{function.encode(*arguments).hex()}"}
    return Call(
        "eth_call", (transaction, "latest"), lambda value: function.decode(responses.data(value)), ErrorPolicy.ANY
    )


def _cost(size: int, gas: int, base_fee: int, price: int, *, min_base_fee: int) -> DataCost | None:
    if not (0 < base_fee <= MAX_BASE_FEE and 0 < price <= MAX_RATIO * base_fee):
        return None
    padded = Fraction(gas * base_fee, price) / PRICE_PADDING / PADDING
    units = padded - PADDING_UNITS - LONGER_UNITS
    if not 0 < units <= UNITS_PER_BYTE * (size + ENVELOPE_BYTES):
        return None
    least_base_fee = max(base_fee * LEAST_BASE_FEE, Fraction(min(min_base_fee, base_fee)))
    return DataCost(
        gas=ceil(units * price / base_fee),
        most_gas=ceil(padded * price * MOST_PRICE / least_base_fee),
        wei=0,
        most_wei=0,
    )
