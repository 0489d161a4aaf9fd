"""The code that an authenticator app would show now (RFC 6238, with SHA-1, six digits and thirty seconds)."""

import hmac
import time
from base64 import b32decode

STEP_SECONDS = 30


def code(secret: str) -> str:
    """Return the code for a secret in Base32."""
    counter = int(time.time()) // STEP_SECONDS
    digest = hmac.digest(b32decode(secret), counter.to_bytes(8), "sha1")
    offset = digest[-1] & 0xF
    number = int.from_bytes(digest[offset : offset + 4]) & 0x7FFFFFFF
    return f"{number % 10**6:06}"
