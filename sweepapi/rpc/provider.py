"""One provider of a network: its batches, its health, and the proof that it is on that network."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import structlog

from sweepapi.rpc import batches
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
MAX_RESPONSE_BYTES = 2**26
MOST_CALLS = 1_000  # of a batch: geth and Alchemy take a thousand, Erigon a hundred, some three, and some no batches
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
        if proofs:  # a limit that was learned from a refusal for another reason is forgotten by and by
            self._max_calls = min(2 * self._max_calls or 1, MOST_CALLS)
        sent = [*(proof.call for proof in proofs), *map(self.target.prepare, calls)]
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
        """Return the response to each call. What the answer to a batch lacks is asked again, alone.

        A batch of which less than half is answered is too large: it is halved, and so are later ones. Zero calls mean
        that the provider takes no batches at all.
        """
        found: dict[int, Any] = {}
        again: list[int] = []
        max_calls = self._max_calls
        while len(found) < len(calls):
            part = (again or [i for i in range(len(calls)) if i not in found])[: max(max_calls, 1)]
            try:
                left = deadline - time.monotonic()
                post = self._post if max_calls > 0 else self._post_alone
                shown = post([calls[i] for i in part], left)
            except BatchRefusedError:
                if max_calls == 0:
                    raise
                shown = {}
            found |= {part[i]: response for i, response in shown.items()}
            again = [i for i in (again or part) if i not in found]
            if 2 * len(shown) < len(part):
                max_calls = len(part) // 2
        self._max_calls = max_calls
        return [found[i] for i in range(len(calls))]

    def _post(self, calls: Sequence[Call], timeout_seconds: float) -> Mapping[int, Any]:
        """Return the responses by the positions of the calls, as far as there are any; raises as ``batch``."""
        return self._answered(batches.encoded(calls), len(calls), timeout_seconds)

    def _post_alone(self, calls: Sequence[Call], timeout_seconds: float) -> Mapping[int, Any]:
        """Return what ``_post`` does, of a single call that is not in a batch."""
        return self._answered(batches.encoded_alone(*calls), 1, timeout_seconds)

    def _answered(self, body: bytes, count: int, timeout_seconds: float) -> Mapping[int, Any]:
        started = time.monotonic()
        answer = self._endpoint.post(body, timeout_seconds, max_bytes=MAX_RESPONSE_BYTES)
        if len(body) <= SMALL_REQUEST_BYTES:
            self.health.note_latency(time.monotonic() - started)
        try:
            responses = batches.responses_of(batches.parsed(answer))
        except ValueError as error:
            raise BadResponseError(f"{self!r} did not answer with JSON ({type(error).__name__})") from None
        if any(map(is_throttling_error, responses)):
            raise ThrottledError(f"{self!r} limits our requests", retry_after_seconds=None)
        shown = batches.by_position(responses, count)
        if not shown:
            raise BatchRefusedError(f"{self!r} did not answer any of {count} calls")
        return shown
