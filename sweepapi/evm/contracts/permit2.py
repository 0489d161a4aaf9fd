"""Permit2: the typed data that a user signs to have a batch of tokens pulled, and the calls that read a user's state.

Source: Uniswap/permit2, ``SignatureTransfer`` and ``PermitHash``. Its EIP-712 domain has no version.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.encoding.eip712 import TypedData, fields

NONCE_BITMAP = Function("nonceBitmap(address,uint256)", "(uint256)")
DOMAIN_SEPARATOR = Function("DOMAIN_SEPARATOR()", "(bytes32)")
BITS_PER_WORD = 256


@dataclass(frozen=True)
class Witness:
    """What the user signs in addition to the transfer: an EIP-712 struct that the spender checks."""

    type_name: str
    fields: Sequence[dict[str, str]]  # as ``eip712.fields`` returns them
    message: Mapping[str, Any]


@dataclass(frozen=True)
class BatchPermit:
    """The right to pull tokens, once and until a deadline (seconds since 1970)."""

    spender: str
    permitted: Sequence[tuple[str, int]]  # token and amount
    nonce: int
    deadline: int
    witness: Witness

    def typed_data(self, *, chain_id: int, permit2: str) -> TypedData:
        """Return what the user signs."""
        return TypedData(
            domain={"name": "Permit2", "chainId": chain_id, "verifyingContract": permit2},
            types={
                "PermitBatchWitnessTransferFrom": fields(
                    permitted="TokenPermissions[]",
                    spender="address",
                    nonce="uint256",
                    deadline="uint256",
                    witness=self.witness.type_name,
                ),
                "TokenPermissions": fields(token="address", amount="uint256"),  # noqa: S106 - a type, not a secret
                self.witness.type_name: list(self.witness.fields),
            },
            primary_type="PermitBatchWitnessTransferFrom",
            message={
                "permitted": [{"token": token, "amount": amount} for token, amount in self.permitted],
                "spender": self.spender,
                "nonce": self.nonce,
                "deadline": self.deadline,
                "witness": dict(self.witness.message),
            },
        )
