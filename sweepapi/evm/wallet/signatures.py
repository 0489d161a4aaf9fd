"""Signatures as wallets return them: of a key in several spellings, wrapped for an account without code, or of code.

Sources: EIP-191 and EIP-712 for what keys sign, ERC-2098 for 64 bytes, ERC-6492 for the wrapper. Nothing here has a
signature in its text or in its errors.
"""

from coincurve import PublicKey
from coincurve.utils import GROUP_ORDER_INT

from sweepapi.evm.chain.sending import V_OFFSET
from sweepapi.evm.encoding.abi import Values
from sweepapi.evm.signers.recovery import address_of
from sweepapi.rpc.errors import BadResponseError

MAX_SIGNATURE_BYTES = 16 * 1024
KEY_SIGNATURE_BYTES, COMPACT_SIGNATURE_BYTES = 65, 64
_WORD = 32
_PARITY_BIT = 255  # of the second word in ERC-2098
_WRAPPER_SUFFIX = bytes.fromhex("6492" * 16)
_WRAPPER = Values("(address,bytes,bytes)")  # the factory, its call, and the signature


def key_signature(signature: bytes) -> bytes | None:
    """Return the signature of a key as r, s and v: 65 bytes with a low s, and 27 or 28 for v.

    None if these bytes are not a key's signature.
    """
    if len(signature) not in (KEY_SIGNATURE_BYTES, COMPACT_SIGNATURE_BYTES):
        return None
    r, s = int.from_bytes(signature[:_WORD]), int.from_bytes(signature[_WORD : 2 * _WORD])
    if len(signature) == KEY_SIGNATURE_BYTES:
        v = signature[-1]
        parity = v - V_OFFSET if v >= V_OFFSET else v
    else:
        parity, s = s >> _PARITY_BIT, s & (1 << _PARITY_BIT) - 1
    if parity not in (0, 1) or not 0 < r < GROUP_ORDER_INT or not 0 < s < GROUP_ORDER_INT:
        return None
    if s > GROUP_ORDER_INT // 2:
        s, parity = GROUP_ORDER_INT - s, 1 - parity
    return r.to_bytes(_WORD) + s.to_bytes(_WORD) + bytes([V_OFFSET + parity])


def recovered(digest: bytes, signature: bytes) -> str | None:
    """Return the account whose key signed the digest, given what ``key_signature`` returns; None if no key did."""
    recoverable = signature[:-1] + bytes([signature[-1] - V_OFFSET])
    try:
        return address_of(PublicKey.from_signature_and_message(recoverable, digest, hasher=None))
    except ValueError:
        return None


def unwrapped(signature: bytes) -> bytes | None:
    """Return the signature inside ERC-6492's wrapper; None if it is not wrapped."""
    if not signature.endswith(_WRAPPER_SUFFIX):
        return None
    try:
        _, _, inner = _WRAPPER.decode(signature[: -len(_WRAPPER_SUFFIX)])
    except BadResponseError:
        return None
    return bytes(inner)
