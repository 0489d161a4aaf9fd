"""The format of API keys: how they are generated, parsed and hashed. Nothing here uses the database.

A key is ``swp_<live|test>_<keyId>_<secret>``. The key id (12 base62 characters) is public and identifies the key in the
admin and in logs. The secret is 256 random bits in base62 (43 characters) and a checksum (6 characters: the CRC-32 of
everything before it), by which secret scanners and our own parser recognise a real key without a lookup.
"""

import hmac
import re
import secrets
import string
import zlib
from dataclasses import dataclass
from typing import NamedTuple

from django.core.exceptions import ImproperlyConfigured

from sweepapi.modes import Mode

KEY_ID_LENGTH = 12

_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
_SECRET_LENGTH = 43
_CHECKSUM_LENGTH = 6
_FORMAT = re.compile(
    rf"(?P<body>swp_(?P<mode>{'|'.join(Mode.values)})_(?P<key_id>[0-9A-Za-z]{{{KEY_ID_LENGTH}}})_[0-9A-Za-z]{{{_SECRET_LENGTH}}})"
    rf"(?P<checksum>[0-9A-Za-z]{{{_CHECKSUM_LENGTH}}})",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class NewKey:
    """A generated key. Its plaintext is not stored anywhere."""

    key_id: str
    plaintext: str

    def __repr__(self) -> str:
        return f"NewKey(key_id={self.key_id!r})"


class PublicPart(NamedTuple):
    """What a key says without its secret."""

    mode: Mode
    key_id: str


def generate(mode: Mode) -> NewKey:
    """Generate a key from the operating system's randomness."""
    key_id = "".join(secrets.choice(_ALPHABET) for _ in range(KEY_ID_LENGTH))
    body = f"swp_{mode}_{key_id}_{_base62(secrets.randbits(256), _SECRET_LENGTH)}"
    return NewKey(key_id=key_id, plaintext=body + _checksum(body))


def public_part(plaintext: str) -> PublicPart | None:
    """Return the mode and the id of a well-formed key with a correct checksum; None for anything else."""
    match = _FORMAT.fullmatch(plaintext)
    if match is None or match["checksum"] != _checksum(match["body"]):
        return None
    return PublicPart(Mode(match["mode"]), match["key_id"])


def digest_of(plaintext: str, *, pepper: str) -> str:
    """Return the digest that is stored of a key: HMAC-SHA256 under the pepper, as 64 hex digits.

    Raises ``ImproperlyConfigured`` without a pepper, as a command may be that needs none.
    """
    if not pepper:
        raise ImproperlyConfigured("API_KEY_PEPPER must be set.")
    return hmac.digest(pepper.encode(), plaintext.encode(), "sha256").hex()


def _checksum(body: str) -> str:
    return _base62(zlib.crc32(body.encode()), _CHECKSUM_LENGTH)


def _base62(number: int, length: int) -> str:
    digits = ""
    for _ in range(length):
        number, digit = divmod(number, len(_ALPHABET))
        digits = _ALPHABET[digit] + digits
    return digits
