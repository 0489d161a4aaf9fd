"""JSON-RPC over several providers of one chain: deadlines, failover, health, and agreement between providers.

A *batch* is one HTTP request with any number of calls, and the unit in which the service counts round trips. Each call
brings the function that checks and decodes its response, so a provider that returns nonsense fails over like one that
does not respond.
"""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import requests
import structlog
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError
from web3.providers.base import JSONBaseProvider
from web3.types import RPCEndpoint

from sweepapi.evm import responses
from sweepapi.evm.errors import BadResponseError, CallFailedError, ChainUnavailableError
from sweepapi.evm.responses import Block
from sweepapi.nesting import is_nested_deeper

log = structlog.get_logger(__name__)

CIRCUIT_FAILURES = 3
CIRCUIT_SECONDS = 10.0
CHAIN_ID_RECHECK_SECONDS = 600.0
LAGGING_BLOCKS = 5
ERROR_RATE_WEIGHT = 0.2
MIN_TIMEOUT_SECONDS = 0.05
MAX_CONNECTIONS = 16
JSON = {"Content-Type": "application/json"}
CHUNK_BYTES = 2**16
MAX_RESPONSE_BYTES = 2**26
MAX_RESPONSE_DEPTH = 32
# Code 3 is "execution reverted" by the execution-apis specification; other nodes report a failure of the called code in
# words. Anything else (limits, a missing header, an internal error) is the provider's own failure.
REVERTED_CODE = 3
EXECUTION_WORDS = re.compile(
    r"revert|out ?of ?gas|gas required|opcode|stack|invalid jump|execution|EVM error", re.IGNORECASE
)


class ErrorPolicy(Enum):
    """Which errors of a node are results, returned as a ``CallFailedError``; on any other the provider fails over."""

    NONE = "none"
    EXECUTION = "execution"  # the called code failed, as it would on any node
    ANY = "any"  # also a node's refusal, or a response that can't be decoded


@dataclass(frozen=True)
class Call:
    """One JSON-RPC call and how to read its response.

    ``decode`` turns the result into what the caller needs and raises ``BadResponseError`` for an impossible one.
    ``read_error``, if given, turns a node's error into a value and replaces ``error_policy``.
    """

    method: str
    params: tuple[Any, ...]
    decode: Callable[[Any], Any]
    error_policy: ErrorPolicy = ErrorPolicy.NONE
    read_error: Callable[[object], Any] | None = None


@dataclass
class Health:
    """What a provider's responses have shown about it."""

    failures: int = 0  # in a row
    error_rate: float = 0.0  # weighted towards the latest responses
    open_until: float = 0.0  # monotonic seconds; the provider comes last until then
    chain_checked_at: float | None = None  # None until its chain id was found to be right
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
    """One endpoint of a chain; thread-safe, one per process and URL."""

    def __init__(self, *, url: str, chain_id: int, position: int, max_head_age_seconds: int | None = None) -> None:
        self.position = position
        self.health = Health()
        self._max_head_age_seconds = max_head_age_seconds
        self._url = url
        self._chain_id = chain_id
        self._session = requests.Session()
        adapter = HTTPAdapter(pool_maxsize=MAX_CONNECTIONS, max_retries=0)
        self._session.mount("http://", adapter)
        self._session.mount("https://", adapter)

    def __repr__(self) -> str:
        # The URL often contains a key, so it never leaves this object.
        return f"<provider {self.position} of chain {self._chain_id}>"

    def batch(self, calls: Sequence[Call], *, timeout_seconds: float) -> list[Any]:
        """Make all calls in one round trip and return their decoded results in order.

        Raises ``BadResponseError`` if the provider can't be reached, is on another chain, or any response is unusable.
        """
        checks_chain = self._chain_is_due()
        sent = [Call("eth_chainId", (), responses.quantity), *calls] if checks_chain else list(calls)
        try:
            raw = self._post(sent, timeout_seconds)
            values = [_read(call, response) for call, response in zip(sent, raw, strict=True)]
            if checks_chain:
                self._accept_chain(values.pop(0))
            self._note_head(calls, values)
        except BadResponseError:
            self.health.failed(time.monotonic())
            raise
        self.health.succeeded()
        return values

    def _note_head(self, calls: Sequence[Call], values: Sequence[Any]) -> None:
        for call, value in zip(calls, values, strict=True):
            if call.method == "eth_getBlockByNumber" and call.params[0] == "latest":
                self._accept_head(value)

    def _accept_head(self, head: Block) -> None:
        """Refuse a head too far from the server's clock: a stuck node has old prices, a false time shifts deadlines."""
        max_age = self._max_head_age_seconds
        if max_age is not None and abs(time.time() - head.timestamp) > max_age:
            raise BadResponseError(f"{self!r} has a head that is too far from the server's clock")
        self.health.head_number = head.number

    def _chain_is_due(self) -> bool:
        checked_at = self.health.chain_checked_at
        return checked_at is None or time.monotonic() - checked_at > CHAIN_ID_RECHECK_SECONDS

    def _accept_chain(self, chain_id: int) -> None:
        if chain_id != self._chain_id:
            self.health.chain_checked_at = None
            self.health.failures = max(self.health.failures, CIRCUIT_FAILURES)
            raise BadResponseError(f"{self!r} is on chain {chain_id}")
        self.health.chain_checked_at = time.monotonic()

    def _post(self, calls: Sequence[Call], timeout_seconds: float) -> list[Any]:
        # A codec of its own numbers the calls of each batch from zero.
        batch = JSONBaseProvider().encode_batch_rpc_request([(RPCEndpoint(call.method), call.params) for call in calls])
        try:
            by_id = {response["id"]: response for response in _parsed(self._fetch(batch, timeout_seconds))}
            return [by_id[i] for i in range(len(calls))]
        except (requests.RequestException, HTTPError, ValueError, TypeError, KeyError) as error:
            # Not chained: the text of these errors contains the URL.
            raise BadResponseError(f"{self!r} did not answer {len(calls)} calls ({type(error).__name__})") from None

    def _fetch(self, batch: bytes, timeout_seconds: float) -> bytes:
        """Return the response's body; the deadline is checked after every chunk."""
        deadline = time.monotonic() + timeout_seconds
        body = bytearray()
        # A redirect would send the calls to another host.
        with self._session.post(
            self._url, data=batch, headers=JSON, timeout=timeout_seconds, stream=True, allow_redirects=False
        ) as response:
            response.raise_for_status()
            while chunk := response.raw.read1(CHUNK_BYTES, decode_content=True):
                body += chunk
                if time.monotonic() > deadline or len(body) > MAX_RESPONSE_BYTES:
                    raise ValueError("response is too slow or too long")
        return bytes(body)


