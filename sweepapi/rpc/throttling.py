"""Recognises that a provider limits our requests: by HTTP status and ``Retry-After``, or by an error in its JSON."""

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from sweepapi.rpc.calls import is_execution_failure

# Alchemy, Ankr, Chainstack, Infura and QuickNode answer with these codes or words, some of them with HTTP status 200.
TOO_MANY_REQUESTS = 429
WORDS = re.compile(
    r"rate.?limit|too many requests|requests? rate|request count|per second|/ ?second|\bRPS\b|compute units|throttled",
    re.IGNORECASE,
)


def is_throttled(status: int, headers: Mapping[str, str]) -> bool:
    """Whether an HTTP response asks us to come back later."""
    return status == HTTPStatus.TOO_MANY_REQUESTS or (
        status == HTTPStatus.SERVICE_UNAVAILABLE and "Retry-After" in headers
    )


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a response asks us to wait, given as a number or a date; None if it does not say."""
    value = headers.get("Retry-After", "").strip()
    if value.isascii() and value.isdigit() and len(value) <= len("1000000000"):
        return float(value)
    try:
        return parsedate_to_datetime(value).timestamp() - time.time()
    except (ValueError, OverflowError):
        return None


def is_throttling_error(response: object) -> bool:
    """Whether a JSON-RPC response is a refusal by rate; the text of a contract that reverts is never taken for one."""
    error = response.get("error") if isinstance(response, dict) else None
    if not isinstance(error, dict) or is_execution_failure(error):
        return False
    return error.get("code") == TOO_MANY_REQUESTS or WORDS.search(str(error.get("message"))) is not None
