"""Turns what remote signers return into signatures that contracts and nodes accept."""

from coincurve import PublicKey
from coincurve.utils import GROUP_ORDER_INT
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

from sweepapi.evm.chain.sending import V_OFFSET


def address_of(public_key: PublicKey) -> str:
    """Return the address of the account that a public key belongs to."""
    return to_checksum_address(keccak(public_key.format(compressed=False)[1:])[-20:])


def recoverable(compact: bytes, *, preimage: bytes, address: str) -> bytes:
    """Return the signature (r, s, v) with a low s and with the v under which the account's address is recovered.

    ``compact`` is r and s, 32 bytes each. Raises ``ValueError`` if it is not the account's signature of the preimage.
    """
    r, s = compact[:32], int.from_bytes(compact[32:], "big")
    if not 0 < s < GROUP_ORDER_INT:
        raise ValueError("not a signature on this curve")
    low_s = min(s, GROUP_ORDER_INT - s).to_bytes(32, "big")
    digest = keccak(preimage)
    for recovery_id in (0, 1):  # 2 and 3 mean an r above the curve's order, which does not happen
        signature = r + low_s + bytes([recovery_id])
        if address_of(PublicKey.from_signature_and_message(signature, digest, hasher=None)) == address:
            return signature[:-1] + bytes([V_OFFSET + recovery_id])
    raise ValueError("not a signature of this account")
