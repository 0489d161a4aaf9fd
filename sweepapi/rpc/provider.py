"""One provider of a network: its batches, its health, and the proof that it is on that network."""

import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import structlog
from web3.providers.base import JSONBaseProvider
from web3.types import RPCEndpoint

from sweepapi.limits.nesting import is_nested_deeper
from sweepapi.rpc.calls import Call, read
from sweepapi.rpc.errors import (
    BadResponseError,
    BatchRefusedError,
    PausedError,
    ThrottledError,
    WrongNetworkError,
)
from sweepapi.rpc.health import Clock, ProviderHealth
from sweepapi.rpc.observing import Batch, publish
from sweepapi.rpc.target import Head, Proof, Target
from sweepapi.rpc.throttling import is_throttling_error
from sweepapi.rpc.transport import Endpoint

log = structlog.get_logger(__name__)

PROOF_RECHECK_SECONDS = 600.0
MAX_RESPONSE_DEPTH = 32
MAX_RESPONSE_BYTES = 2**26
# Nodes limit the calls of a batch: geth and Alchemy to a thousand, Erigon to a hundred, some to twenty.
MOST_CALLS, LEAST_CALLS = 1_000, 20
# The latency of a provider is that of requests which ask for little; of others it says more about the calls.
SMALL_REQUEST_BYTES = 8_192


class Provider:
    """One endpoint of a network; thread-safe, one per process and URL."""

    def __init__(self, *, url: str, target: Target, position: int, clock: Clock = time.monotonic) -> None:
        self.position = position
        self.target = target
        self.health = ProviderHealth(clock)
        self._endpoint = Endpoint(url=url, name=repr(self))
        self._max_calls = MOST_CALLS

    def __repr__(self) -> str:
        # The URL often contains a key, so it never leaves the endpoint.
        return f"<provider {self.position} of {self.target.name}>"

    def batch(self, calls: Sequence[Call], *, timeout_seconds: float) -> list[Any]:
        """Make all calls in one round trip and return their decoded results in order.

        More calls than the provider takes at once need several round trips.

        Raises ``BadResponseError`` if the provider can't be reached, is on another network, or gives an unusable
        response; ``PausedError``, at once, if it must not be queried now.
        """
        if self.health.paused_for_seconds > 0:
            raise PausedError(f"{self!r} is not queried for {self.health.paused_for_seconds:.0f} s")
        started = time.monotonic()
        try:
            values = self._proven_batch(calls, deadline=started + timeout_seconds)
        except BadResponseError as error:
            self._note_failure(error)
            self._publish(calls, error.outcome, started)
            raise
        self.health.note_answer()
        self._publish(calls, "answered", started)
        return values

    def _publish(self, calls: Sequence[Call], outcome: str, started: float) -> None:
        methods = Counter(call.method for call in calls)
        publish(Batch(self.target.network, self.position, methods, outcome, time.monotonic() - started))

    def _note_failure(self, error: BadResponseError) -> None:
        if isinstance(error, WrongNetworkError):
            self.health.quarantine()
            log.error("provider_quarantined", provider=repr(self), error=str(error))
            return
        if isinstance(error, ThrottledError):
            self.health.note_throttling(error.retry_after_seconds)
        else:
            self.health.note_failure()
        log.warning("provider_failed", provider=repr(self), error=str(error))

    def _proven_batch(self, calls: Sequence[Call], *, deadline: float) -> list[Any]:
        proofs = self._proofs_that_are_due()
        if proofs:
            self._max_calls = MOST_CALLS
        sent = [*(proof.call for proof in proofs), *calls]
        raw = iter(self._responses(sent, deadline=deadline))
        for proof in proofs:
            shown = read(proof.call, next(raw))
            if proof.is_contradicted_by(shown):
                raise WrongNetworkError(f"{self!r} is on another network: {proof.call.method} is {shown}")
        if proofs:
            self.health.proven_at = self.health.clock()
        values = [read(call, response) for call, response in zip(calls, raw, strict=True)]
        self._note_heads(calls, values)
        return values

    def _proofs_that_are_due(self) -> Sequence[Proof]:
        proven_at = self.health.proven_at
        is_due = proven_at is None or self.health.clock() - proven_at > PROOF_RECHECK_SECONDS
        return self.target.proofs if is_due else ()

    def _note_heads(self, calls: Sequence[Call], values: Sequence[Any]) -> None:
        for call, value in zip(calls, values, strict=True):
            head = self.target.head_of(call, value)
            if head is not None:
                self._accept_head(head)

    def _accept_head(self, head: Head) -> None:
        """Refuse a head too far from the server's clock: a stuck node has old prices, a false time shifts deadlines."""
        max_age = self.target.max_head_age_seconds
        if max_age is not None and head.timestamp is not None and abs(time.time() - head.timestamp) > max_age:
            raise BadResponseError(f"{self!r} has a head that is too far from the server's clock")
        self.health.note_head(head)

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
        body = JSONBaseProvider().encode_batch_rpc_request([(RPCEndpoint(call.method), call.params) for call in calls])
        started = time.monotonic()
        answer = self._endpoint.post(body, timeout_seconds, max_bytes=MAX_RESPONSE_BYTES)
        if len(body) <= SMALL_REQUEST_BYTES:
            self.health.note_latency(time.monotonic() - started)
        return self._in_order(answer, len(calls))

    def _in_order(self, answer: bytes, count: int) -> list[Any]:
        """Return the responses in the order of their calls; if one is missing, the batch may have been too large."""
        try:
            responses = _parsed(answer)
        except ValueError as error:
            raise BadResponseError(f"{self!r} did not answer with JSON ({type(error).__name__})") from None
        if any(is_throttling_error(one) for one in (responses if isinstance(responses, list) else [responses])):
            raise ThrottledError(f"{self!r} limits our requests", retry_after_seconds=None)
        try:
            by_id = {response["id"]: response for response in responses}
            return [by_id[i] for i in range(count)]
        except (TypeError, KeyError) as error:
            raise BatchRefusedError(f"{self!r} did not answer {count} calls ({type(error).__name__})") from None


def _parsed(body: bytes) -> Any:  # noqa: ANN401 - JSON of any shape
    if is_nested_deeper(body.decode(), than=MAX_RESPONSE_DEPTH):
        raise ValueError("response exceeds the maximum depth")
    return JSONBaseProvider.decode_rpc_response(body)
