"""Looks up the outcome of transactions: many subjects in one batch, and a second opinion before one closes.

The caller defines what to read in addition to the receipts, and what to conclude from a sighting. A null receipt means
"not known here", so another provider is queried. A conclusion that can't be undone counts only if a second provider,
where there is one, leads to the same.
"""

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sweepapi.evm import responses
from sweepapi.evm.chains import Chain
from sweepapi.evm.multicall import BLOCK_TIMESTAMP, Read, multicall
from sweepapi.evm.responses import Block, Receipt
from sweepapi.rpc import MIN_TIMEOUT_SECONDS, Call, ErrorPolicy, Provider, ProviderPool
from sweepapi.rpc.errors import CallFailedError, ChainUnavailableError


@dataclass(frozen=True)
class Sighting:
    """What was seen of one subject."""

    head_number: int
    safe_number: int | None  # None where the chain has no safe block yet
    final_number: int | None  # as above
    receipts: Mapping[str, Receipt | None]
    canonical: Block | None  # the block at the accepted height; None if not queried, or the provider lags
    state: Any  # the value of the subject's read on the safe block; None where it can't be read
    safe_timestamp: int | None  # seconds since 1970, of the same block as ``state``
    agreed: bool = True  # False: a second provider should have come to the same conclusion, and did not


@dataclass(frozen=True)
class Subject:
    """What to look for."""

    key: Hashable
    read: Read  # of a contract's state, with one returned value
    tx_hashes: tuple[str, ...]
    accepted_height: int | None  # of the block whose hash is queried
    conclude: Callable[[Sighting], object]  # what a sighting would close or undo, comparable; None if nothing


def look(
    *, chain: Chain, pool: ProviderPool, subjects: Sequence[Subject], timeout_seconds: float | None = None
) -> dict[Hashable, Sighting]:
    """Return a sighting of each subject, by its key.

    One round trip where the first provider knows every receipt and nothing closes, two at most on a chain whose
    finality goes by tags. ``timeout_seconds`` is for all of them. Raises ``ChainUnavailableError``.
    """
    deadline = time.monotonic() + (timeout_seconds or pool.timeout_seconds)
    first, seen = _ask(chain, pool, subjects, deadline=deadline)
    doubtful = [one for one in subjects if _needs_another(one, seen[one.key])]
    if not doubtful or len(pool.providers) == 1:
        return seen
    try:
        _, second = _ask(chain, pool, doubtful, deadline=deadline, exclude=first)
    except ChainUnavailableError:
        second = {}
    return seen | {one.key: _merged(one, seen[one.key], second.get(one.key)) for one in doubtful}


def _needs_another(subject: Subject, sighting: Sighting) -> bool:
    return subject.conclude(sighting) is not None or None in sighting.receipts.values()


def _merged(subject: Subject, first: Sighting, second: Sighting | None) -> Sighting:
    if second is None:
        return replace(first, agreed=False)
    receipts = {tx_hash: known or second.receipts[tx_hash] for tx_hash, known in first.receipts.items()}
    return replace(first, receipts=receipts, agreed=subject.conclude(first) == subject.conclude(second))


def _ask(
    chain: Chain,
    pool: ProviderPool,
    subjects: Sequence[Subject],
    *,
    deadline: float,
    exclude: Provider | None = None,
) -> tuple[Provider, dict[Hashable, Sighting]]:
    safe, final = chain.finality.safe, chain.finality.final
    if isinstance(safe, int) or isinstance(final, int):
        _, (head,) = pool.ask([_block_call("latest")], timeout_seconds=_left(deadline), exclude=exclude)
        safe, final = (max(head.number - tag, 0) if isinstance(tag, int) else tag for tag in (safe, final))
    calls = [_block_call("latest"), _block_call(safe), _block_call(final), _state_call(chain, subjects, safe)]
    for one in subjects:
        calls += _calls_of(one)
    provider, values = pool.ask(calls, timeout_seconds=_left(deadline), exclude=exclude)
    return provider, _sightings(subjects, values)


def _left(deadline: float) -> float:
    return max(deadline - time.monotonic(), MIN_TIMEOUT_SECONDS)


def _block_call(reference: str | int) -> Call:
    tag = hex(reference) if isinstance(reference, int) else reference
    decode = responses.block if tag == "latest" else responses.optional_block
    return Call("eth_getBlockByNumber", (tag, False), decode)


def _state_call(chain: Chain, subjects: Sequence[Subject], safe: str | int) -> Call:
    """One call for the state of all subjects and the block's time, so that all are of the same block."""
    return multicall(
        multicall3=chain.multicall3,
        reads=[Read(chain.multicall3, BLOCK_TIMESTAMP), *(one.read for one in subjects)],
        at=safe,
        error_policy=ErrorPolicy.ANY,
    )


def _calls_of(subject: Subject) -> list[Call]:
    # Anyone may report any hash: a receipt that can't be read must not affect the other subjects.
    receipts = [
        Call("eth_getTransactionReceipt", (tx_hash,), responses.receipt_of(tx_hash), ErrorPolicy.ANY)
        for tx_hash in subject.tx_hashes
    ]
    return receipts if subject.accepted_height is None else [*receipts, _block_call(subject.accepted_height)]


def _known(answer: Any, head: Block) -> Receipt | None:  # noqa: ANN401 - a receipt, None, or a failure
    """Return the receipt, or None if its block is above this head: then it is not on this chain yet, or made up."""
    return answer if isinstance(answer, Receipt) and answer.block_number <= head.number else None


def _sightings(subjects: Sequence[Subject], values: Sequence[Any]) -> dict[Hashable, Sighting]:
    head, safe, final, states, *rest = values
    timestamp, *read = [None] * (len(subjects) + 1) if isinstance(states, CallFailedError) else states
    remaining = iter(rest)
    seen: dict[Hashable, Sighting] = {}
    for one, state in zip(subjects, read, strict=True):
        receipts = {tx_hash: _known(next(remaining), head) for tx_hash in one.tx_hashes}
        at_height: Block | None = next(remaining) if one.accepted_height is not None else None
        seen[one.key] = Sighting(
            head_number=head.number,
            safe_number=safe.number if safe is not None else None,
            final_number=final.number if final is not None else None,
            receipts=receipts,
            canonical=at_height,
            state=state[0] if state is not None else None,
            safe_timestamp=timestamp[0] if timestamp is not None else None,
        )
    return seen
