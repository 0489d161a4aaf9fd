"""Encrypts secrets that the service has to know and the database must not reveal, with AES-256-GCM.

What is encrypted under the first key can be read under all of them, so that a key can be replaced. A ciphertext is
bound to a context, such as the id of its row, and is of no use in another one.
"""

import base64
import secrets
from collections.abc import Sequence

from Crypto.Cipher import AES

KEY_BYTES = 32
_NONCE_BYTES, _TAG_BYTES = 12, 16


class UndecryptableError(Exception):
    """None of the keys decrypts this, or it belongs to another context."""


def encrypt(text: str, *, keys: Sequence[bytes], context: bytes) -> str:
    """Return the text, encrypted under the first key, in base64."""
    nonce = secrets.token_bytes(_NONCE_BYTES)
    cipher = AES.new(keys[0], AES.MODE_GCM, nonce=nonce, mac_len=_TAG_BYTES)
    cipher.update(context)
    encrypted, tag = cipher.encrypt_and_digest(text.encode())
    return base64.b64encode(nonce + tag + encrypted).decode()


def decrypt(stored: str, *, keys: Sequence[bytes], context: bytes) -> str:
    """Return what was encrypted; raises ``UndecryptableError``."""
    packed = base64.b64decode(stored)
    nonce, tag = packed[:_NONCE_BYTES], packed[_NONCE_BYTES : _NONCE_BYTES + _TAG_BYTES]
    for key in keys:
        cipher = AES.new(key, AES.MODE_GCM, nonce=nonce, mac_len=_TAG_BYTES)
        cipher.update(context)
        try:
            return cipher.decrypt_and_verify(packed[_NONCE_BYTES + _TAG_BYTES :], tag).decode()
        except ValueError:  # another key, or changed
            continue
    raise UndecryptableError