def _parsed(body: bytes) -> Any:  # noqa: ANN401 - JSON of any shape
    if is_nested_deeper(body.decode(), than=MAX_RESPONSE_DEPTH):
        raise ValueError("response exceeds the maximum depth")
    return JSONBaseProvider.decode_rpc_response(body)


def _read(call: Call, response: object) -> Any:  # noqa: ANN401 - of the type that the call decodes to
    if not isinstance(response, dict) or ("result" not in response and "error" not in response):
        raise BadResponseError(f"{call.method}: neither result nor error")
    if response.get("error") is None:
        return _decoded(call, response.get("result"))
    if call.read_error is not None:
        return call.read_error(response["error"])
    return _failure(call, response["error"])


def _decoded(call: Call, result: object) -> Any:  # noqa: ANN401 - as above
    try:
        return call.decode(result)
    except CallFailedError as failure:
        if call.error_policy is ErrorPolicy.NONE:
            raise BadResponseError(str(failure)) from failure
        return failure
    except BadResponseError as error:
        if call.error_policy is ErrorPolicy.ANY:
            return CallFailedError(str(error))
        raise


def is_execution_failure(error: object) -> bool:
    """Whether a node's error is a failure of the called code, and not of the node."""
    return isinstance(error, dict) and (
        error.get("code") == REVERTED_CODE or EXECUTION_WORDS.search(str(error.get("message"))) is not None
    )


def _failure(call: Call, error: object) -> CallFailedError:
    """Return a node's error if the policy accepts it; the node's message is left out because it may quote the URL."""
    is_accepted_failure = call.error_policy is ErrorPolicy.EXECUTION and is_execution_failure(error)
    if call.error_policy is ErrorPolicy.ANY or is_accepted_failure:
        return CallFailedError(f"{call.method} failed")
    raise BadResponseError(f"{call.method}: the node returned an error")


@dataclass
class ProviderPool:
    """All providers of one chain, the healthiest first."""

    providers: list[Provider]
    timeout_seconds: float

    @classmethod
    def of_urls(
        cls, *, urls: Sequence[str], chain_id: int, timeout_seconds: float, max_head_age_seconds: int | None = None
    ) -> "ProviderPool":
        """Return a pool of these endpoints, in order of preference; without an age, a head is never too old."""
        providers = [
            Provider(url=url, chain_id=chain_id, position=i, max_head_age_seconds=max_head_age_seconds)
            for i, url in enumerate(urls)
        ]
        return cls(providers=providers, timeout_seconds=timeout_seconds)

    def batch(self, calls: Sequence[Call]) -> list[Any]:
        """Return the results of the first provider that has them (see ``ask``); no calls need no round trip."""
        return self.ask(calls)[1] if calls else []

    def ask(
        self, calls: Sequence[Call], *, timeout_seconds: float | None = None, exclude: Provider | None = None
    ) -> tuple[Provider, list[Any]]:
        """Ask the healthiest provider, and the next one if it fails, until the time is up.

        Returns the provider that answered and its results. ``exclude`` leaves one out, for a second opinion. Raises
        ``ChainUnavailableError`` if no provider returned a usable response to every call.
        """
        deadline = time.monotonic() + (timeout_seconds or self.timeout_seconds)
        providers = [provider for provider in self._ranked() if provider is not exclude]
        for left, provider in zip(range(len(providers), 0, -1), providers, strict=True):
            # A provider that hangs uses its own share of the time and leaves the rest to the others.
            share = (deadline - time.monotonic()) / left
            try:
                return provider, provider.batch(calls, timeout_seconds=max(share, MIN_TIMEOUT_SECONDS))
            except BadResponseError as error:
                log.warning("provider_failed", provider=repr(provider), error=str(error))
        raise ChainUnavailableError("no provider answered in time")

    def ask_all(self, calls: Sequence[Call]) -> list[list[Any]]:
        """Return the results of every provider that answers; raises ``ChainUnavailableError`` if none does."""
        share = self.timeout_seconds / max(len(self.providers), 1)
        answered = []
        for provider in self._ranked():
            try:
                answered.append(provider.batch(calls, timeout_seconds=share))
            except BadResponseError as error:
                log.warning("provider_failed", provider=repr(provider), error=str(error))
        if not answered:
            raise ChainUnavailableError("no provider answered in time")
        return answered

    def _ranked(self) -> list[Provider]:
        now = time.monotonic()
        newest = max((provider.health.head_number for provider in self.providers), default=0)

        def rank(provider: Provider) -> tuple[bool, bool, float, int]:
            health = provider.health
            lags = newest - health.head_number > LAGGING_BLOCKS
            return (health.open_until > now, lags, round(health.error_rate, 1), provider.position)

        return sorted(self.providers, key=rank)
