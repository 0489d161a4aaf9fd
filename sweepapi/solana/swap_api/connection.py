"""The HTTP connection to one of the swap API's interfaces: its key, and bounds on the time and size of an answer.

The URL may contain a key, so neither leaves this module: not in an error, a log or a redirect.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError

from sweepapi.limits.http_body import read_body
from sweepapi.solana.swap_api.pace import Pace
from sweepapi.solana.swap_api.quotes import SwapApiError

MAX_CONNECTIONS = 16


@dataclass(frozen=True)
class Reply:
    """What was answered, whatever it is."""

    status: int
    body: bytes

    def required(self) -> bytes:
        """Return the body of a 200; raises ``SwapApiError`` for another status."""
        if self.status != requests.codes.ok:
            raise SwapApiError(f"the swap API answered with status {self.status}")
        return self.body


class SwapApiConnection:
    """An interface below one URL; thread-safe, one per process. The pace learns from each answer."""

    def __init__(self, url: str, key: str, pace: Pace) -> None:
        self._url = url.rstrip("/")
        self._pace = pace
        self._session = requests.Session()
        self._session.headers.update({"Accept": "application/json", "x-api-key": key})
        adapter = HTTPAdapter(pool_maxsize=MAX_CONNECTIONS, max_retries=0)
        self._session.mount("http://", adapter)
        self._session.mount("https://", adapter)

    def get(self, path: str, query: Mapping[str, str], *, seconds: float, max_bytes: int) -> Reply:
        """Return the answer; the time limit is checked after every chunk.

        Raises ``SwapApiError`` if there is none in time, or if it is longer.
        """
        deadline = monotonic() + seconds
        try:
            # A redirect would send the key to another host.
            with self._session.get(
                f"{self._url}{path}", params=query, timeout=seconds, stream=True, allow_redirects=False
            ) as response:
                body = read_body(response, deadline=deadline, max_bytes=max_bytes)
        except (requests.RequestException, HTTPError, ValueError) as error:
            # Not chained: the text of these errors contains the URL.
            raise SwapApiError(f"the swap API did not answer ({type(error).__name__})", is_temporary=True) from None
        self._pace.learn(response.status_code, response.headers)
        return Reply(response.status_code, body)
