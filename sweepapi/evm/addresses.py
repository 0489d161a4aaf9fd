"""The addresses that mean the same on every chain, and the one way to bring others into EIP-55 form."""

from eth_utils.address import is_address, to_checksum_address
from eth_utils.crypto import keccak
from eth_utils.hexadecimal import encode_hex

NATIVE_COIN = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE"
ZERO_ADDRESS = "0x0000000000000000000000000000000000000000"

__all__ = ["NATIVE_COIN", "ZERO_ADDRESS", "is_address", "keccak_hex", "to_checksum_address"]


def keccak_hex(data: bytes) -> str:
    """Return keccak256 of ``data`` as ``0x`` and 64 lower-case hex digits."""
    return encode_hex(keccak(data))
