"""The HTTP requests to one endpoint: its connections, deadlines, limits, and what its status codes mean.

Errors never quote the URL, which often contains a key.
"""

import os
import time
from collections.abc import Mapping
from http import HTTPStatus
from weakref import WeakSet

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError
from urllib3.exceptions import TimeoutError as HttpTimeoutError

from sweepapi.limits.http_body import BodyTooLongError, read_body
from sweepapi.rpc.errors import BadResponseError, BatchRefusedError, NoAnswerError, ThrottledError, TooLargeError
from sweepapi.rpc.throttling import is_throttled, retry_after_seconds

MAX_CONNECTIONS = 16
JSON = {"Content-Type": "application/json"}
TOO_LARGE = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE})

_endpoints: "WeakSet[Endpoint]" = WeakSet()


class Endpoint:
    """A URL that takes or gives JSON; thread-safe, and a forked process opens connections of its own."""

    def __init__(self, *, url: str, name: str, headers: Mapping[str, str] | None = None) -> None:
        self._url = url
        self._name = name  # for errors
        self._headers = headers or {}
        self.open_session()
        _endpoints.add(self)

    def open_session(self) -> None:
        session = requests.Session()
        adapter = HTTPAdapter(pool_maxsize=MAX_CONNECTIONS, max_retries=0)
        session.mount("http://", adapter)
        session.mount("https://", adapter)
        # Proxies and certificates of the environment are looked up once; requests does it for every request.
        environment = session.merge_environment_settings(self._url, {}, None, None, None)
        session.proxies, session.verify = environment["proxies"], environment["verify"]
        session.trust_env = False
        self._session, self._adapter = session, adapter
        # Prepared once, and sent by the adapter, because the session prepares each request again and looks for cookies.
        self._prepared = session.prepare_request(requests.Request("POST", self._url, headers={**JSON, **self._headers}))

    def post(self, body: bytes, timeout_seconds: float, *, max_bytes: int) -> bytes:
        """Return the response's body; raises a ``BadResponseError`` that says what went wrong."""
        request = self._prepared.copy()
        request.prepare_body(body, None)
        return self._answer(request, timeout_seconds, max_bytes)

    def get(self, path: str, query: Mapping[str, str], timeout_seconds: float, *, max_bytes: int) -> bytes:
        """Return the body that a path below the URL has; raises as ``post``."""
        request = self._prepared.copy()
        request.prepare_method("GET")
        request.prepare_url(f"{self._url.rstrip('/')}{path}", query)
        return self._answer(request, timeout_seconds, max_bytes)

    def _answer(self, request: requests.PreparedRequest, timeout_seconds: float, max_bytes: int) -> bytes:
        failure: BadResponseError
        try:
            return self._send(request, timeout_seconds, max_bytes)
        except BodyTooLongError as error:
            failure = TooLargeError(self._message(error))
        except (requests.Timeout, requests.ConnectionError, HttpTimeoutError) as error:
            failure = NoAnswerError(self._message(error))
        except (requests.RequestException, HTTPError, ValueError) as error:
            failure = BadResponseError(self._message(error))
        raise failure  # not chained: the text of these errors contains the URL

    def _send(self, request: requests.PreparedRequest, timeout_seconds: float, max_bytes: int) -> bytes:
        deadline = time.monotonic() + timeout_seconds
        session = self._session
        # An adapter follows no redirect, which would send the calls to another host.
        with self._adapter.send(
            request,
            stream=True,
            timeout=timeout_seconds,
            verify=session.verify or False,
            cert=session.cert,
            proxies=session.proxies,
        ) as response:
            if is_throttled(response.status_code, response.headers):
                message = f"{self._name} limits our requests (HTTP {response.status_code})"
                raise ThrottledError(message, retry_after_seconds=retry_after_seconds(response.headers))
            if response.status_code != HTTPStatus.OK:
                refused = BatchRefusedError if response.status_code in TOO_LARGE else BadResponseError
                raise refused(f"{self._name} answered with HTTP {response.status_code}")
            return read_body(response, deadline=deadline, max_bytes=max_bytes)

    def _message(self, error: Exception) -> str:
        return f"{self._name} did not answer ({type(error).__name__})"


def _open_sessions() -> None:
    for endpoint in _endpoints:
        endpoint.open_session()


os.register_at_fork(after_in_child=_open_sessions)  # two processes must not read from one connection
