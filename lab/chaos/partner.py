"""The partner's calls to the API, each of them in the journal with its outcome, an unknown one included.

As a load balancer does, it asks another web for a while where one has not answered.
"""

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import requests

from lab.chaos.journal import Journal

TIMEOUT_SECONDS = 8
AVOIDED_SECONDS = 3
NO_ANSWER = 0


@dataclass(frozen=True)
class Reply:
    """What came back; the HTTP status is 0 if the outcome is unknown."""

    http: int
    data: dict[str, Any] = field(default_factory=dict)
    code: str = ""  # of an error

    @property
    def is_unknown(self) -> bool:
        """Whether the request may or may not have had an effect."""
        return self.http == NO_ANSWER or self.http >= 500


class PartnerApi:
    """One partner, for one thread at a time."""

    _avoided_until: ClassVar[dict[str, float]] = {}  # by web, whichever partner and story it did not answer

    def __init__(self, base_urls: Sequence[str], api_key: str, journal: Journal) -> None:
        self._base_urls = base_urls
        self._journal = journal
        self._session = requests.Session()
        self._session.headers["x-api-key"] = api_key

    def post(self, op: str, path: str, body: dict[str, Any], **facts: Any) -> Reply:  # noqa: ANN401 - JSON
        """Make a request once."""
        asked = self._journal.add("asked", op=op, path=path, **facts)
        reply = self._send("POST", path, json=body)
        self._journal.add("got", asked=asked, op=op, http=reply.http, code=reply.code, **_told(reply), **facts)
        return reply

    def get(self, path: str, **query: str) -> Reply:
        return self._send("GET", path, params=query)

    def _send(self, method: str, path: str, **options: Any) -> Reply:  # noqa: ANN401 - options of requests
        base_url = self._choose()
        try:
            response = self._session.request(method, base_url + path, timeout=TIMEOUT_SECONDS, **options)
            envelope = response.json()
        except (requests.RequestException, ValueError):
            self._avoided_until[base_url] = time.monotonic() + AVOIDED_SECONDS
            return Reply(NO_ANSWER)
        if not envelope["ok"]:
            return Reply(response.status_code, code=envelope["error"]["code"])
        return Reply(response.status_code, envelope["data"])

    def _choose(self) -> str:
        """Return a web at random of those that are not avoided; if all are, wait for the first."""
        avoided_until = {url: self._avoided_until.get(url, 0.0) for url in self._base_urls}
        first = min(avoided_until.values())
        time.sleep(max(first - time.monotonic(), 0))
        now = max(first, time.monotonic())
        return random.choice([url for url, until in avoided_until.items() if until <= now])


def _told(reply: Reply) -> dict[str, Any]:
    """Return what an answer says about a sweep's state, for the journal."""
    return {name: reply.data[name] for name in ("sweepId", "status") if name in reply.data}
