"""The key that signs fee authorizations and their cancellations; its bytes never leave this object."""

from eth_account import Account
from eth_account.messages import encode_typed_data
from eth_account.signers.local import LocalAccount

from sweepapi.evm.eip712 import TypedData
from sweepapi.evm.sending import SignedTransaction, Transaction


class FeeSigner:
    """Signs with a private key held in memory (``0x`` and 64 hex digits)."""

    def __init__(self, key: str) -> None:
        self._account: LocalAccount = Account.from_key(key)

    def __repr__(self) -> str:
        return f"<FeeSigner {self.address}>"

    @property
    def address(self) -> str:
        """The address that the contract must have as its fee signer."""
        return self._account.address

    def sign_transaction(self, transaction: Transaction) -> SignedTransaction:
        """Return a signed transaction of this account, which pays for the gas."""
        return transaction.signed_by(self._account)

    def sign(self, typed_data: TypedData) -> bytes:
        """Return the 65-byte signature (r, s, v) of the message; s is low, as the contract requires."""
        signable = encode_typed_data(full_message=typed_data.signable())
        return bytes(self._account.sign_message(signable).signature)
