"""Reads the body of an HTTP response within bounds on time and size, so that no server can hold a thread for long."""

import time

import requests

CHUNK_BYTES = 2**16


def read_body(response: requests.Response, *, deadline: float, max_bytes: int) -> bytes:
    """Return the body of a streamed response; ``deadline`` in monotonic seconds is checked after every chunk.

    Raises ``ValueError`` if the response is too slow or too long.
    """
    body = bytearray()
    while chunk := response.raw.read1(CHUNK_BYTES, decode_content=True):
        body += chunk
        if time.monotonic() > deadline or len(body) > max_bytes:
            raise ValueError("response is too slow or too long")
    return bytes(body)
