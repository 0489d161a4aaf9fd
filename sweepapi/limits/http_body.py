"""Reads the body of an HTTP response within bounds on time and size, so that no server can hold a thread for long."""

import time

import requests

CHUNK_BYTES = 2**16


class BodyTooLongError(ValueError):
    """The body is longer than the caller reads."""


def read_body(response: requests.Response, *, deadline: float, max_bytes: int) -> bytes:
    """Return the body of a streamed response; ``deadline`` in monotonic seconds is checked after every chunk.

    Raises ``BodyTooLongError``, or ``ValueError`` if the response is too slow.
    """
    body = bytearray()
    while chunk := response.raw.read1(CHUNK_BYTES, decode_content=True):
        body += chunk
        if len(body) > max_bytes:
            raise BodyTooLongError(f"response has more than {max_bytes} bytes")
        if time.monotonic() > deadline:
            raise ValueError("response is too slow")
    return bytes(body)
