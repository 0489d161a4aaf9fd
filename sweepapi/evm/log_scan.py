"""Reading every log of one kind that a contract emitted, span by span, up to the final block.

``log_search`` looks for one event, and its caller checks what it finds. Here an event that is missing would be missed
for good. So a span counts only if every provider that answers shows the same logs, and at least two of them do where
two are configured. A provider whose final block is below the span has not answered.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import structlog

from sweepapi.evm import log_query
from sweepapi.evm.chains import Chain
from sweepapi.evm.log_query import Span
from sweepapi.evm.responses import Log, MinedLog, Receipt
from sweepapi.rpc import ProviderPool
from sweepapi.rpc.errors import BadResponseError, ChainUnavailableError

log = structlog.get_logger(__name__)

# In blocks. After an outage, a thousand blocks of a busy contract may hold more logs than providers return at once.
SPAN_LENGTHS = (1_000, 100, 10)
RECEIPTS_AT_ONCE = 100


@dataclass(frozen=True)
class Stream:
    """The logs to read."""

    contract: str
    topic: str
    is_readable: Callable[[Log], bool]  # what the contract emits with this topic always is


@dataclass(frozen=True)
class ScannedSpan:
    """Final blocks, the last one included, and all their logs of one stream, in the order of the chain."""

    last_block: int
    logs: Sequence[MinedLog]


@dataclass(frozen=True)
class Scan:
    """The final blocks that were read, in spans without gaps."""

    head_number: int
    final_number: int
    spans: Sequence[ScannedSpan]


def scan(*, chain: Chain, pool: ProviderPool, stream: Stream, first_block: int) -> Scan:
    """Return the logs from the first block on, as far as one batch reaches and the providers agree.

    Two round trips to every provider, more if they refuse long spans. Raises ``ChainUnavailableError`` if fewer
    providers answer than are needed.
    """
    needed = min(len(pool.providers), 2)
    depths = [
        log_query.take_depth(chain.finality.final, iter(results))
        for results in pool.ask_all(log_query.depth_calls(chain.finality.final))
    ]
    if len(depths) < needed:
        raise ChainUnavailableError("a second provider is needed, and none answered")
    # Of two providers or more, one that lies can't raise either.
    head_number, final_number = (sorted(heights)[-needed] for heights in zip(*depths, strict=True))
    for span_blocks in SPAN_LENGTHS:
        queried = log_query.spans(first_block, final_number, span_blocks=span_blocks)
        answers = _ask(chain, pool, stream, queried) if queried else []
        if not queried or len(answers[0]) >= needed:
            return Scan(head_number, final_number, list(_agreed(stream, needed, queried, answers)))
    raise ChainUnavailableError("too few providers show the logs: they refuse, or their final block fell back")


def _ask(chain: Chain, pool: ProviderPool, stream: Stream, queried: Sequence[Span]) -> list[list[Any]]:
    """Return, for each span, the logs of each provider that answered for it."""
    calls = log_query.depth_calls(chain.finality.final)
    calls += [
        log_query.logs_call(contract=stream.contract, topics=(stream.topic,), span=span, read=_reader(stream))
        for span in queried
    ]
    answers: list[list[Any]] = [[] for _ in queried]
    try:
        answered = pool.ask_all(calls)
    except ChainUnavailableError:  # the whole response may have been too long
        return answers
    for values in answered:
        results = iter(values)
        _, final_number = log_query.take_depth(chain.finality.final, results)
        for (_, last), logs, shown in zip(queried, results, answers, strict=True):
            if isinstance(logs, tuple) and last <= final_number:  # else refused, unusable, or the provider lags
                shown.append(logs)
    return answers


def _reader(stream: Stream) -> Callable[[Sequence[MinedLog]], tuple[MinedLog, ...]]:
    def read(logs: Sequence[MinedLog]) -> tuple[MinedLog, ...]:
        if any(one.log.topics[:1] != (stream.topic,) or not stream.is_readable(one.log) for one in logs):
            raise BadResponseError("a log is of another event")
        by_position = {(one.block_number, one.index): one for one in logs}
        if len(by_position) < len(logs):
            raise BadResponseError("two logs have the same position")
        return tuple(by_position[position] for position in sorted(by_position))

    return read


def _agreed(
    stream: Stream, needed: int, queried: Sequence[Span], answers: Sequence[Sequence[Any]]
) -> Iterator[ScannedSpan]:
    """Yield the spans up to the first about which too few providers answered, or not all agree."""
    for (first, last), shown in zip(queried, answers, strict=True):
        if len(shown) < needed:
            return
        if any(logs != shown[0] for logs in shown):
            log.warning("logs_disagree", contract=stream.contract, first_block=first, last_block=last)
            return
        yield ScannedSpan(last, shown[0])


def receipts(pool: ProviderPool, stream: Stream, logs: Sequence[MinedLog]) -> dict[str, Receipt]:
    """Return, by hash, the receipts of transactions all of whose logs of the stream are given, in their order.

    Each is from whichever provider shows exactly these logs in that very block; without one, it is missing.
    """
    by_hash: dict[str, list[MinedLog]] = {}
    for one in logs:
        by_hash.setdefault(one.tx_hash, []).append(one)
    hashes = list(by_hash)
    found: dict[str, Receipt] = {}
    for start in range(0, len(hashes), RECEIPTS_AT_ONCE):
        shown = log_query.receipts(pool, hashes[start : start + RECEIPTS_AT_ONCE])
        found |= {
            receipt.tx_hash: receipt
            for candidates in shown.values()
            for receipt in candidates
            if _shows(receipt, stream, by_hash[receipt.tx_hash])
        }
    return found


def _shows(receipt: Receipt, stream: Stream, logs: Sequence[MinedLog]) -> bool:
    emitted = [log for log in receipt.logs if log.address == stream.contract and log.topics[:1] == (stream.topic,)]
    is_in_block = (receipt.block_number, receipt.block_hash) == (logs[0].block_number, logs[0].block_hash)
    return is_in_block and emitted == [one.log for one in logs]
