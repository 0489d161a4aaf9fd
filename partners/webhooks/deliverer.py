"""The job that delivers messages: one thread with the database, and others that only wait for endpoints.

So it needs one connection however many deliveries are under way, and writes the outcomes of many at once. Several such
processes can run; each claims what the others have not.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any
from uuid import UUID

import structlog
from django import db
from django.utils import timezone

from partners.webhooks import attempts, claims, outbox, signing
from partners.webhooks.attempts import AttemptError, AttemptOutcome
from partners.webhooks.claims import Attempted, Claimed
from partners.webhooks.models import WebhookEndpoint
from partners.webhooks.payloads import body_of
from partners.webhooks.targets import target_of
from sweepapi.crypto.encryption import UndecryptableError
from sweepapi.monitoring import metrics

THREADS = 64
PAUSE_SECONDS = 0.2  # in which nothing may be found; an attempt that ends is recorded soon
GATHERING_SECONDS = 0.02  # after an attempt ended, so that a round of statements serves several
USER_AGENT = "SweepAPI-Webhooks/1"

StatusObjects = Callable[[Collection[UUID]], Mapping[UUID, Mapping[str, Any]]]  # by the ids of sweeps

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Letter:
    """A claimed delivery, and the body to send."""

    claimed: Claimed
    body: bytes


@dataclass
class Deliverer:
    """Delivers what is due. ``status_objects`` renders sweeps for endpoints that chose full payloads."""

    status_objects: StatusObjects
    threads: int = THREADS
    _under_way: int = 0
    _finished: SimpleQueue[Attempted] = field(default_factory=SimpleQueue)
    _unrecorded: list[Attempted] = field(default_factory=list)
    _executor: ThreadPoolExecutor | None = None

    def round(self) -> None:
        """Begin what is due, wait shortly for attempts to end, and record those that did."""
        if self._executor is None:
            self._executor = ThreadPoolExecutor(self.threads, thread_name_prefix="webhook")
        self._start(self._executor)
        self._collect(PAUSE_SECONDS)
        self._record()

    def finish(self) -> None:
        """Wait for the attempts under way, as long as one can take, and record them.

        What can't be recorded then is sent again once its lease has ended.
        """
        log.info("webhooks_stopping", under_way=self._under_way)
        if self._executor is not None:
            self._executor.shutdown()
        self._collect(0)
        try:
            self._record()
        except db.Error as error:
            log.warning("webhooks_not_recorded", count=len(self._unrecorded), error=type(error).__name__)

    def _start(self, executor: ThreadPoolExecutor) -> int:
        """Dispatch new messages and begin as many attempts as there are threads; returns the number of both."""
        taken, free = outbox.dispatch(), self.threads - self._under_way
        letters = self._letters(claims.claim(free)) if free else []
        for letter in letters:
            self._under_way += 1
            executor.submit(self._attempt, letter).add_done_callback(_raise)
        return taken + len(letters)

    def _letters(self, claimed: Sequence[Claimed]) -> list[Letter]:
        full = {
            one.delivery.message.sweep_ref
            for one in claimed
            if one.delivery.endpoint.payload == WebhookEndpoint.Payload.FULL
        }
        sweeps = self.status_objects([sweep_id for sweep_id in full if sweep_id is not None]) if full else {}
        return [Letter(one, body_of(one.delivery.message, self._shown(one, sweeps))) for one in claimed]

    def _shown(self, claimed: Claimed, sweeps: Mapping[UUID, Mapping[str, Any]]) -> Mapping[str, Any] | None:
        message, endpoint = claimed.delivery.message, claimed.delivery.endpoint
        if message.sweep_ref is None or endpoint.payload != WebhookEndpoint.Payload.FULL:
            return None
        return sweeps.get(message.sweep_ref)

    def _attempt(self, letter: Letter) -> None:
        """Send one message, in a thread; the outcome is queued whatever happens, or its thread would count forever."""
        outcome = AttemptOutcome(0, error=AttemptError.CONNECTION)
        try:
            outcome = send(letter)
        except (ValueError, UndecryptableError) as error:
            delivery_id = str(letter.claimed.delivery.id)
            log.error("webhook_not_sent", delivery_id=delivery_id, error=type(error).__name__)  # noqa: TRY400
        finally:
            self._finished.put(Attempted(letter.claimed, outcome))

    def _collect(self, wait_seconds: float) -> int:
        """Take over the attempts that ended, after waiting for the first one; returns their number."""
        ended: list[Attempted] = []
        try:
            if wait_seconds:
                ended.append(self._finished.get(timeout=wait_seconds))
                time.sleep(GATHERING_SECONDS)
            while True:
                ended.append(self._finished.get_nowait())
        except Empty:
            pass
        self._under_way -= len(ended)
        self._unrecorded += ended
        return len(ended)

    def _record(self) -> None:
        """Record the attempts that ended; if that fails, they are kept, and recorded with the next ones."""
        claims.record(self._unrecorded)
        for attempted in self._unrecorded:
            metrics.WEBHOOK_ATTEMPTS.labels(attempted.outcome.error or "delivered").inc()
        self._unrecorded = []


def _raise(attempt: Future[None]) -> None:
    """Raise what was not expected, which the executor then logs."""
    attempt.result()


def send(letter: Letter) -> AttemptOutcome:
    """Sign a message and post it; raises ``ValueError`` and ``UndecryptableError`` where that is impossible."""
    delivery, now = letter.claimed.delivery, timezone.now()
    message_id, secrets = str(delivery.message_id), signing.current_secrets(delivery.endpoint, now=now)
    headers = {
        "Content-Type": "application/json",
        "User-Agent": USER_AGENT,
        "webhook-id": message_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": signing.signature(secrets, message_id=message_id, at=now, body=letter.body),
    }
    return attempts.post(target_of(delivery.endpoint.url), headers, letter.body)
