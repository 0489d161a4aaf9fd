"""Reading the events that a contract emitted, span by span, up to the final block.

``log_search`` looks for one event, and its caller checks what it finds. Here an event that is missing would be missed
for good. So a span counts only if two providers show the same logs and the same last block, where two are configured,
and no two others agree on something else. A provider whose final block is below the span has not answered.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import structlog

from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.errors import FinalBlockReplacedError
from sweepapi.evm.encoding import responses
from sweepapi.evm.encoding.responses import Log, MinedLog, Receipt
from sweepapi.evm.logs import log_query
from sweepapi.evm.logs.log_query import Span
from sweepapi.rpc import Call, ErrorPolicy, ProviderPool
from sweepapi.rpc.agreement import Opinion, decide, report
from sweepapi.rpc.errors import BadResponseError, CallFailedError, ChainUnavailableError

log = structlog.get_logger(__name__)

# In blocks. After an outage, a thousand blocks of a busy contract may hold more logs than providers return at once.
SPAN_LENGTHS = (1_000, 100, 10)
RECEIPTS_AT_ONCE = 100


@dataclass(frozen=True)
class Stream:
    """The logs to read."""

    contract: str
    topics: tuple[str, ...]  # of their events
    is_readable: Callable[[Log], bool]  # what the contract emits with these topics always is

    def is_of(self, log: Log) -> bool:
        """Return whether a log is of this stream, as far as contract and topic say."""
        return log.address == self.contract and any(topic in self.topics for topic in log.topics[:1])


@dataclass(frozen=True)
class ScanMark:
    """How far a stream was read: the last block and its hash, blank if that is not known."""

    number: int
    block_hash: str = ""


@dataclass(frozen=True)
class ScannedSpan:
    """Final blocks up to the end, which is included, and all their logs of one stream, in the order of the blocks."""

    end: ScanMark
    logs: Sequence[MinedLog]


@dataclass(frozen=True)
class Scan:
    """The final blocks that were read, in spans without gaps."""

    head_number: int
    final_number: int
    spans: Sequence[ScannedSpan]


def scan(*, chain: Chain, pool: ProviderPool, stream: Stream, after: ScanMark, last_block: int | None = None) -> Scan:
    """Return the logs after the mark, as far as one batch reaches and the providers agree, at most to the last block.

    Two round trips to every provider, more if they refuse long spans. Raises ``ChainUnavailableError`` if fewer
    providers answer than are needed, and ``FinalBlockReplacedError``.
    """
    head_number, final_number = depths(chain, pool)
    end = final_number if last_block is None else min(last_block, final_number)
    for span_blocks in SPAN_LENGTHS:
        queried = log_query.spans(after.number + 1, end, span_blocks=span_blocks)
        answers = _ask(chain, pool, stream, after, queried) if queried else []
        if not queried or len(answers[0]) >= pool.needed:
            return Scan(head_number, final_number, list(_agreed(pool, stream, after, queried, answers)))
    raise ChainUnavailableError("too few providers show the logs: they refuse, or their final block fell back")


def depths(chain: Chain, pool: ProviderPool) -> tuple[int, int]:
    """Return the heights of the head and of the final block; of two providers or more, one that lies can't raise them.

    Raises ``ChainUnavailableError`` if fewer providers answer than are needed.
    """
    shown = [
        log_query.take_depth(chain.finality.final, iter(results))
        for results in pool.ask_all(log_query.depth_calls(chain.finality.final))
    ]
    if len(shown) < pool.needed:
        raise ChainUnavailableError("a second provider is needed, and none answered")
    heads, finals = zip(*shown, strict=True)
    return sorted(heads)[-pool.needed], sorted(finals)[-pool.needed]


@dataclass(frozen=True)
class _ShownSpan:
    """What one provider shows of a span."""

    start: str  # the hash of the marked block below all spans; blank if that is not known
    end: str  # the hash of the span's last block
    logs: tuple[MinedLog, ...]


_Opinions = list[Opinion[_ShownSpan]]  # about a span


def _ask(chain: Chain, pool: ProviderPool, stream: Stream, after: ScanMark, queried: Sequence[Span]) -> list[_Opinions]:
    """Return, for each span, what each provider showed that answered for it."""
    calls = log_query.depth_calls(chain.finality.final)
    calls += [_hash_call(after.number)] if after.block_hash else []
    for span in queried:
        calls += [_logs_call(stream, span), _hash_call(span[1])]
    answers: list[_Opinions] = [[] for _ in queried]
    try:
        answered = pool.ask_each(calls)
    except ChainUnavailableError:  # the whole response may have been too long
        return answers
    for provider, values in answered:
        results = iter(values)
        _, final_number = log_query.take_depth(chain.finality.final, results)
        start = next(results) if after.block_hash else ""
        for (_, last), shown in zip(queried, answers, strict=True):
            logs, end = next(results), next(results)
            is_refused = any(isinstance(one, CallFailedError) for one in (start, logs, end))
            if not is_refused and last <= final_number:  # else the answer is unusable, or the provider lags
                shown.append(Opinion(provider, _ShownSpan(start, end, logs)))
    return answers


def _logs_call(stream: Stream, span: Span) -> Call:
    # All logs of the contract, because the position of each is among all of them.
    return log_query.logs_call(contract=stream.contract, topics=(), span=span, read=_reader(stream))


def _hash_call(height: int) -> Call:
    def decode(value: object) -> str:
        block = responses.block(value)
        if block.number != height:
            raise BadResponseError("the block is another one")
        return block.hash

    return Call("eth_getBlockByNumber", (hex(height), False), decode, ErrorPolicy.ANY)


def _reader(stream: Stream) -> Callable[[Sequence[MinedLog]], tuple[MinedLog, ...]]:
    def read(logs: Sequence[MinedLog]) -> tuple[MinedLog, ...]:
        shown = tuple(one for one in logs if stream.is_of(one.log))
        if not all(stream.is_readable(one.log) for one in shown):
            raise BadResponseError("a log is of another event")
        return shown

    return read


def _agreed(
    pool: ProviderPool, stream: Stream, after: ScanMark, queried: Sequence[Span], answers: Sequence[_Opinions]
) -> Iterator[ScannedSpan]:
    """Yield the spans up to the first about which too few providers answered, or too few agree."""
    for (first, last), opinions in zip(queried, answers, strict=True):
        decision = decide(opinions, needed=pool.needed)
        shown = decision.conclusion
        if shown is None:
            if decision.is_disputed:
                log.warning("logs_disagree", contract=stream.contract, first_block=first, last_block=last)
            return
        report(pool, decision, subject=f"events of {stream.contract} in blocks {first} to {last}")
        if shown.start != after.block_hash:
            raise FinalBlockReplacedError(f"block {after.number} was {after.block_hash}, and is {shown.start} now")
        yield ScannedSpan(ScanMark(last, shown.end), shown.logs)


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
    is_in_block = (receipt.block_number, receipt.block_hash) == (logs[0].block_number, logs[0].block_hash)
    emitted = enumerate(receipt.emitted_by(stream.contract))
    shown = [(position, log) for position, log in emitted if stream.is_of(log)]
    return is_in_block and shown == [(one.position, one.log) for one in logs]
