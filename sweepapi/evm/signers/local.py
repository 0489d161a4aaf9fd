"""A fee signer whose key is in this process's memory, from the environment or from an encrypted keystore file."""

import re
from pathlib import Path

from eth_account import Account
from eth_account.signers.local import LocalAccount

from sweepapi.evm.chain.errors import FeeSignerSettingsError
from sweepapi.evm.chain.sending import signature_by
from sweepapi.evm.signers.fee_signer import FeeSigner


class LocalFeeSigner(FeeSigner):
    """Signs with a private key; its bytes never leave this object."""

    def __init__(self, account: LocalAccount) -> None:
        super().__init__(account.address)
        self._account = account

    @classmethod
    def from_key(cls, key: str) -> "LocalFeeSigner":
        """Take a key from ``FEE_SIGNER_KEY``; raises ``FeeSignerSettingsError``."""
        problem = FeeSignerSettingsError("FEE_SIGNER_KEY must be a private key, 0x and 64 hex digits.")
        if re.fullmatch(r"0x[0-9a-fA-F]{64}", key) is None:
            raise problem
        try:
            return cls(Account.from_key(key))
        except ValueError:  # not chained: the message may contain the key
            raise problem from None

    @classmethod
    def from_keystore(cls, *, keystore: str, password_file: str) -> "LocalFeeSigner":
        """Decrypt a keystore file (Web3 Secret Storage, version 3); raises ``FeeSignerSettingsError``."""
        encrypted = _read("FEE_SIGNER_KEYSTORE", keystore)
        password = _read("FEE_SIGNER_PASSWORD_FILE", password_file).rstrip("\r\n")
        try:
            return cls(Account.from_key(Account.decrypt(encrypted, password)))
        except (ValueError, LookupError, TypeError, AttributeError, NotImplementedError):  # not chained, as above
            raise FeeSignerSettingsError(
                "FEE_SIGNER_KEYSTORE must be a keystore file (version 3) that the password in "
                "FEE_SIGNER_PASSWORD_FILE decrypts."
            ) from None

    def _signature_of(self, preimage: bytes) -> bytes:
        return signature_by(self._account, preimage)


def _read(variable: str, path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", "it is not text")
        raise FeeSignerSettingsError(f"{variable} must name a file that can be read: {reason}.") from None
