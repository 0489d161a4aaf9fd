"""The Ed25519 key that signs receipts and statements, and the public keys by which all that it signed can be checked.

The fee signer signs none of them: its key moves money, and may be where Ed25519 is not known.
"""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from typing import Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings
from jwt.api_jws import PyJWS

from sweepapi.crypto.canonical_json import canonical

ALGORITHM = "EdDSA"
_JWS = PyJWS()


@dataclass(frozen=True)
class PublicKey:
    """A public key as others know it."""

    raw: bytes  # 32 bytes

    @property
    def jwk(self) -> dict[str, str]:
        """The JSON Web Key, as RFC 8037 spells it."""
        return {**self._required, "kid": self.id, "alg": ALGORITHM, "use": "sig"}

    @property
    def id(self) -> str:
        """The thumbprint of RFC 7638."""
        return _base64url(sha256(canonical(self._required)).digest())

    @property
    def _required(self) -> dict[str, str]:
        return {"kty": "OKP", "crv": "Ed25519", "x": _base64url(self.raw)}


@dataclass(frozen=True)
class SigningKey:
    """The private key of this deployment."""

    private: Ed25519PrivateKey

    @classmethod
    def from_settings(cls) -> Self:
        return cls(_private_key(settings.PROOF_KEY))

    @cached_property
    def public(self) -> PublicKey:
        return PublicKey(self.private.public_key().public_bytes_raw())

    def sign(self, message: bytes) -> bytes:
        """Return the signature of 64 bytes, which is the same each time."""
        return self.private.sign(message)

    def jws(self, payload: bytes, *, kind: str) -> str:
        """Return the payload signed, in the compact form of RFC 7515; the same each time. Its header names the kind."""
        headers = {"kid": self.public.id, "typ": kind}
        return _JWS.encode(payload, self.private, algorithm=ALGORITHM, headers=headers)


def published_keys() -> Sequence[PublicKey]:
    """Return the current public key, then the retired ones."""
    return [SigningKey.from_settings().public, *(PublicKey(bytes.fromhex(key)) for key in settings.PROOF_RETIRED_KEYS)]


@cache
def _private_key(seed: str) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(seed))


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
