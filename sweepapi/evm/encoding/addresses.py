"""Addresses that mean the same on every chain, and the hash from which others are derived."""

import re
from functools import lru_cache

from eth_utils.crypto import keccak
from eth_utils.hexadecimal import encode_hex

_ADDRESS = re.compile(r"(?:0x)?[0-9a-fA-F]{40}", re.ASCII)
NATIVE_COIN = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE"
ZERO_ADDRESS = "0x0000000000000000000000000000000000000000"


def keccak_hex(data: bytes) -> str:
    """Return keccak256 of ``data`` as ``0x`` and 64 lower-case hex digits."""
    return encode_hex(keccak(data))


@lru_cache(maxsize=2**14)
def eip55(address: str) -> str:
    """Return the EIP-55 form of an address, which may lack its ``0x``; raises ``ValueError`` for anything else.

    Cached, because builds convert the same ones again and again.
    """
    if not _ADDRESS.fullmatch(address):
        raise ValueError("expected an address")
    digits = address[-40:].lower()
    pairs = zip(digits, keccak(digits.encode()).hex(), strict=False)  # as many digits of the hash as of the address
    return "0x" + "".join([digit.upper() if of_hash >= "8" else digit for digit, of_hash in pairs])
