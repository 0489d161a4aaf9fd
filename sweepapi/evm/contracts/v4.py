"""The interface of the contract ``ServiceBatchV4``: what is signed for it, sent to it and read from it.

The types are those of its Solidity interface; tests compare this file with the exported ABI and the EIP-712 vectors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sweepapi.evm.encoding.abi import Function, Values
from sweepapi.evm.encoding.addresses import eip55, keccak_hex
from sweepapi.evm.contracts.batch import PERMISSION_TYPES, PERMITS_TYPE, ROUTE_TYPE, EntryPoints, Permission, BatchRoute
from sweepapi.evm.encoding.eip712 import fields
from sweepapi.evm.contracts.permit2 import Witness
from sweepapi.evm.encoding.responses import Log
from sweepapi.rpc.errors import BadResponseError

CONTRACT_NAME = "ServiceBatchV4"

_ORDER = "(address,uint16,bytes32)"
SWEEP = Function(f"sweep({ROUTE_TYPE},{_ORDER},{PERMISSION_TYPES})")
SWEEP_WITH_PERMITS = Function(f"sweepWithPermits({ROUTE_TYPE},{_ORDER},{PERMITS_TYPE},{PERMISSION_TYPES})")
SWEEP_AS_CALLER = Function(f"sweepAsCaller({ROUTE_TYPE},{_ORDER})")
ENTRY_POINTS = EntryPoints(SWEEP, SWEEP_WITH_PERMITS, SWEEP_AS_CALLER)
IS_SWEEP_REF_USED = Function("isSweepRefUsed(address,bytes32)", "(bool)")
FEE_BPS = Function("feeBps()", "(uint16)")
FEE_RECIPIENT = Function("feeRecipient()", "(address)")

_EVENT_DATA = Values("(address,uint256,uint256,uint256,uint256)")
EXECUTED_TOPIC = keccak_hex(b"SweepExecutedV4(bytes32,address,address,uint256,uint256,uint256,uint256)")
_EXECUTED_TOPICS = 3


@dataclass(frozen=True)
class SweepOrderV4:
    """The outcome that the user signs: Permit2's witness, of which the contract takes the floors from the route."""

    output_token: str
    floors: Sequence[int]  # net of the fee, one per token
    max_skipped: int
    fee_bps: int
    sweep_ref: str  # bytes32 as hex

    def as_tuple(self) -> tuple[Any, ...]:
        """Return the order as the ABI encodes it: the contract takes the rest from the route."""
        return (self.output_token, self.fee_bps, bytes.fromhex(self.sweep_ref[2:]))

    @property
    def witness(self) -> Witness:
        """The order as the user signs it."""
        return Witness(
            type_name="SweepOrderV4",
            fields=fields(
                outputToken="address", floors="uint256[]", maxSkipped="uint8", feeBps="uint16", sweepRef="bytes32"
            ),
            message={
                "outputToken": self.output_token,
                "floors": list(self.floors),
                "maxSkipped": self.max_skipped,
                "feeBps": self.fee_bps,
                "sweepRef": self.sweep_ref,
            },
        )


@dataclass(frozen=True)
class SweepExecutedV4:
    """A decoded ``SweepExecutedV4``; amounts in the output token's smallest unit."""

    sweep_ref: str
    user: str
    output_token: str
    token_count: int
    gross_output: int
    fee: int
    user_amount: int


def sweep_arguments(*, route: BatchRoute, order: SweepOrderV4, permission: Permission) -> tuple[Any, ...]:
    """Return the arguments of ``sweep`` in order, the Permit2 signature last."""
    return (route.as_tuple(), order.as_tuple(), permission.nonce, permission.deadline, permission.signature)


def decode_executed(log: Log) -> SweepExecutedV4 | None:
    """Return the event of this log, or None if it is not a well-formed ``SweepExecutedV4``.

    The caller must check the emitter: any contract can emit these bytes.
    """
    if len(log.topics) != _EXECUTED_TOPICS or log.topics[0] != EXECUTED_TOPIC:
        return None
    try:
        output_token, *amounts = _EVENT_DATA.decode(log.data)
    except BadResponseError:
        return None
    user = eip55(log.topics[2][-40:])
    return SweepExecutedV4(log.topics[1], user, eip55(output_token), *amounts)
