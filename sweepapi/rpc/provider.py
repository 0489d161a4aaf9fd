"""One endpoint of a network: its HTTP requests, its deadline, its health, and the proof that it is on that network."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError
from web3.providers.base import JSONBaseProvider
from web3.types import RPCEndpoint

from sweepapi.http_body import read_body
from sweepapi.nesting import is_nested_deeper
from sweepapi.rpc.calls import Call, read
from sweepapi.rpc.errors import BadResponseError, BatchRefusedError

CIRCUIT_FAILURES = 3
CIRCUIT_SECONDS = 10.0
PROOF_RECHECK_SECONDS = 600.0
ERROR_RATE_WEIGHT = 0.2
MAX_CONNECTIONS = 16
JSON = {"Content-Type": "application/json"}
MAX_RESPONSE_BYTES = 2**26
MAX_RESPONSE_DEPTH = 32
# Nodes limit the calls of a batch: geth and Alchemy to a thousand, Erigon to a hundred, some to twenty.
MOST_CALLS, LEAST_CALLS = 1_000, 20
TOO_LARGE = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE})


@dataclass(frozen=True)
class Head:
    """The newest block that a response shows: its number, and its time where the response has it."""

    number: int
    timestamp: int | None = None  # seconds since 1970


@dataclass(frozen=True)
class Target:
    """The network that a provider has to be on, and how its responses show that and their head."""

    name: str  # for logs
    proof: Call  # its result must be ``expected``
    expected: object
    head_of: Callable[[Call, Any], Head | None]  # None if the call does not ask for the head
    lagging_blocks: int  # a provider whose head is further behind than this is asked after the others
    max_head_age_seconds: int | None = None  # None: a head is never too old


@dataclass
class Health:
    """What a provider's responses have shown about it."""

    failures: int = 0  # in a row
    error_rate: float = 0.0  # weighted towards the latest responses
    open_until: float = 0.0  # monotonic seconds; the provider comes last until then
    proven_at: float | None = None  # None until it was found to be on the right network
    head_number: int = 0

    def succeeded(self) -> None:
        """Reset the failures, which closes the circuit."""
        self.failures = 0
        self.error_rate *= 1 - ERROR_RATE_WEIGHT

    def failed(self, now: float) -> None:
        """Count a failure; open the circuit after several in a row, for longer each time."""
        self.failures += 1
        self.error_rate += ERROR_RATE_WEIGHT * (1 - self.error_rate)
        if self.failures >= CIRCUIT_FAILURES:
            self.open_until = now + CIRCUIT_SECONDS * min(self.failures - CIRCUIT_FAILURES + 1, 30)


