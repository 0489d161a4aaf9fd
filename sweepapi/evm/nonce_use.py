"""Finding out what used an authorization's nonce: the contract says "used", and one of two events says by what.

One targeted log query for one authorization, cut into spans that providers take, over the blocks between its build and
the safe block. An execution is only a hint whose receipt is read, like a hash that a partner reports. A cancellation
closes a sweep, so it counts only on a safe block and, where there are two providers, if both show the same.
"""

import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sweepapi.evm import responses
from sweepapi.evm.chains import Chain
from sweepapi.evm.errors import BadResponseError, CallFailedError, ChainUnavailableError
from sweepapi.evm.responses import MinedLog, Receipt
from sweepapi.evm.rpc import MIN_TIMEOUT_SECONDS, Call, ErrorPolicy, Provider, ProviderPool
from sweepapi.evm.v5 import CANCELLED_TOPIC, EXECUTED_TOPIC, decode_cancelled, decode_executed

# Providers cap the blocks of a log query at a thousand or more, and the calls of a batch at a hundred or more.
SPAN_BLOCKS = 1_000
SPANS_AT_ONCE = 9
MAX_SEARCHES = 10


@dataclass(frozen=True)
class Search:
    """Whose nonce was used, and the blocks to search, both ends included; the last one is safe."""

    key: Hashable
    contract: str
    nonce: int
    first_block: int
    last_block: int

    def spans(self) -> list[tuple[int, int]]:
        """Return the first blocks of the search in spans that a provider takes, as many as fit one look."""
        starts = range(self.first_block, self.last_block + 1, SPAN_BLOCKS)[:SPANS_AT_ONCE]
        return [(start, min(start + SPAN_BLOCKS - 1, self.last_block)) for start in starts]


@dataclass(frozen=True)
class NonceUse:
    """The event that used the nonce, and where it lies."""

    tx_hash: str
    block_number: int
    block_hash: str
    cancelled_by: str | None  # None: it was executed


@dataclass(frozen=True)
class Finding:
    """What a search found."""

    use: NonceUse | None
    receipt: Receipt | None  # of an execution, with its event; None if no provider gave it
    agreed: bool  # a cancellation lies on a safe block, and a second provider, where there is one, says so too
    resume_at: int | None  # the first block that was not searched; None if something was found, or all was searched


@dataclass(frozen=True)
class _Opinion:
    """What one provider showed of one search."""

    use: NonceUse | None
    is_safe: bool  # whether the block of the use is
    resume_at: int | None

    @property
    def is_executed(self) -> bool:
        return self.use is not None and self.use.cancelled_by is None


def find_uses(*, chain: Chain, pool: ProviderPool, searches: Sequence[Search]) -> dict[Hashable, Finding]:
    """Return what was found for each of at most ``MAX_SEARCHES`` searches, by its key.

    One round trip a provider, two providers at most, and one more to every provider for the receipts of executions.
    Raises ``ChainUnavailableError``.
    """
    deadline = time.monotonic() + pool.timeout_seconds
    first, opinions = _ask(chain, pool, searches, deadline=deadline)
    doubtful = [search for search in searches if not opinions[search.key].is_executed]
    seconds: dict[Hashable, _Opinion] = {}
    if doubtful and len(pool.providers) > 1:
        try:
            _, seconds = _ask(chain, pool, doubtful, deadline=deadline, exclude=first)
        except ChainUnavailableError:
            seconds = {search.key: replace(opinions[search.key], is_safe=False) for search in doubtful}
    findings = {key: _finding(opinion, seconds.get(key, opinion)) for key, opinion in opinions.items()}
    return _with_receipts(pool, searches, findings)


def _finding(first: _Opinion, second: _Opinion) -> Finding:
    use = second.use if first.use is None or second.is_executed else first.use
    agreed = first.is_safe and second.is_safe and first.use == second.use
    resume_at = None if first.resume_at is None or second.resume_at is None else max(first.resume_at, second.resume_at)
    return Finding(use, receipt=None, agreed=agreed, resume_at=resume_at)


