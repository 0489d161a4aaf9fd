"""The limit of a plan with the swap API: so many requests within a sliding window, as its answers tell."""

import math
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from threading import Lock

from dev.solana.swap_api.server import Response


@dataclass
class PlanLimit:
    """Admits so many requests within so many seconds, by the machine's clock."""

    requests: int = 60  # the free plan's
    seconds: float = 60.0
    admitted: int = 0
    refused: int = 0
    _admitted_at: deque[float] = field(default_factory=deque)
    _lock: Lock = field(default_factory=Lock)

    def __call__(self) -> Mapping[str, str] | Response:
        """Return the headers of a request that is admitted, or a 429 with them."""
        with self._lock:
            now = time.time()
            while self._admitted_at and self._admitted_at[0] <= now - self.seconds:
                self._admitted_at.popleft()
            is_admitted = len(self._admitted_at) < self.requests
            if is_admitted:
                self._admitted_at.append(now)
                self.admitted += 1
            else:
                self.refused += 1
            headers = {
                "x-ratelimit-limit": str(self.requests),
                "x-ratelimit-remaining": str(self.requests - len(self._admitted_at)),
                "x-ratelimit-reset": str(math.ceil(min([*self._admitted_at, now]) + self.seconds)),
            }
        return headers if is_admitted else Response(HTTPStatus.TOO_MANY_REQUESTS, b'{"error": "slow down"}', headers)
