"""Reading the events of some contracts in blocks that are not final yet, by one request to one provider at each poll.

What is read are hints, which nothing depends on. So of each log only what identifies it is decoded, which is cheap for
thousands of them, and a receipt decides: one from another provider than the one that showed the log.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sweepapi.evm.chain.blocks import head_call, optional_block_call
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.encoding import responses
from sweepapi.evm.encoding.responses import Block, MinedLog, Receipt
from sweepapi.evm.logs import log_query
from sweepapi.evm.logs.log_query import SPAN_BLOCKS, SPANS_AT_ONCE
from sweepapi.evm.logs.standing import SeenTransaction, Standing
from sweepapi.rpc import Call, ErrorPolicy, Provider, ProviderPool
from sweepapi.rpc.errors import BadResponseError, ChainUnavailableError

RECEIPTS_AT_ONCE = 100
PROVIDERS_WITH_A_THIRD = 3
# In blocks: a thousand busy ones may hold more logs than a provider returns at once.
SPAN_LENGTHS = (SPAN_BLOCKS, SPAN_BLOCKS // 10)

_HASH = re.compile(r"0x[0-9a-f]{64}")


class PolledEvent(NamedTuple):
    """An event as its log identifies it; the log itself is checked when it is decoded."""

    contract: str
    topic: str
    subject: str  # the second topic
    tx_hash: str
    block_number: int
    block_hash: str
    fields: Mapping[str, Any]  # as the provider returned them

    def decode(self) -> MinedLog:
        """Return the log; raises ``BadResponseError``."""
        (mined,) = responses.mined_logs([self.fields])
        return mined


@dataclass(frozen=True)
class Depths:
    """The heights of a chain's newest blocks; None where the chain has no such block yet."""

    head: int
    safe: int | None
    final: int | None


@dataclass(frozen=True)
class Poll:
    """What a provider showed."""

    provider: Provider
    depths: Depths
    timestamp: int  # of the head, in seconds since 1970
    events: Sequence[PolledEvent]
    is_whole: bool  # False: the provider refused some of the blocks


def poll(
    *, chain: Chain, pool: ProviderPool, contracts: Collection[str], topics: Collection[str], known: Depths | None
) -> Poll:
    """Return the events above the final block that the last poll showed, up to the head, in the newest blocks first.

    One round trip; one more without a last poll, and if the provider refuses long spans. Raises
    ``ChainUnavailableError``.
    """
    if known is None:
        known = _depths(chain, pool.batch(_depth_calls(chain)))
    for span_blocks in SPAN_LENGTHS:
        read = _reader({contract.lower(): contract for contract in contracts}, frozenset(topics))
        spans = list(_open_spans(known, span_blocks))
        query = {"address": sorted(contracts), "topics": [sorted(topics)]}
        calls = [_logs_call(query | span, read) for span in spans]
        provider, values = pool.ask([*_depth_calls(chain), *calls])
        depths, found = _depths(chain, values), values[len(values) - len(calls) :]
        events = [event for shown in found for event in shown or ()]
        if None not in found:
            return Poll(provider, depths, values[0].timestamp, events, is_whole=True)
        known = Depths(depths.head, known.safe, known.final)
    return Poll(provider, depths, values[0].timestamp, events, is_whole=False)


def _open_spans(known: Depths, span_blocks: int) -> Iterator[dict[str, str]]:
    """Yield the blocks of each query; the last one ends with the head, wherever that is by now."""
    first = known.final + 1 if known.final is not None else 0
    starts = range(min(first, known.head), known.head + 1, span_blocks)[-SPANS_AT_ONCE:]
    for start in starts[:-1]:
        yield {"fromBlock": hex(start), "toBlock": hex(start + span_blocks - 1)}
    yield {"fromBlock": hex(starts[-1]), "toBlock": "latest"}


def _depth_calls(chain: Chain) -> list[Call]:
    tags = [tag for tag in (chain.finality.safe, chain.finality.final) if isinstance(tag, str)]
    return [head_call(), *map(optional_block_call, tags)]


def _depths(chain: Chain, values: Sequence[Any]) -> Depths:
    head, *tagged = values
    blocks: Iterator[Block | None] = iter(tagged)

    def height(reference: str | int) -> int | None:
        if isinstance(reference, int):
            return max(int(head.number) - reference, 0)
        block = next(blocks)
        return None if block is None else block.number

    return Depths(head.number, height(chain.finality.safe), height(chain.finality.final))


def _logs_call(query: Mapping[str, Any], read: Callable[[object], list[PolledEvent]]) -> Call:
    """Return the query. A refusal is None, because shorter spans may be accepted; after nonsense, another is asked."""
    return Call("eth_getLogs", (query,), read, read_error=lambda _error: None)


def _reader(contracts: Mapping[str, str], topics: frozenset[str]) -> Callable[[object], list[PolledEvent]]:
    """Return what reads a response; ``contracts`` are those in EIP-55 by their lower case."""

    def event(fields: Mapping[str, Any]) -> PolledEvent:
        hashes = *fields["topics"][:2], fields["transactionHash"], fields["blockHash"]
        topic, subject, tx_hash, block_hash = (one.lower() for one in hashes)
        if topic not in topics or not all(map(_HASH.fullmatch, (subject, tx_hash, block_hash))):
            raise BadResponseError("a log is of another event")
        number = responses.counter(fields["blockNumber"])
        return PolledEvent(contracts[fields["address"].lower()], topic, subject, tx_hash, number, block_hash, fields)

    def read(value: object) -> list[PolledEvent]:
        if not isinstance(value, list):
            raise BadResponseError("expected logs")
        try:
            return [event(fields) for fields in value]
        except (KeyError, TypeError, ValueError, AttributeError):
            raise BadResponseError("a log is malformed, or was not queried") from None

    return read


def seen(pool: ProviderPool, shown_by: Provider, hashes: Sequence[str]) -> dict[str, SeenTransaction]:
    """Return, by hash, successful transactions whose receipt another provider shows than the one of the logs.

    A receipt of that one stands alone, and counts only if no other provider answers. One round trip for a hundred, and
    one to every provider for those that the first one lacks.
    """
    found: dict[str, SeenTransaction] = {}
    for start in range(0, len(hashes), RECEIPTS_AT_ONCE):
        batch = hashes[start : start + RECEIPTS_AT_ONCE]
        found |= _second_opinion(pool, shown_by, batch)
        missing = [tx_hash for tx_hash in batch if tx_hash not in found]
        if missing and len(pool.providers) >= PROVIDERS_WITH_A_THIRD:
            shown = log_query.receipts(pool, missing)
            # Of two providers that show the same, one is another than that of the logs.
            alike = {one.tx_hash: one for some in shown.values() for one in some if some.count(one) > 1}
            found |= {tx_hash: SeenTransaction(one, Standing.AGREED) for tx_hash, one in alike.items()}
    return found


def _second_opinion(pool: ProviderPool, shown_by: Provider, hashes: Sequence[str]) -> dict[str, SeenTransaction]:
    calls = [
        Call("eth_getTransactionReceipt", (tx_hash,), responses.receipt_of(tx_hash), ErrorPolicy.ANY)
        for tx_hash in hashes
    ]
    standing = Standing.AGREED
    try:
        _, shown = pool.ask(calls, exclude=[shown_by])
    except ChainUnavailableError:
        standing = Standing.ONLY if len(pool.providers) == 1 else Standing.ALONE
        shown = pool.batch(calls)
    return {one.tx_hash: SeenTransaction(one, standing) for one in shown if isinstance(one, Receipt) and one.succeeded}