def _ask(
    chain: Chain,
    pool: ProviderPool,
    searches: Sequence[Search],
    *,
    deadline: float,
    exclude: Provider | None = None,
) -> tuple[Provider, dict[Hashable, _Opinion]]:
    safe = chain.finality.safe
    calls = [Call("eth_getBlockByNumber", ("latest", False), responses.block)]
    if isinstance(safe, str):
        calls.append(Call("eth_getBlockByNumber", (safe, False), responses.optional_block))
    for search in searches:
        calls += [_logs_call(search, *span) for span in search.spans()]
    provider, (head, *values) = pool.ask(calls, timeout_seconds=_left(deadline), exclude=exclude)
    tagged = values.pop(0) if isinstance(safe, str) else None
    safe_number = (tagged.number if tagged is not None else -1) if isinstance(safe, str) else head.number - safe
    remaining = iter(values)
    return provider, {search.key: _opinion(search, remaining, safe_number) for search in searches}


def _opinion(search: Search, found: Iterator[Any], safe_number: int) -> _Opinion:
    """Read the answers to the spans of a search; what lies behind a span that was refused counts as not searched."""
    resume_at = search.first_block
    answered = [(last, next(found)) for _, last in search.spans()]
    for last, use in answered:
        if isinstance(use, NonceUse):
            return _Opinion(use, is_safe=use.block_number <= safe_number, resume_at=None)
        if isinstance(use, CallFailedError):
            return _Opinion(None, is_safe=False, resume_at=resume_at)
        resume_at = last + 1
    return _Opinion(None, is_safe=False, resume_at=resume_at if resume_at <= search.last_block else None)


def _logs_call(search: Search, first: int, last: int) -> Call:
    nonce_topic = f"0x{search.nonce:064x}"
    query = {
        "address": search.contract,
        "fromBlock": hex(first),
        "toBlock": hex(last),
        "topics": [[EXECUTED_TOPIC, CANCELLED_TOPIC], nonce_topic],
    }
    return Call("eth_getLogs", (query,), _use_in(search, first, last), ErrorPolicy.ANY)


def _use_in(search: Search, first: int, last: int) -> Callable[[object], NonceUse | None]:
    """Return the decoder of one span; a log that was not asked for makes the whole answer a bad one."""

    def decode(value: object) -> NonceUse | None:
        logs = responses.mined_logs(value)
        if any(log.log.address != search.contract or not first <= log.block_number <= last for log in logs):
            raise BadResponseError("a log is from elsewhere")
        uses = {_use(log, search.nonce) for log in logs}
        if len(uses) > 1:
            raise BadResponseError("a nonce was used twice")
        return next(iter(uses), None)

    return decode


def _use(mined: MinedLog, nonce: int) -> NonceUse:
    cancelled = decode_cancelled(mined.log)
    event = cancelled or decode_executed(mined.log)
    if event is None or event.nonce != nonce:
        raise BadResponseError("a log is of another event")
    by = cancelled.by if cancelled is not None else None
    return NonceUse(mined.tx_hash, mined.block_number, mined.block_hash, by)


def _with_receipts(
    pool: ProviderPool, searches: Sequence[Search], findings: Mapping[Hashable, Finding]
) -> dict[Hashable, Finding]:
    """Add the receipts of executions; every provider is asked, for one that knows none must not hide it for good."""
    uses = {search: findings[search.key].use for search in searches}
    executed = {search: use for search, use in uses.items() if use is not None and use.cancelled_by is None}
    calls = [
        Call("eth_getTransactionReceipt", (use.tx_hash,), responses.receipt_of(use.tx_hash), ErrorPolicy.ANY)
        for use in executed.values()
    ]
    try:
        answered = pool.ask_all(calls) if calls else []
    except ChainUnavailableError:
        answered = []
    return dict(findings) | {
        search.key: replace(
            findings[search.key], receipt=next((one for one in receipts if _shows(one, search, use)), None)
        )
        for (search, use), *receipts in zip(executed.items(), *answered, strict=True)
    }


def _shows(receipt: object, search: Search, use: NonceUse) -> bool:
    """Whether this is a receipt of that very block with the event in it."""
    if not isinstance(receipt, Receipt) or not receipt.succeeded:
        return False
    events = [decode_executed(log) for log in receipt.logs if log.address == search.contract]
    is_there = any(event is not None and event.nonce == search.nonce for event in events)
    return is_there and (receipt.block_number, receipt.block_hash) == (use.block_number, use.block_hash)


def _left(deadline: float) -> float:
    return max(deadline - time.monotonic(), MIN_TIMEOUT_SECONDS)
