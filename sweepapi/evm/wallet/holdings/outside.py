"""Services outside that know which tokens a wallet has: read page by page beside the round trips to the chain.

Such a service may lie, hang, page for ever, or name a million tokens. So all of them share two seconds, each has a
bounded number of pages, and one that answers no one is left alone until it does. What it named until then counts.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any, Protocol

import structlog

from sweepapi.evm.chain.chains import HoldingsSource
from sweepapi.evm.encoding.addresses import keccak_hex
from sweepapi.evm.wallet.holdings.sources import MAX_LOOKED_AT, Cut, Page, Position, SearchResult
from sweepapi.limits.outage import Outage
from sweepapi.rpc import Call, batches
from sweepapi.rpc.errors import BadResponseError, NoAnswerError, ThrottledError
from sweepapi.rpc.health import Clock, ProviderHealth

log = structlog.get_logger(__name__)

SECONDS = 2.0  # from the first round trip to the chain on
MAX_PAGES = 200
MAX_PAGE_TOKENS = 1_000
MAX_PAGE_BYTES = 2**21
SUSPECTED_AFTER = 3  # failures in a row, which may be due to one wallet
EMPTY_WALLET = keccak_hex(b"sweepapi empty wallet")[:42]  # any service can say what it holds


@dataclass(frozen=True)
class ServicePage:
    """One page of a service's answer."""

    tokens: Sequence[str]  # in EIP-55
    following: Position  # of the next page; None on the last one


class HoldingsService(Protocol):
    """The interface of one service."""

    @property
    def name(self) -> HoldingsSource:
        """Its name in the chains file and in answers."""

    def page(self, wallet: str, position: Position, seconds: float) -> ServicePage:
        """Read a page; raises ``BadResponseError`` if there is none within the seconds, or something else."""


def parsed(body: bytes) -> Any:  # noqa: ANN401 - JSON of any shape
    """Return what a service answered; raises ``BadResponseError``."""
    try:
        return batches.parsed(body)
    except ValueError as error:
        raise BadResponseError(f"the answer is not JSON ({type(error).__name__})") from None


class OutsideSource:
    """A service as a source; thread-safe, one per process and chain."""

    knows_all = True

    def __init__(self, service: HoldingsService, clock: Clock = time.monotonic) -> None:
        self.name = service.name
        self._service = service
        self._health = ProviderHealth(clock)
        self._outage = Outage(f"holdings {self.name}", self._answers)

    def search(self, wallet: str, position: Position) -> "OutsideSearch":
        """Begin to read the pages from this position on, unless the service is to be left alone."""
        reading = _Reading(self._service, wallet, position, deadline=time.monotonic() + SECONDS)
        return OutsideSearch(reading, self._begun(reading), self._note)

    def _begun(self, reading: "_Reading") -> Future[Cut | None]:
        outcome: Future[Cut | None] = Future()
        if self._outage.is_known or self._health.paused_for_seconds > 0:
            outcome.set_result(Cut.PAUSE)
            return outcome
        executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"holdings {self.name}")
        try:
            return executor.submit(copy_context().run, reading.read)
        finally:
            executor.shutdown(wait=False)  # the thread ends with the time limit; nothing waits for it

    def _note(self, error: BadResponseError | None) -> None:
        if error is None:
            self._health.note_answer()
            return
        if isinstance(error, ThrottledError):
            self._health.note_throttling(error.retry_after_seconds)
        else:
            self._health.note_failure()
            if self._health.failures >= SUSPECTED_AFTER:
                self._outage.suspect()
        log.warning("holdings_source_failed", source=self.name.value, error=str(error))

    def _answers(self) -> bool:
        """Whether it answers about a wallet that has nothing."""
        try:
            self._service.page(EMPTY_WALLET, None, SECONDS)
        except BadResponseError:
            return False
        self._health.note_answer()
        return True


@dataclass
class _Reading:
    """The pages of one search, which a thread of its own reads."""

    service: HoldingsService
    wallet: str
    start: Position
    deadline: float  # in monotonic seconds
    pages: list[tuple[Page, Position]] = field(default_factory=list)  # each with where it leads to

    def read(self) -> Cut | None:
        """Read page after page; returns why it stopped, None at the end of the last page."""
        position, visited, count = self.start, [self.start], 0
        while len(self.pages) < MAX_PAGES and count < MAX_LOOKED_AT:
            seconds = self.deadline - time.monotonic()
            if seconds <= 0:
                return Cut.TIME
            page = self.service.page(self.wallet, position, seconds)
            count += len(page.tokens)
            self.pages.append((Page(page.tokens, position), page.following))
            position = page.following
            if position is None:
                return None
            if position in visited:
                return Cut.CIRCLE
            visited.append(position)
        return Cut.COUNT


@dataclass(frozen=True)
class OutsideSearch:
    """A search in progress."""

    reading: _Reading
    outcome: Future[Cut | None]
    note: Callable[[BadResponseError | None], None]  # takes the error of the search, None if it was answered
    known: Sequence[str] = ()

    def calls(self, head: int) -> Sequence[Call]:  # noqa: ARG002 - as ``Search`` has it
        """Return none: nothing is read from the chain."""
        return ()

    def found(self, answers: Sequence[Any]) -> SearchResult:  # noqa: ARG002 - as above
        """Return what was read by the deadline, for which this waits."""
        wait([self.outcome], timeout=max(self.reading.deadline - time.monotonic(), 0))
        error = self._error()
        pages = list(self.reading.pages)
        cut = self._cut(pages, error)
        if cut is not Cut.PAUSE:
            self.note(None if pages and cut is not Cut.FAILURE else error)
        return SearchResult(
            pages=[page for page, _ in pages],
            cut=cut,
            goes_on_at=pages[-1][1] if pages else None,
            goes_on=bool(pages) and cut not in (None, Cut.CIRCLE),
        )

    def _error(self) -> BadResponseError | None:
        """Return the failure that ended the reading; None if it ended without one."""
        if not self.outcome.done():
            return NoAnswerError(f"{self.reading.service!r} did not answer in time")
        error = self.outcome.exception()
        if error is not None and not isinstance(error, BadResponseError):
            raise error
        return error

    def _cut(self, pages: Sequence[tuple[Page, Position]], error: BadResponseError | None) -> Cut | None:
        if error is None:
            return self.outcome.result()
        if pages and pages[-1][1] is None:  # read just now; the thread is about to end
            return None
        return Cut.FAILURE if time.monotonic() < self.reading.deadline else Cut.TIME
