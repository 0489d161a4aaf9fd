"""Addresses that mean the same on every chain, and the hash from which others are derived."""

from functools import lru_cache

from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak
from eth_utils.hexadecimal import encode_hex

NATIVE_COIN = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE"
ZERO_ADDRESS = "0x0000000000000000000000000000000000000000"


def keccak_hex(data: bytes) -> str:
    """Return keccak256 of ``data`` as ``0x`` and 64 lower-case hex digits."""
    return encode_hex(keccak(data))


@lru_cache(maxsize=2**14)
def eip55(address: str) -> str:
    """Return the EIP-55 form of an address; cached, because builds convert the same ones again and again."""
    return to_checksum_address(address)
