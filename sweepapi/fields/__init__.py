"""Model fields for values on chain, each also guarded by a check in the database."""

from sweepapi.fields.amounts import UINT256_MAX, SignedAmountField, Uint256Field
from sweepapi.fields.text import (
    AccountAddressField,
    AddressField,
    BadChecksumError,
    Hash32Field,
    NetworkField,
    TransactionHashField,
    checksum_address,
    normal_hash,
)

__all__ = [
    "UINT256_MAX",
    "AccountAddressField",
    "AddressField",
    "BadChecksumError",
    "Hash32Field",
    "NetworkField",
    "SignedAmountField",
    "TransactionHashField",
    "Uint256Field",
    "checksum_address",
    "normal_hash",
]
