"""Looks up blocks: which one is canonical at a height, how deep it lies, and what contracts emitted in it.

That a block is still there takes one provider. Where something would become final or be undone, all are asked, and two
that show the same decide, where there are two (docs/decisions/following.md).
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sweepapi.evm.chain.blocks import optional_block_call
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.encoding import responses
from sweepapi.evm.encoding.responses import Block, Log
from sweepapi.evm.logs import log_query
from sweepapi.evm.logs.log_digest import digest
from sweepapi.rpc import Call, ErrorPolicy, ProviderPool
from sweepapi.rpc.errors import BadResponseError

VIEWS_AT_ONCE = 50  # blocks, each with two calls

Source = tuple[str, str]  # the contract that emitted logs, and the hash of the transaction


@dataclass(frozen=True)
class Heights:
    """What one provider shows of a chain."""

    head: int
    safe: int  # negative where the chain has no safe block yet
    final: int  # as above
    hashes: Sequence[str | None]  # of the blocks at the heights that were queried; None above the head


@dataclass(frozen=True)
class View:
    """What a provider shows at a block's height."""

    hash: str
    is_final: bool
    emitted: Mapping[Source, str] | None  # digests of logs; None if it refused to show the logs


@dataclass(frozen=True)
class Consensus:
    """What enough providers show of a block; if neither of the first two holds, nothing follows yet."""

    is_gone: bool = False
    is_final: bool = False
    is_disputed: bool = False
    proven: Mapping[Source, str] = field(default_factory=dict)  # if it is final: digests of logs


def heights(chain: Chain, pool: ProviderPool, numbers: Collection[int]) -> Heights:
    """Return the depths of the chain and its blocks at these heights; raises ``ChainUnavailableError``."""
    safe, final = chain.finality.safe, chain.finality.final
    calls = [*log_query.depth_calls(safe), *log_query.depth_calls(final), *map(_block_call, numbers)]
    results = iter(pool.batch(calls))
    head, safe_number = log_query.take_depth(safe, results)
    _, final_number = log_query.take_depth(final, results)
    return Heights(head, safe_number, final_number, [None if block is None else block.hash for block in results])


def views(
    chain: Chain, pool: ProviderPool, contracts: Collection[str], numbers: Sequence[int]
) -> Iterator[tuple[int, list[View]]]:
    """Yield each height with the views of all providers that show a block there; raises ``ChainUnavailableError``."""
    for start in range(0, len(numbers), VIEWS_AT_ONCE):
        batch = numbers[start : start + VIEWS_AT_ONCE]
        calls = log_query.depth_calls(chain.finality.final)
        for number in batch:
            calls += [_block_call(number), _logs_call(contracts, number)]
        shown: dict[int, list[View]] = {number: [] for number in batch}
        for answers in pool.ask_all(calls):
            results = iter(answers)
            _, final = log_query.take_depth(chain.finality.final, results)
            for number in batch:
                block, logs = next(results), next(results)
                if isinstance(block, Block):
                    shown[number].append(View(block.hash, number <= final, _emitted_in(block, logs)))
        yield from shown.items()


def conclude(block_hash: str, shown: Sequence[View], *, needed: int) -> Consensus:
    """Return what at least ``needed`` providers show of the block with this hash, and fewer contradict."""
    same = [one for one in shown if one.hash == block_hash]
    others = Counter(one.hash for one in shown if one.hash != block_hash)
    against = sum(others.values())
    final = [one for one in same if one.is_final]
    if max(others.values(), default=0) >= needed and against > len(same):
        return Consensus(is_gone=True)
    if len(final) >= needed and len(final) > against:
        emitted = [one.emitted for one in final if one.emitted is not None]
        return Consensus(is_final=True, proven=dict(_proven(emitted, needed)))
    return Consensus(is_disputed=bool(same and against))


def _proven(emitted: Sequence[Mapping[Source, str]], needed: int) -> Iterator[tuple[Source, str]]:
    """Yield where enough providers show the same logs in the same order, with the digest of these."""
    for source in {source for one in emitted for source in one}:
        shown = [one.get(source) for one in emitted]
        first = shown[0]
        if any(one != first for one in shown):
            first = max(shown, key=shown.count)
        votes = shown.count(first)
        if first is not None and votes >= needed and votes > len(shown) - votes:
            yield source, first


def _block_call(number: int) -> Call:
    def decode(value: object) -> Block | None:
        block = responses.optional_block(value)
        if block is not None and block.number != number:
            raise BadResponseError("the block is another one")
        return block

    return replace(optional_block_call(number), decode=decode)


def _logs_call(contracts: Collection[str], number: int) -> Call:
    query = {"address": sorted(contracts), "fromBlock": hex(number), "toBlock": hex(number)}

    def decode(value: object) -> list[responses.MinedLog]:
        logs = responses.mined_logs(value)
        if any(one.block_number != number or one.log.address not in contracts for one in logs):
            raise BadResponseError("a log is from another contract or block")
        return logs

    return Call("eth_getLogs", (query,), decode, ErrorPolicy.ANY)


def _emitted_in(block: Block, logs: Any) -> Mapping[Source, str] | None:  # noqa: ANN401 - the logs, or a failure
    if not isinstance(logs, list) or any(one.block_hash != block.hash for one in logs):
        return None
    by_source: dict[Source, list[Log]] = defaultdict(list)
    for one in logs:
        by_source[one.log.address, one.tx_hash].append(one.log)
    return {source: digest(some) for source, some in by_source.items()}
