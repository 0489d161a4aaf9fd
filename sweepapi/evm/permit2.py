"""Permit2's part of a sweep: the typed data that the user signs, and the calls that read the user's state there.

Source: Uniswap/permit2, ``SignatureTransfer`` and ``PermitHash`` (batch transfer with a witness). Permit2's domain has
no version.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sweepapi.evm.abi import Function
from sweepapi.evm.eip712 import TypedData, fields

NONCE_BITMAP = Function("nonceBitmap(address,uint256)", "(uint256)")
DOMAIN_SEPARATOR = Function("DOMAIN_SEPARATOR()", "(bytes32)")
BITS_PER_WORD = 256


@dataclass(frozen=True)
class SweepOrder:
    """The outcome that the user signs: Permit2's witness, and an argument of the contract call."""

    output_token: str
    min_user_output: int
    total_fee_bps: int
    partner_id: str  # bytes32 as hex
    authorization_nonce: int


def permit_typed_data(  # noqa: PLR0913 - the fields of one message
    *,
    chain_id: int,
    permit2: str,
    spender: str,
    permitted: Sequence[tuple[str, int]],
    nonce: int,
    deadline: int,
    order: SweepOrder,
) -> TypedData:
    """Return the batch permit with the order as its witness; ``permitted`` has (token, amount) per leg."""
    return TypedData(
        domain={"name": "Permit2", "chainId": chain_id, "verifyingContract": permit2},
        types={
            "PermitBatchWitnessTransferFrom": fields(
                permitted="TokenPermissions[]",
                spender="address",
                nonce="uint256",
                deadline="uint256",
                witness="SweepOrder",
            ),
            "TokenPermissions": fields(token="address", amount="uint256"),  # noqa: S106 - a type, not a secret
            "SweepOrder": fields(
                outputToken="address",
                minUserOutput="uint256",
                totalFeeBps="uint16",
                partnerId="bytes32",
                authorizationNonce="uint256",
            ),
        },
        primary_type="PermitBatchWitnessTransferFrom",
        message={
            "permitted": [{"token": token, "amount": amount} for token, amount in permitted],
            "spender": spender,
            "nonce": nonce,
            "deadline": deadline,
            "witness": {
                "outputToken": order.output_token,
                "minUserOutput": order.min_user_output,
                "totalFeeBps": order.total_fee_bps,
                "partnerId": order.partner_id,
                "authorizationNonce": order.authorization_nonce,
            },
        },
    )
