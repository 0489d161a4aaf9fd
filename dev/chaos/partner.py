"""The partner's calls to the API, each of them in the journal with its outcome, an unknown one included."""

from dataclasses import dataclass, field
from typing import Any

import requests

from dev.chaos.journal import Journal
from dev.chaos.world import accepts
from dev.errors import WaitTimeoutError
from dev.waiting import wait_until

TIMEOUT_SECONDS = 8
RETURN_SECONDS = 30
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
    """One partner at one web, for one thread at a time."""

    def __init__(self, base_url: str, api_key: str, journal: Journal) -> None:
        self.base_url = base_url
        self._journal = journal
        self._session = requests.Session()
        self._session.headers["x-api-key"] = api_key

    def post(self, op: str, path: str, body: dict[str, Any], **facts: Any) -> Reply:  # noqa: ANN401 - JSON
        """Make a request once; if no server listens, wait for its return before the next one."""
        asked = self._journal.add("asked", op=op, path=path, **facts)
        reply = self._send("POST", path, json=body)
        self._journal.add("got", asked=asked, op=op, http=reply.http, code=reply.code, **_told(reply), **facts)
        if reply.http == NO_ANSWER:
            self._wait_for_return()
        return reply

    def get(self, path: str, **query: str) -> Reply:
        return self._send("GET", path, params=query)

    def _send(self, method: str, path: str, **options: Any) -> Reply:  # noqa: ANN401 - options of requests
        try:
            response = self._session.request(method, self.base_url + path, timeout=TIMEOUT_SECONDS, **options)
            envelope = response.json()
        except (requests.RequestException, ValueError):
            return Reply(NO_ANSWER)
        if not envelope["ok"]:
            return Reply(response.status_code, code=envelope["error"]["code"])
        return Reply(response.status_code, envelope["data"])

    def _wait_for_return(self) -> None:
        try:
            wait_until(lambda: accepts(self.base_url), within_seconds=RETURN_SECONDS, what="the return of the API")
        except WaitTimeoutError:
            self._journal.add("away", url=self.base_url)


def _told(reply: Reply) -> dict[str, Any]:
    """Return what an answer says about a sweep's state, for the journal."""
    return {name: reply.data[name] for name in ("sweepId", "status") if name in reply.data}
