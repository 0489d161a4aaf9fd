"""What signs fee authorizations and their cancellations, wherever its key is."""

from abc import ABC, abstractmethod

from sweepapi.evm.chain.sending import OutgoingTransaction, SignedTransaction
from sweepapi.evm.encoding.eip712 import TypedData


class FeeSigner(ABC):
    """The account that the contract must have as its fee signer."""

    def __init__(self, address: str) -> None:
        self.address = address  # known without I/O; whatever signs, its signatures must be of this account

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.address}>"

    def sign(self, typed_data: TypedData) -> bytes:
        """Return the 65-byte signature (r, s, v) of the message; s is low, as the contract requires.

        A remote signer raises ``FeeSignerUnavailableError``.
        """
        return self._signature_of(typed_data.preimage)

    def sign_transaction(self, transaction: OutgoingTransaction) -> SignedTransaction:
        """Return a signed transaction of this account, which pays for the gas. Raises as ``sign`` does."""
        return transaction.with_signature(self._signature_of(transaction.preimage))

    @abstractmethod
    def _signature_of(self, preimage: bytes) -> bytes:
        """Return the signature of the Keccak-256 hash of these bytes."""
