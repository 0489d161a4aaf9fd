"""JSON-RPC over several providers of one chain: deadlines, failover, health, and agreement between providers.

A *batch* is one HTTP request with any number of calls in it, and is the unit in which the service counts round trips.
Each call brings the function that checks and decodes its answer, so that a provider that answers nonsense fails over
like one that answers nothing.
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

from sweepapi.evm import answers
from sweepapi.evm.answers import Block
from sweepapi.evm.errors import BadAnswerError, CallFailedError, ChainUnavailableError
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
MAX_ANSWER_BYTES = 2**26
MAX_ANSWER_DEPTH = 32
# Code 3 is "execution reverted" by the execution-apis specification; other nodes tell a failure of the called code by
# words. Whatever is neither (limits, a missing header, an internal error) is the provider's trouble.
REVERTED_CODE = 3
EXECUTION_WORDS = re.compile(
    r"revert|out ?of ?gas|gas required|opcode|stack|invalid jump|execution|EVM error", re.IGNORECASE
)


class MayFail(Enum):
    """Which errors of a node are answers, returned as a ``CallFailedError``, and which make the provider fail over."""

    NEVER = "never"
    IN_THE_EVM = "in the EVM"  # the called code failed, whoever runs it
    ANYHOW = "anyhow"  # also what this node can't or won't answer, or answers in a shape that can't be read


@dataclass(frozen=True)
class Call:
    """One JSON-RPC call and how to read its answer.

    ``decode`` turns the result into what the caller wants and raises ``BadAnswerError`` for an impossible one.
    ``read_error``, where it is given, turns a node's error into a value instead of judging it by ``may_fail``.
    """

    method: str
    params: tuple[Any, ...]
    decode: Callable[[Any], Any]
    may_fail: MayFail = MayFail.NEVER
    read_error: Callable[[object], Any] | None = None


@dataclass
class Health:
    """What has been learnt about a provider, from its answers alone."""

    failures: int = 0  # in a row
    error_rate: float = 0.0  # weighted towards the last answers
    open_until: float = 0.0  # monotonic seconds; asked again after that
    chain_checked_at: float | None = None  # None until its chain id was seen to be right
    head_number: int = 0

    def succeeded(self) -> None:
        """Close the circuit."""
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
        # The URL often carries a key, so it never leaves this object.
        return f"<provider {self.position} of chain {self._chain_id}>"

    def batch(self, calls: Sequence[Call], *, timeout_seconds: float) -> list[Any]:
        """Ask all calls in one round trip and return their decoded answers in order.

        Raises ``BadAnswerError`` if the provider can't be reached, is on another chain, or any answer is unusable.
        """
        checks_chain = self._chain_is_due()
        asked = [Call("eth_chainId", (), answers.quantity), *calls] if checks_chain else list(calls)
        try:
            raw = self._post(asked, timeout_seconds)
            values = [_read(call, answer) for call, answer in zip(asked, raw, strict=True)]
            if checks_chain:
                self._accept_chain(values.pop(0))
            self._note_head(calls, values)
        except BadAnswerError:
            self.health.failed(time.monotonic())
            raise
        self.health.succeeded()
        return values

    def _note_head(self, calls: Sequence[Call], values: Sequence[Any]) -> None:
        for call, value in zip(calls, values, strict=True):
            if call.method == "eth_getBlockByNumber" and call.params[0] == "latest":
                self._accept_head(value)

    def _accept_head(self, head: Block) -> None:
        """Refuse a head that is too far from the server's clock: a stuck node's prices are old, and a lie ends late."""
        max_age = self._max_head_age_seconds
        if max_age is not None and abs(time.time() - head.timestamp) > max_age:
            raise BadAnswerError(f"{self!r} shows a head of another time")
        self.health.head_number = head.number

    def _chain_is_due(self) -> bool:
        checked_at = self.health.chain_checked_at
        return checked_at is None or time.monotonic() - checked_at > CHAIN_ID_RECHECK_SECONDS

    def _accept_chain(self, chain_id: int) -> None:
        if chain_id != self._chain_id:
            self.health.chain_checked_at = None
            self.health.failures = max(self.health.failures, CIRCUIT_FAILURES)
            raise BadAnswerError(f"{self!r} is on chain {chain_id}")
        self.health.chain_checked_at = time.monotonic()

    def _post(self, calls: Sequence[Call], timeout_seconds: float) -> list[Any]:
        # A codec of its own numbers the calls of each batch from zero.
        batch = JSONBaseProvider().encode_batch_rpc_request([(RPCEndpoint(call.method), call.params) for call in calls])
        try:
            by_id = {answer["id"]: answer for answer in _parsed(self._fetch(batch, timeout_seconds))}
            return [by_id[i] for i in range(len(calls))]
        except (requests.RequestException, HTTPError, ValueError, TypeError, KeyError) as error:
            # Not chained: the text of these errors holds the URL.
            raise BadAnswerError(f"{self!r} gave no answer to {len(calls)} calls ({type(error).__name__})") from None

    def _fetch(self, batch: bytes, timeout_seconds: float) -> bytes:
        """Return the body of the answer; it may trickle in for as long as the timeout after its first byte."""
        deadline = time.monotonic() + timeout_seconds
        body = bytearray()
        # A redirect would send the calls to another host.
        with self._session.post(
            self._url, data=batch, headers=JSON, timeout=timeout_seconds, stream=True, allow_redirects=False
        ) as response:
            response.raise_for_status()
            while chunk := response.raw.read1(CHUNK_BYTES, decode_content=True):
                body += chunk
                if time.monotonic() > deadline or len(body) > MAX_ANSWER_BYTES:
                    raise ValueError("the answer is too slow or too long")
        return bytes(body)


def _parsed(body: bytes) -> Any:  # noqa: ANN401 - JSON of any shape
    if is_nested_deeper(body.decode(), than=MAX_ANSWER_DEPTH):
        raise ValueError("the answer is nested like no answer ever is")
    return JSONBaseProvider.decode_rpc_response(body)


def _read(call: Call, answer: object) -> Any:  # noqa: ANN401 - of the type that the call decodes to
    if not isinstance(answer, dict) or ("result" not in answer and "error" not in answer):
        raise BadAnswerError(f"{call.method}: neither result nor error")
    if answer.get("error") is None:
        return _decoded(call, answer.get("result"))
    if call.read_error is not None:
        return call.read_error(answer["error"])
    return _failure(call, answer["error"])


def _decoded(call: Call, result: object) -> Any:  # noqa: ANN401 - as above
    try:
        return call.decode(result)
    except CallFailedError as failure:
        if call.may_fail is MayFail.NEVER:
            raise BadAnswerError(str(failure)) from failure
        return failure
    except BadAnswerError as error:
        if call.may_fail is MayFail.ANYHOW:
            return CallFailedError(str(error))
        raise


def is_execution_failure(error: object) -> bool:
    """Whether a node's error is a failure of the called code, and not of the node."""
    return isinstance(error, dict) and (
        error.get("code") == REVERTED_CODE or EXECUTION_WORDS.search(str(error.get("message"))) is not None
    )


