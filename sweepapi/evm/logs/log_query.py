"""What all queries of logs share: spans that providers accept, checks of each log, and a provider's own depth."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from sweepapi.evm.chain.blocks import head_call, optional_block_call
from sweepapi.evm.encoding import responses
from sweepapi.evm.encoding.responses import MinedLog, Receipt
from sweepapi.rpc import Call, ErrorPolicy, ProviderPool
from sweepapi.rpc.errors import BadResponseError, ChainUnavailableError

# Providers cap the blocks of a log query at a thousand or more, and the calls of a batch at a hundred or more.
SPAN_BLOCKS = 1_000
SPANS_AT_ONCE = 9

Topics = tuple[str | tuple[str, ...], ...]  # by position; several mean any of them
Span = tuple[int, int]  # the first block and the last one


def spans(first_block: int, last_block: int, *, span_blocks: int) -> list[Span]:
    """Return these blocks in spans of that length, as many from the first one on as one batch may query."""
    starts = range(first_block, last_block + 1, span_blocks)[:SPANS_AT_ONCE]
    return [(start, min(start + span_blocks - 1, last_block)) for start in starts]


def logs_call(*, contract: str, topics: Topics, span: Span, read: Callable[[Sequence[MinedLog]], Any]) -> Call:
    """Return the query of a contract's logs in a span; ``read`` turns them into its result.

    A log of another contract or block makes the whole response unusable. That, and a refusal, is a result.
    """
    first, last = span
    query = {
        "address": contract,
        "fromBlock": hex(first),
        "toBlock": hex(last),
        "topics": [list(topic) if isinstance(topic, tuple) else topic for topic in topics],
    }

    def decode(value: object) -> Any:  # noqa: ANN401 - what the caller reads
        logs = responses.mined_logs(value)
        if any(log.log.address != contract or not first <= log.block_number <= last for log in logs):
            raise BadResponseError("a log is from another contract or block")
        return read(logs)

    return Call("eth_getLogs", (query,), decode, ErrorPolicy.ANY)


def depth_calls(reference: str | int) -> list[Call]:
    """Return the calls that show a provider's head and its safe or final block: a tag, or blocks below the head."""
    return [head_call()] if isinstance(reference, int) else [head_call(), optional_block_call(reference)]


def take_depth(reference: str | int, results: Iterator[Any]) -> tuple[int, int]:
    """Take the results of ``depth_calls``: the heights of the head and of the safe or final block, negative if none."""
    head = next(results)
    if isinstance(reference, int):
        return head.number, head.number - reference
    block = next(results)
    return head.number, block.number if block is not None else -1


def receipts(pool: ProviderPool, tx_hashes: Sequence[str]) -> Mapping[str, Sequence[Receipt]]:
    """Return, by hash, the receipts of successful transactions that the providers show; the caller compares them.

    A batch is halved if more providers answer a small request: anyone may emit logs that make a response too long.
    """
    calls = [
        Call("eth_getTransactionReceipt", (tx_hash,), responses.receipt_of(tx_hash), ErrorPolicy.ANY)
        for tx_hash in tx_hashes
    ]
    answered = _answers(pool, calls) if calls else []
    if len(calls) > 1 and len(answered) < len(pool.providers) and len(answered) < len(_answers(pool, depth_calls(0))):
        middle = len(tx_hashes) // 2
        return {**receipts(pool, tx_hashes[:middle]), **receipts(pool, tx_hashes[middle:])}
    return {
        tx_hash: [receipt for receipt in shown if isinstance(receipt, Receipt) and receipt.succeeded]
        for tx_hash, *shown in zip(tx_hashes, *answered, strict=True)
    }


def _answers(pool: ProviderPool, calls: Sequence[Call]) -> list[list[Any]]:
    try:
        return pool.ask_all(calls)
    except ChainUnavailableError:
        return []
