"""Searching the logs for the one event that explains a change of a contract's state.

A targeted query for one subject, cut into spans that providers accept, up to the safe block. The caller names the
contract, the topics and how to read a log. An event that is only a *hint* (its receipt is read and checked afterwards)
counts from any provider; any other event counts only on a safe block and, where there are two providers, if two show
the same log of the same transaction.
"""

import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.encoding.responses import Log, MinedLog, Receipt
from sweepapi.evm.logs import log_query
from sweepapi.evm.logs.log_query import Span, Topics
from sweepapi.evm.logs.standing import SeenTransaction, Standing
from sweepapi.rpc import MIN_TIMEOUT_SECONDS, Call, Provider, ProviderPool
from sweepapi.rpc.agreement import Opinion, decide, report
from sweepapi.rpc.errors import BadResponseError, CallFailedError, ChainUnavailableError

MAX_SEARCHES = 10


@dataclass(frozen=True)
class Event:
    """A log as the caller reads it."""

    value: Hashable
    is_hint: bool  # the receipt of its transaction is fetched and decides


@dataclass(frozen=True)
class LogSearch:
    """What to search for, and in which blocks, both ends included; the last one is safe."""

    key: Hashable
    contract: str
    topics: Topics
    read: Callable[[Log], Event | None]  # None for a log that was not queried
    first_block: int
    last_block: int

    def spans(self) -> list[Span]:
        """Return the first blocks of the search in spans that a provider takes, as many as fit one read."""
        return log_query.spans(self.first_block, self.last_block, span_blocks=log_query.SPAN_BLOCKS)


@dataclass(frozen=True)
class Hit:
    """The event that was found, with its transaction and its block."""

    event: Event
    mined: MinedLog

    @property
    def tx_hash(self) -> str:
        return self.mined.tx_hash

    @property
    def block(self) -> tuple[int, str]:
        """The height and the hash of its block."""
        return self.mined.block_number, self.mined.block_hash


@dataclass(frozen=True)
class SearchFinding:
    """The result of a search."""

    hit: Hit | None
    seen: SeenTransaction | None  # that of a hint, with its event in it; None if no provider gave its receipt
    agreed: bool  # the hit lies on a safe block, and two providers, where there are two, show it
    resume_at: int | None  # the first block that was not searched; None if something was found, or all was searched


class _Nothing(Enum):
    """The conclusion that no event explains the change."""

    NOTHING = "nothing"


@dataclass(frozen=True)
class _ShownSearch:
    """What one provider showed for one search."""

    hit: Hit | None
    is_safe: bool  # whether the block of the hit is
    resume_at: int | None

    @property
    def is_hint(self) -> bool:
        return self.hit is not None and self.hit.event.is_hint

    @property
    def conclusion(self) -> object:
        if self.hit is None:
            return _Nothing.NOTHING if self.resume_at is None else None
        return self.hit if self.is_safe and not self.is_hint else None


@dataclass(frozen=True)
class _SearchOpinion:
    """What one provider showed for those searches that it was queried about."""

    provider: Provider
    shown: Mapping[Hashable, _ShownSearch]


def find(*, chain: Chain, pool: ProviderPool, searches: Sequence[LogSearch]) -> dict[Hashable, SearchFinding]:
    """Return what was found for each of at most ``MAX_SEARCHES`` searches, by its key.

    One round trip per provider: two providers, and further ones while they disagree. One more to every provider for the
    receipts of hints. Raises ``ChainUnavailableError``.
    """
    deadline = time.monotonic() + pool.timeout_seconds
    opinions: list[_SearchOpinion] = []
    doubtful = searches
    while doubtful and len(opinions) < len(pool.providers):
        try:
            opinions.append(_ask(chain, pool, doubtful, deadline, exclude=[one.provider for one in opinions]))
        except ChainUnavailableError:
            if not opinions:
                raise
            break
        doubtful = [one for one in doubtful if _needs_another([opinion.shown[one.key] for opinion in opinions])]
    findings = {search.key: _finding(pool, search, opinions) for search in searches}
    return _with_receipts(pool, searches, findings)


def _needs_another(shown: Sequence[_ShownSearch]) -> bool:
    """Whether a further provider has to be queried about a search."""
    if any(one.is_hint for one in shown):
        return False
    conclusions = [one.conclusion for one in shown if one.conclusion is not None]
    is_decided = any(conclusions.count(one) > 1 for one in conclusions)
    return len(shown) == 1 or (not is_decided and any(isinstance(one, Hit) for one in conclusions))


