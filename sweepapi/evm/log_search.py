"""Searching the logs for the one event that explains a change of a contract's state.

A targeted query for one subject, cut into spans that providers accept, up to the safe block. The caller names the
contract, the topics and how to read a log. An event that is only a *hint* (its receipt is read and judged afterwards)
counts from any provider; any other event counts only on a safe block and, where there are two providers, if both have
it.
"""

import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sweepapi.evm import log_query
from sweepapi.evm.chains import Chain
from sweepapi.evm.log_query import Span, Topics
from sweepapi.evm.responses import Log, MinedLog, Receipt
from sweepapi.rpc import MIN_TIMEOUT_SECONDS, Call, Provider, ProviderPool
from sweepapi.rpc.errors import BadResponseError, CallFailedError, ChainUnavailableError

MAX_SEARCHES = 10


@dataclass(frozen=True)
class Event:
    """A log as the caller reads it."""

    value: Hashable
    is_hint: bool  # the receipt of its transaction is fetched and decides


@dataclass(frozen=True)
class Search:
    """What to search for, and in which blocks, both ends included; the last one is safe."""

    key: Hashable
    contract: str
    topics: Topics
    read: Callable[[Log], Event | None]  # None for a log that was not queried
    first_block: int
    last_block: int

    def spans(self) -> list[Span]:
        """Return the first blocks of the search in spans that a provider takes, as many as fit one look."""
        return log_query.spans(self.first_block, self.last_block, span_blocks=log_query.SPAN_BLOCKS)


@dataclass(frozen=True)
class Hit:
    """The event that was found, and its block."""

    event: Event
    tx_hash: str
    block_number: int
    block_hash: str


@dataclass(frozen=True)
class Finding:
    """The result of a search."""

    hit: Hit | None
    receipt: Receipt | None  # of a hint, with its event in it; None if no provider gave it
    agreed: bool  # the hit lies on a safe block, and a second provider, where there is one, shows it too
    resume_at: int | None  # the first block that was not searched; None if something was found, or all was searched


@dataclass(frozen=True)
class _Opinion:
    """What one provider showed for one search."""

    hit: Hit | None
    is_safe: bool  # whether the block of the hit is
    resume_at: int | None

    @property
    def is_hint(self) -> bool:
        return self.hit is not None and self.hit.event.is_hint


def find(*, chain: Chain, pool: ProviderPool, searches: Sequence[Search]) -> dict[Hashable, Finding]:
    """Return what was found for each of at most ``MAX_SEARCHES`` searches, by its key.

    One round trip per provider, two providers at most, and one more to every provider for the receipts of hints.
    Raises ``ChainUnavailableError``.
    """
    deadline = time.monotonic() + pool.timeout_seconds
    first, opinions = _ask(chain, pool, searches, deadline=deadline)
    doubtful = [search for search in searches if not opinions[search.key].is_hint]
    seconds: dict[Hashable, _Opinion] = {}
    if doubtful and len(pool.providers) > 1:
        try:
            _, seconds = _ask(chain, pool, doubtful, deadline=deadline, exclude=first)
        except ChainUnavailableError:
            seconds = {search.key: replace(opinions[search.key], is_safe=False) for search in doubtful}
    findings = {key: _finding(opinion, seconds.get(key, opinion)) for key, opinion in opinions.items()}
    return _with_receipts(pool, searches, findings)


def _finding(first: _Opinion, second: _Opinion) -> Finding:
    hit = second.hit if first.hit is None or second.is_hint else first.hit
    agreed = first.is_safe and second.is_safe and first.hit == second.hit
    resume_at = None if first.resume_at is None or second.resume_at is None else max(first.resume_at, second.resume_at)
    return Finding(hit, receipt=None, agreed=agreed, resume_at=resume_at)


def _ask(
    chain: Chain,
    pool: ProviderPool,
    searches: Sequence[Search],
    *,
    deadline: float,
    exclude: Provider | None = None,
) -> tuple[Provider, dict[Hashable, _Opinion]]:
    safe = chain.finality.safe
    calls = log_query.depth_calls(safe)
    for search in searches:
        calls += [_logs_call(search, span) for span in search.spans()]
    left = max(deadline - time.monotonic(), MIN_TIMEOUT_SECONDS)
    provider, values = pool.ask(calls, timeout_seconds=left, exclude=exclude)
    remaining = iter(values)
    _, safe_number = log_query.take_depth(safe, remaining)
    return provider, {search.key: _opinion(search, remaining, safe_number) for search in searches}


def _opinion(search: Search, found: Iterator[Any], safe_number: int) -> _Opinion:
    """Read the responses to the spans of a search; everything after a refused span counts as not searched."""
    resume_at = search.first_block
    answered = [(last, next(found)) for _, last in search.spans()]
    for last, hit in answered:
        if isinstance(hit, Hit):
            return _Opinion(hit, is_safe=hit.block_number <= safe_number, resume_at=None)
        if isinstance(hit, CallFailedError):
            return _Opinion(None, is_safe=False, resume_at=resume_at)
        resume_at = last + 1
    return _Opinion(None, is_safe=False, resume_at=resume_at if resume_at <= search.last_block else None)


def _logs_call(search: Search, span: Span) -> Call:
    def read(logs: Sequence[MinedLog]) -> Hit | None:
        hits = {_hit(search, log) for log in logs}
        if len(hits) > 1:
            raise BadResponseError("the contract emits this event once")
        return next(iter(hits), None)

    return log_query.logs_call(contract=search.contract, topics=search.topics, span=span, read=read)


def _hit(search: Search, mined: MinedLog) -> Hit:
    event = search.read(mined.log)
    if event is None:
        raise BadResponseError("a log is of another event")
    return Hit(event, mined.tx_hash, mined.block_number, mined.block_hash)


def _with_receipts(
    pool: ProviderPool, searches: Sequence[Search], findings: Mapping[Hashable, Finding]
) -> dict[Hashable, Finding]:
    """Add the receipts of hints, each from whichever provider shows the event in that very block."""
    hits = [(search, hit) for search in searches if (hit := findings[search.key].hit) and hit.event.is_hint]
    receipts = log_query.receipts(pool, [hit.tx_hash for _, hit in hits])
    return dict(findings) | {
        search.key: replace(
            findings[search.key],
            receipt=next((one for one in receipts[hit.tx_hash] if _shows(one, search, hit)), None),
        )
        for search, hit in hits
    }


def _shows(receipt: Receipt, search: Search, hit: Hit) -> bool:
    """Whether this is a receipt of that very block with the event in it."""
    events = [search.read(log) for log in receipt.logs if log.address == search.contract]
    return hit.event in events and (receipt.block_number, receipt.block_hash) == (hit.block_number, hit.block_hash)
