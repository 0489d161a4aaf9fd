"""The HTTP requests to a swap API: at its pace, in parallel within a bound, each with a time limit and all with one."""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import BoundedSemaphore

import requests

from sweepapi.limits.outage import Outage
from sweepapi.solana.encoding.addresses import WRAPPED_SOL
from sweepapi.solana.packing.compute_budget import PERCENTILES
from sweepapi.solana.swap_api.connection import Reply, SwapApiConnection
from sweepapi.solana.swap_api.decoding import no_quote, parsed, quote
from sweepapi.solana.swap_api.memory import Memory
from sweepapi.solana.swap_api.pace import Pace
from sweepapi.solana.swap_api.quotes import (
    NoQuote,
    QuoteAnswer,
    QuoteRequest,
    RateLimitedError,
    SwapApiError,
    SwapApiQuote,
)

WORKERS = 8
MAX_REQUEST_SECONDS = 3.0
MAX_RESPONSE_BYTES = 2**20
SUSPECTED_AFTER = 3  # calls in a row of which a request had no answer
# How long a build waits for the swap API to take more requests.
MAX_WAIT_SECONDS = 7.0
# Builds that wait so, in a process: the others get what is free, so that no partner's wait takes the places of others.
MAX_WAITING = 2


class SwapApi:
    """The swap API as the service uses it; thread-safe, one per process."""

    def __init__(self, url: str, key: str, timeout_seconds: float, *, pace: Pace, memory: Memory) -> None:
        self._connection = SwapApiConnection(url, key, pace)
        self._timeout_seconds = timeout_seconds
        self._pace, self._memory = pace, memory
        self._waiting = BoundedSemaphore(MAX_WAITING)
        self._failures = 0  # calls in a row
        self._failed: tuple[float, dict[str, str]] = 0.0, {}  # the last one's deadline, by which it is told, and query
        self._outage = Outage("swap API", self._answers)

    @property
    def is_answering(self) -> bool:
        """Whether the last requests, of whichever process, were answered."""
        return not self._outage.is_known and self._memory.is_answering

    def quotes(self, quote_requests: Sequence[QuoteRequest], *, for_build: bool = True) -> list[QuoteAnswer]:
        """Return the answer to each request, in order: an error for one that got no usable answer in time.

        What was answered in the last seconds is not asked again. A build waits for a while until the swap API takes
        more requests; others get what is free, as does a build beside too many that wait. Raises ``SwapApiError`` if
        all answers are errors, and at once while the swap API answers no one.
        """
        if self._outage.is_known:
            raise SwapApiError("the swap API does not answer", is_temporary=True)
        answers = self._remembered(quote_requests)
        wait_ends_at = time.monotonic() + (MAX_WAIT_SECONDS if for_build else 0)
        while missing := [request for request in dict.fromkeys(quote_requests) if request not in answers]:
            grant = self._pace.take(len(missing), for_build=for_build)
            if grant.count:
                answers |= self._asked(missing[: grant.count])
            elif not self._waited(grant.seconds_to_next, wait_ends_at):
                answers |= dict.fromkeys(missing, RateLimitedError(grant.seconds_to_next))
        in_order = [answers[request] for request in quote_requests]
        refuse_without_answer(in_order)
        return in_order

    def _remembered(self, quote_requests: Sequence[QuoteRequest]) -> dict[QuoteRequest, QuoteAnswer]:
        found = self._memory.answers([query_of(request) for request in quote_requests])
        pairs = zip(quote_requests, found, strict=True)
        return {request: _decoded(*answer, request) for request, answer in pairs if answer is not None}

    def _waited(self, seconds: float, ends_at: float) -> bool:
        """Wait for so long; False, at once, if that is too long or too many do."""
        if time.monotonic() + seconds > ends_at or not self._waiting.acquire(blocking=False):
            return False
        try:
            time.sleep(seconds)
        finally:
            self._waiting.release()
        return True

    def _asked(self, quote_requests: Sequence[QuoteRequest]) -> dict[QuoteRequest, QuoteAnswer]:
        """Return the answers to requests that were granted, without those that the swap API takes only later."""
        deadline = time.monotonic() + self._timeout_seconds
        executor = ThreadPoolExecutor(WORKERS, thread_name_prefix="swap-api")
        try:
            futures = {request: executor.submit(self._quote, request, deadline) for request in quote_requests}
            wait(futures.values(), self._timeout_seconds)
        finally:
            # Threads that still read end with their request's time limit; nothing waits for them.
            executor.shutdown(wait=False, cancel_futures=True)
        answers = {request: _answer(future) for request, future in futures.items()}
        self._memory.note(is_answered=not all(isinstance(answer, SwapApiError) for answer in answers.values()))
        return {request: answer for request, answer in answers.items() if not isinstance(answer, RateLimitedError)}

    def _quote(self, request: QuoteRequest, deadline: float) -> SwapApiQuote | NoQuote:
        seconds = min(MAX_REQUEST_SECONDS, deadline - time.monotonic())
        if seconds <= 0:
            raise _late()
        query = query_of(request)
        try:
            reply = self._get(query, seconds)
        except SwapApiError:
            self._note_failure(deadline, query)
            raise
        self._failures = 0
        answer = _decoded(reply.status, reply.body, request)
        self._memory.keep(query, reply.status, reply.body)
        return answer

    def _note_failure(self, deadline: float, query: dict[str, str]) -> None:
        self._failures += self._failed[0] != deadline
        self._failed = deadline, query
        if self._failures >= SUSPECTED_AFTER:
            self._outage.suspect()

    def _answers(self) -> bool:
        """Whether the last request that failed is answered now, with whatever."""
        if not self._pace.take(1, for_build=True).count:
            return False
        try:
            self._get(self._failed[1], MAX_REQUEST_SECONDS)
        except SwapApiError:
            return False
        self._failures = 0
        return True

    def _get(self, query: Mapping[str, str], seconds: float) -> Reply:
        return self._connection.get("/build", query, seconds=seconds, max_bytes=MAX_RESPONSE_BYTES)


