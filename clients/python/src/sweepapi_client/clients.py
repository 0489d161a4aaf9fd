"""The two clients: the same operations, blocking or awaited, on a connection of their own."""

from __future__ import annotations

import re
from typing import Any, Self

import httpx2

from sweepapi_client.operations import SweepOperations
from sweepapi_client.runners import AsyncRunner, SyncRunner

RETRIES = 2
TIMEOUT_SECONDS = 30.0


class SweepClient(SweepOperations[SyncRunner]):
    """The operations of one key; each returns the answer's data. Close it, or use it in a `with` block.

    `base_url` is such as `https://api.example.com`. A request that failed for a while is repeated `retries` times;
    `timeout_seconds` is how long one waits to connect, and for each part of the answer.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        retries: int = RETRIES,
        timeout_seconds: float = TIMEOUT_SECONDS,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        self._http = httpx2.Client(transport=transport, **_settings(base_url, api_key, timeout_seconds))
        super().__init__(SyncRunner(self._http, retries))

    def close(self) -> None:
        """Close its connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


class AsyncSweepClient(SweepOperations[AsyncRunner]):
    """As `SweepClient`, for asyncio: each operation is awaited, and a task that is cancelled ends its request."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        retries: int = RETRIES,
        timeout_seconds: float = TIMEOUT_SECONDS,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._http = httpx2.AsyncClient(transport=transport, **_settings(base_url, api_key, timeout_seconds))
        super().__init__(AsyncRunner(self._http, retries))

    async def aclose(self) -> None:
        """Close its connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()


def _settings(base_url: str, api_key: str, timeout_seconds: float) -> dict[str, Any]:
    """Return what both connections have in common; raises ValueError for a key that no header can have."""
    if not re.fullmatch("[!-~]+", api_key):
        # The library's error would show the key.
        raise ValueError("the API key is empty, or has spaces or characters that no key has")
    return {
        "base_url": base_url,
        "headers": {"x-api-key": api_key},
        "timeout": timeout_seconds,
        "follow_redirects": False,  # it would take the key to another host
    }