class Provider:
    """One endpoint of a network; thread-safe, one per process and URL."""

    def __init__(self, *, url: str, target: Target, position: int) -> None:
        self.position = position
        self.health = Health()
        self._url = url
        self._target = target
        self._max_calls = MOST_CALLS
        self._session = requests.Session()
        adapter = HTTPAdapter(pool_maxsize=MAX_CONNECTIONS, max_retries=0)
        self._session.mount("http://", adapter)
        self._session.mount("https://", adapter)
        # Proxies and certificates of the environment are looked up once; requests does it for every request.
        environment = self._session.merge_environment_settings(url, {}, None, None, None)
        self._session.proxies, self._session.verify = environment["proxies"], environment["verify"]
        self._session.trust_env = False

    def __repr__(self) -> str:
        # The URL often contains a key, so it never leaves this object.
        return f"<provider {self.position} of {self._target.name}>"

    def batch(self, calls: Sequence[Call], *, timeout_seconds: float) -> list[Any]:
        """Make all calls in one round trip and return their decoded results in order.

        More calls than the provider takes at once need several round trips.

        Raises ``BadResponseError`` if the provider can't be reached, is on another network, or gives an unusable
        response.
        """
        proves = self._proof_is_due()
        if proves:
            self._max_calls = MOST_CALLS
        sent = [self._target.proof, *calls] if proves else list(calls)
        try:
            raw = self._responses(sent, deadline=time.monotonic() + timeout_seconds)
            values = [read(call, response) for call, response in zip(sent, raw, strict=True)]
            if proves:
                self._accept_proof(values.pop(0))
            self._note_head(calls, values)
        except BadResponseError:
            self.health.failed(time.monotonic())
            raise
        self.health.succeeded()
        return values

    def _note_head(self, calls: Sequence[Call], values: Sequence[Any]) -> None:
        for call, value in zip(calls, values, strict=True):
            head = self._target.head_of(call, value)
            if head is not None:
                self._accept_head(head)

    def _accept_head(self, head: Head) -> None:
        """Refuse a head too far from the server's clock: a stuck node has old prices, a false time shifts deadlines."""
        max_age = self._target.max_head_age_seconds
        if max_age is not None and head.timestamp is not None and abs(time.time() - head.timestamp) > max_age:
            raise BadResponseError(f"{self!r} has a head that is too far from the server's clock")
        self.health.head_number = head.number

    def _proof_is_due(self) -> bool:
        proven_at = self.health.proven_at
        return proven_at is None or time.monotonic() - proven_at > PROOF_RECHECK_SECONDS

    def _accept_proof(self, shown: object) -> None:
        if shown != self._target.expected:
            self.health.proven_at = None
            self.health.failures = max(self.health.failures, CIRCUIT_FAILURES)
            raise BadResponseError(f"{self!r} is on another network: {self._target.proof.method} is {shown}")
        self.health.proven_at = time.monotonic()

    def _responses(self, calls: Sequence[Call], *, deadline: float) -> list[Any]:
        """Return the response to each call; a batch that is too large is halved, and so are later ones for a while."""
        raw: list[Any] = []
        max_calls = self._max_calls
        while len(raw) < len(calls):
            part = calls[len(raw) : len(raw) + max_calls]
            try:
                raw += self._post(part, deadline - time.monotonic())
            except BatchRefusedError:
                if len(part) <= LEAST_CALLS:
                    raise
                max_calls = max(len(part) // 2, LEAST_CALLS)
        self._max_calls = max_calls
        return raw

    def _post(self, calls: Sequence[Call], timeout_seconds: float) -> list[Any]:
        # A codec of its own numbers the calls of each batch from zero.
        batch = JSONBaseProvider().encode_batch_rpc_request([(RPCEndpoint(call.method), call.params) for call in calls])
        try:
            by_id = {response["id"]: response for response in _parsed(self._fetch(batch, timeout_seconds))}
            return [by_id[i] for i in range(len(calls))]
        except (requests.RequestException, HTTPError, ValueError, TypeError, KeyError) as error:
            refused = BatchRefusedError if _refuses_batch(error) else BadResponseError
            # Not chained: the text of these errors contains the URL.
            raise refused(f"{self!r} did not answer {len(calls)} calls ({type(error).__name__})") from None

    def _fetch(self, batch: bytes, timeout_seconds: float) -> bytes:
        """Return the response's body; the deadline is checked after every chunk."""
        deadline = time.monotonic() + timeout_seconds
        # A redirect would send the calls to another host.
        with self._session.post(
            self._url, data=batch, headers=JSON, timeout=timeout_seconds, stream=True, allow_redirects=False
        ) as response:
            response.raise_for_status()
            return read_body(response, deadline=deadline, max_bytes=MAX_RESPONSE_BYTES)


def _refuses_batch(error: Exception) -> bool:
    """Return whether an error may mean that a batch was too large: its status says so, or calls were not answered."""
    if isinstance(error, requests.HTTPError):
        return error.response.status_code in TOO_LARGE
    return isinstance(error, TypeError | KeyError)


def _parsed(body: bytes) -> Any:  # noqa: ANN401 - JSON of any shape
    if is_nested_deeper(body.decode(), than=MAX_RESPONSE_DEPTH):
        raise ValueError("response exceeds the maximum depth")
    return JSONBaseProvider.decode_rpc_response(body)
