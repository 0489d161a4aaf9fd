"""The interface of the contract ``ServiceBatchV5PartnerFees``: what is signed for it, sent to it and read from it.

The types are those of its Solidity interface; tests compare this file with the exported ABI and the EIP-712 vectors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sweepapi.evm.encoding.abi import Function, Values
from sweepapi.evm.encoding.addresses import eip55, keccak_hex
from sweepapi.evm.contracts.batch import PERMISSION_TYPES, PERMITS_TYPE, ROUTE_TYPE, EntryPoints, Permission, BatchRoute
from sweepapi.evm.encoding.eip712 import TypedData, fields
from sweepapi.evm.contracts.permit2 import Witness
from sweepapi.evm.encoding.responses import Log
from sweepapi.rpc.errors import BadResponseError

CONTRACT_NAME = "ServiceBatchV5PartnerFees"
_AUTHORIZATION = "(address,bytes32,address,address,address,uint16,uint16,uint256,uint256,bytes32)"
_SIGNED_ROUTE = f"{ROUTE_TYPE},{_AUTHORIZATION},bytes"
SWEEP = Function(f"sweep({_SIGNED_ROUTE},{PERMISSION_TYPES})")
SWEEP_WITH_PERMITS = Function(f"sweepWithPermits({_SIGNED_ROUTE},{PERMITS_TYPE},{PERMISSION_TYPES})")
SWEEP_AS_CALLER = Function(f"sweepAsCaller({_SIGNED_ROUTE})")
ENTRY_POINTS = EntryPoints(SWEEP, SWEEP_WITH_PERMITS, SWEEP_AS_CALLER)
IS_NONCE_USED = Function("isNonceUsed(uint256)", "(bool)")
CANCEL_AUTHORIZATION = Function("cancelAuthorization(uint256)")
FEE_SIGNER = Function("feeSigner()", "(address)")

_EVENT_DATA = Values("(address,address,address,uint256,uint256,uint256,uint256,uint256,uint256)")
EXECUTED_TOPIC = keccak_hex(
    b"SweepExecutedV5(uint256,address,bytes32,address,address,address,uint256,uint256,uint256,uint256,uint256,uint256)"
)
_EXECUTED_TOPICS = 4
CANCELLED_TOPIC = keccak_hex(b"AuthorizationCancelled(uint256,address)")
_CANCELLED_TOPICS = 3


@dataclass(frozen=True)
class SweepOrderV5:
    """The outcome that the user signs: Permit2's witness, which the contract takes from route and authorization."""

    output_token: str
    floors: Sequence[int]  # net of the fee, one per token
    max_skipped: int
    total_fee_bps: int
    partner_id: str  # bytes32 as hex
    authorization_nonce: int

    @property
    def witness(self) -> Witness:
        """The order as the user signs it."""
        return Witness(
            type_name="SweepOrder",
            fields=fields(
                outputToken="address",
                floors="uint256[]",
                maxSkipped="uint8",
                totalFeeBps="uint16",
                partnerId="bytes32",
                authorizationNonce="uint256",
            ),
            message={
                "outputToken": self.output_token,
                "floors": list(self.floors),
                "maxSkipped": self.max_skipped,
                "totalFeeBps": self.total_fee_bps,
                "partnerId": self.partner_id,
                "authorizationNonce": self.authorization_nonce,
            },
        )


@dataclass(frozen=True)
class Authorization:
    """The fee authorization that the service signs; addresses in EIP-55, 32-byte values as hex."""

    user: str
    partner_id: str
    partner_recipient: str
    protocol_recipient: str
    output_token: str
    total_fee_bps: int
    partner_share_bps: int
    nonce: int
    deadline: int  # seconds since 1970
    legs_hash: str

    def message(self) -> dict[str, Any]:
        """Return the fields under their EIP-712 names, in their order."""
        return {
            "user": self.user,
            "partnerId": self.partner_id,
            "partnerRecipient": self.partner_recipient,
            "protocolRecipient": self.protocol_recipient,
            "outputToken": self.output_token,
            "totalFeeBps": self.total_fee_bps,
            "partnerShareBps": self.partner_share_bps,
            "nonce": self.nonce,
            "deadline": self.deadline,
            "legsHash": self.legs_hash,
        }

    def as_tuple(self) -> tuple[Any, ...]:
        """Return the authorization as the ABI encodes it."""
        return tuple(
            bytes.fromhex(value[2:]) if name in ("partnerId", "legsHash") else value
            for name, value in self.message().items()
        )

    def typed_data(self, *, chain_id: int, contract: str) -> TypedData:
        """Return what the service signs, in the domain of one contract on one chain."""
        return TypedData(
            domain={"name": CONTRACT_NAME, "version": "5", "chainId": chain_id, "verifyingContract": contract},
            types={
                "FeeAuthorization": fields(
                    user="address",
                    partnerId="bytes32",
                    partnerRecipient="address",
                    protocolRecipient="address",
                    outputToken="address",
                    totalFeeBps="uint16",
                    partnerShareBps="uint16",
                    nonce="uint256",
                    deadline="uint256",
                    legsHash="bytes32",
                )
            },
            primary_type="FeeAuthorization",
            message=self.message(),
        )


@dataclass(frozen=True)
class SweepExecutedV5:
    """A decoded ``SweepExecutedV5``; amounts in the output token's smallest unit."""

    nonce: int
    user: str
    partner_id: str
    partner_recipient: str
    protocol_recipient: str
    output_token: str
    token_count: int
    gross_output: int
    total_fee: int
    partner_fee: int
    protocol_fee: int
    user_amount: int


@dataclass(frozen=True)
class AuthorizationCancelled:
    """A decoded ``AuthorizationCancelled``: the nonce that can never be executed, and who cancelled it."""

    nonce: int
    by: str


def sweep_arguments(
    *, route: BatchRoute, authorization: Authorization, signature: bytes, permission: Permission
) -> tuple[Any, ...]:
    """Return the arguments of ``sweep`` in order, the Permit2 signature last."""
    consent = (permission.nonce, permission.deadline, permission.signature)
    return (route.as_tuple(), authorization.as_tuple(), signature, *consent)


def decode_executed(log: Log) -> SweepExecutedV5 | None:
    """Return the event of this log, or None if it is not a well-formed ``SweepExecutedV5``.

    The caller must check the emitter: any contract can emit these bytes.
    """
    if len(log.topics) != _EXECUTED_TOPICS or log.topics[0] != EXECUTED_TOPIC:
        return None
    try:
        partner_recipient, protocol_recipient, output_token, *amounts = _EVENT_DATA.decode(log.data)
    except BadResponseError:
        return None
    return SweepExecutedV5(
        int(log.topics[1], 16),
        eip55(log.topics[2][-40:]),
        log.topics[3],
        eip55(partner_recipient),
        eip55(protocol_recipient),
        eip55(output_token),
        *amounts,
    )


def decode_cancelled(log: Log) -> AuthorizationCancelled | None:
    """Return the event of this log, or None if it is not a well-formed ``AuthorizationCancelled``.

    The caller must check the emitter.
    """
    if len(log.topics) != _CANCELLED_TOPICS or log.topics[0] != CANCELLED_TOPIC or log.data:
        return None
    return AuthorizationCancelled(int(log.topics[1], 16), eip55(log.topics[2][-40:]))