def query_of(request: QuoteRequest) -> dict[str, str]:
    """Return the query parameters of a request."""
    query = {
        "inputMint": request.input_mint,
        "outputMint": request.output_mint,
        "amount": str(request.amount),
        "taker": request.taker,
        "slippageBps": str(request.slippage_bps),
        "platformFeeBps": str(request.platform_fee_bps),
        "maxAccounts": str(request.max_accounts),
        "computeUnitPricePercentile": str(PERCENTILES[request.price_percentile] * 100),  # in basis points
        # Wrapped SOL is swept from its token account like any token; as output, users receive SOL itself.
        "wrapAndUnwrapSol": "false" if request.input_mint == str(WRAPPED_SOL) else "true",
    }
    return query | {"feeAccount": request.fee_account} if request.platform_fee_bps else query


def refuse_without_answer(answers: Sequence[QuoteAnswer]) -> None:
    """Raise the first error if there is nothing else among the answers."""
    errors = [answer for answer in answers if isinstance(answer, SwapApiError)]
    if errors and len(errors) == len(answers):
        raise errors[0]


def _answer(future: Future[SwapApiQuote | NoQuote]) -> QuoteAnswer:
    """Return what a worker ended with; one that still reads, or was cancelled, is late."""
    if not future.done() or future.cancelled():
        return _late()
    error = future.exception()
    if isinstance(error, SwapApiError):
        return error
    return future.result()


def _late() -> SwapApiError:
    return SwapApiError("the swap API did not answer in time", is_temporary=True)


def _decoded(status: int, body: bytes, request: QuoteRequest) -> SwapApiQuote | NoQuote:
    """Return what an answer says; raises ``SwapApiError``."""
    if status == requests.codes.ok:
        return quote(parsed(body), request)
    if status == requests.codes.bad_request:
        return no_quote(parsed(body))
    if status == requests.codes.too_many_requests:
        raise RateLimitedError(0)
    raise SwapApiError(
        f"the swap API answered with status {status}", is_temporary=status >= requests.codes.internal_server_error
    )