def _finding(pool: ProviderPool, search: LogSearch, opinions: Sequence[_SearchOpinion]) -> SearchFinding:
    shown = {one.provider: one.shown[search.key] for one in opinions if search.key in one.shown}
    hint = next((one.hit for one in shown.values() if one.is_hint), None)
    if hint is not None:
        return SearchFinding(hint, seen=None, agreed=False, resume_at=None)
    decision = decide([Opinion(one, found.conclusion) for one, found in shown.items()], needed=pool.needed)
    report(pool, decision, subject=search.key)
    if isinstance(decision.conclusion, Hit):
        return SearchFinding(decision.conclusion, seen=None, agreed=True, resume_at=None)
    hit = None if decision.supporters else next((one.hit for one in shown.values() if one.hit is not None), None)
    unsearched = [one.resume_at for one in shown.values()]
    resume_at = None if None in unsearched else max(height for height in unsearched if height is not None)
    return SearchFinding(hit, seen=None, agreed=False, resume_at=resume_at)


def _ask(
    chain: Chain,
    pool: ProviderPool,
    searches: Sequence[LogSearch],
    deadline: float,
    *,
    exclude: Sequence[Provider],
) -> _SearchOpinion:
    safe = chain.finality.safe
    calls = log_query.depth_calls(safe)
    for search in searches:
        calls += [_logs_call(search, span) for span in search.spans()]
    left = max(deadline - time.monotonic(), MIN_TIMEOUT_SECONDS)
    provider, values = pool.ask(calls, timeout_seconds=left, exclude=exclude)
    remaining = iter(values)
    head_number, safe_number = log_query.take_depth(safe, remaining)
    shown = {search.key: _shown(search, remaining, head_number, safe_number) for search in searches}
    return _SearchOpinion(provider, shown)


def _shown(search: LogSearch, found: Iterator[Any], head_number: int, safe_number: int) -> _ShownSearch:
    """Read the responses to the spans of a search.

    Everything from a span on that was refused, or that the provider has not reached, counts as not searched.
    """
    resume_at = search.first_block
    answered = [(last, next(found)) for _, last in search.spans()]
    for last, hit in answered:
        if isinstance(hit, Hit):
            return _ShownSearch(hit, is_safe=hit.mined.block_number <= safe_number, resume_at=None)
        if isinstance(hit, CallFailedError) or last > head_number:
            return _ShownSearch(None, is_safe=False, resume_at=resume_at)
        resume_at = last + 1
    return _ShownSearch(None, is_safe=False, resume_at=resume_at if resume_at <= search.last_block else None)


def _logs_call(search: LogSearch, span: Span) -> Call:
    def read(logs: Sequence[MinedLog]) -> Hit | None:
        hits = {_hit(search, log) for log in logs}
        if len(hits) > 1:
            raise BadResponseError("the contract emits this event once")
        return next(iter(hits), None)

    return log_query.logs_call(contract=search.contract, topics=search.topics, span=span, read=read)


def _hit(search: LogSearch, mined: MinedLog) -> Hit:
    event = search.read(mined.log)
    if event is None:
        raise BadResponseError("a log is of another event")
    return Hit(event, mined)


def _with_receipts(
    pool: ProviderPool, searches: Sequence[LogSearch], findings: Mapping[Hashable, SearchFinding]
) -> dict[Hashable, SearchFinding]:
    """Add the receipts of hints, each from whichever provider shows the event in that very block."""
    hits = [(search, hit) for search in searches if (hit := findings[search.key].hit) and hit.event.is_hint]
    receipts = log_query.receipts(pool, [hit.tx_hash for _, hit in hits])
    return dict(findings) | {
        search.key: replace(
            findings[search.key],
            seen=_seen(pool, [one for one in receipts[hit.tx_hash] if _has_event(one, search, hit)]),
        )
        for search, hit in hits
    }


def _seen(pool: ProviderPool, receipts: Sequence[Receipt]) -> SeenTransaction | None:
    """Return the transaction that these receipts of different providers, each with the event, are of."""
    if not receipts:
        return None
    if len(pool.providers) == 1:
        return SeenTransaction(receipts[0], Standing.ONLY)
    return SeenTransaction(receipts[0], Standing.AGREED if len(receipts) >= pool.needed else Standing.ALONE)


def _has_event(receipt: Receipt, search: LogSearch, hit: Hit) -> bool:
    """Whether this is a receipt of that very block with the event in it."""
    is_in_block = (receipt.block_number, receipt.block_hash) == hit.block
    return is_in_block and hit.mined.log in receipt.emitted_by(search.contract)
