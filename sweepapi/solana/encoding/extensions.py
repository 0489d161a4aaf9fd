"""Token-2022's extensions: what follows the base layout of a mint or a token account, as type, length and value.

The numbers and layouts are those of https://github.com/solana-program/token-2022 (``ExtensionType``).
"""

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType

from solders.pubkey import Pubkey

from sweepapi.solana.encoding.addresses import TOKEN_2022

TYPE_AT = 165  # the byte that tells mints from token accounts; a mint is padded up to it
HEADER_BYTES = 4
MULTISIG_BYTES = 355  # the programs never give this length to anything else
NONE: Mapping[int, bytes] = MappingProxyType({})


class AccountType(IntEnum):
    """The byte at ``TYPE_AT``."""

    MINT = 1
    ACCOUNT = 2


class Extension(IntEnum):
    """The extensions that the service reads."""

    TRANSFER_FEE_CONFIG = 1
    TRANSFER_FEE_AMOUNT = 2
    CONFIDENTIAL_TRANSFER_ACCOUNT = 5
    NON_TRANSFERABLE = 9
    CPI_GUARD = 11
    TRANSFER_HOOK = 14
    TOKEN_METADATA = 19
    PAUSABLE = 26


class MalformedExtensionsError(ValueError):
    """The bytes are not those of a mint or token account."""


def extensions_of(program: Pubkey, data: bytes, *, base_bytes: int, account_type: AccountType) -> Mapping[int, bytes]:
    """Return the values of an account's extensions by type; raises ``MalformedExtensionsError``."""
    if len(data) == base_bytes:
        return NONE
    is_extended = program == TOKEN_2022 and len(data) > TYPE_AT and len(data) != MULTISIG_BYTES
    if not is_extended or data[TYPE_AT] != account_type:
        raise MalformedExtensionsError("neither a mint nor a token account")
    found: dict[int, bytes] = {}
    at = TYPE_AT + 1
    while at + HEADER_BYTES <= len(data):
        kind = int.from_bytes(data[at : at + 2], "little")
        end = at + HEADER_BYTES + int.from_bytes(data[at + 2 : at + HEADER_BYTES], "little")
        if kind == 0:  # the rest is not used yet
            break
        if end > len(data) or kind in found:
            raise MalformedExtensionsError("an extension is cut off, or there twice")
        found[kind] = data[at + HEADER_BYTES : end]
        at = end
    return found


def key(value: bytes, *, at: int) -> Pubkey | None:
    """Return the key at this position; None for the zero key, which means that there is none."""
    found = Pubkey.from_bytes(_part(value, at, Pubkey.LENGTH))
    return None if found == Pubkey.default() else found


def number(value: bytes, *, at: int, length: int) -> int:
    """Return the unsigned integer of this length at this position."""
    return int.from_bytes(_part(value, at, length), "little")


def _part(value: bytes, at: int, length: int) -> bytes:
    if len(value) < at + length:
        raise MalformedExtensionsError("an extension is too short")
    return value[at : at + length]