def _failure(call: Call, error: object) -> CallFailedError:
    """Return a node's error where it is an answer; its own words stay out, because they may quote the URL."""
    in_the_evm = call.may_fail is MayFail.IN_THE_EVM and is_execution_failure(error)
    if call.may_fail is MayFail.ANYHOW or in_the_evm:
        return CallFailedError(f"{call.method} failed")
    raise BadAnswerError(f"{call.method}: the node answered with an error")


@dataclass
class ProviderPool:
    """All providers of one chain, the healthiest first."""

    providers: list[Provider]
    timeout_seconds: float

    @classmethod
    def of_urls(
        cls, *, urls: Sequence[str], chain_id: int, timeout_seconds: float, max_head_age_seconds: int | None = None
    ) -> "ProviderPool":
        """Return a pool over these endpoints, in order of preference; without an age, heads are never too old."""
        providers = [
            Provider(url=url, chain_id=chain_id, position=i, max_head_age_seconds=max_head_age_seconds)
            for i, url in enumerate(urls)
        ]
        return cls(providers=providers, timeout_seconds=timeout_seconds)

    def batch(self, calls: Sequence[Call]) -> list[Any]:
        """Return the answers of whichever provider gives them first (see ``ask``); no calls, no round trip."""
        return self.ask(calls)[1] if calls else []

    def ask(
        self, calls: Sequence[Call], *, timeout_seconds: float | None = None, besides: Provider | None = None
    ) -> tuple[Provider, list[Any]]:
        """Ask the healthiest provider, and the next one if it fails, until the time is used up.

        Returns the provider that answered, and its answers. ``besides`` leaves one out, for a second opinion. Raises
        ``ChainUnavailableError`` when no provider gave a usable answer to every call.
        """
        deadline = time.monotonic() + (timeout_seconds or self.timeout_seconds)
        asked = [provider for provider in self._ranked() if provider is not besides]
        for left, provider in zip(range(len(asked), 0, -1), asked, strict=True):
            # A provider that hangs may use its share of the time, not that of the ones behind it.
            share = (deadline - time.monotonic()) / left
            try:
                return provider, provider.batch(calls, timeout_seconds=max(share, MIN_TIMEOUT_SECONDS))
            except BadAnswerError as error:
                log.warning("provider_failed", provider=repr(provider), error=str(error))
        raise ChainUnavailableError("no provider answered in time")

    def ask_all(self, calls: Sequence[Call]) -> list[list[Any]]:
        """Return the answers of every provider that gives any; raises ``ChainUnavailableError`` if none does."""
        share = self.timeout_seconds / max(len(self.providers), 1)
        answered = []
        for provider in self._ranked():
            try:
                answered.append(provider.batch(calls, timeout_seconds=share))
            except BadAnswerError as error:
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
