"""Looking at the chain for what became of sweeps: many sweeps, one batch, and a second opinion before anything closes.

A null receipt means "not known here", so another provider is asked. What can't be taken back (a transaction is final, a
nonce can never be used, a block left the chain) counts only if a second provider sees it too, where there is one.
"""

import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from sweepapi.evm import responses
from sweepapi.evm.chains import Chain
from sweepapi.evm.errors import CallFailedError, ChainUnavailableError
from sweepapi.evm.multicall import BLOCK_TIMESTAMP, Read, multicall
from sweepapi.evm.nonce_use import Finding
from sweepapi.evm.responses import Block, Receipt
from sweepapi.evm.rpc import MIN_TIMEOUT_SECONDS, Call, ErrorPolicy, Provider, ProviderPool
from sweepapi.evm.v5 import IS_NONCE_USED


@dataclass(frozen=True)
class Watched:
    """What to look for: an authorization by its identity, and the transactions that may have executed it."""

    key: Hashable
    contract: str
    nonce: int
    deadline: int  # seconds since 1970
    tx_hashes: tuple[str, ...]
    accepted: tuple[int, str] | None  # (height, block hash) of an accepted transaction


class Depth(Enum):
    """How deep an accepted transaction's block lies."""

    UNKNOWN = "unknown"  # not asked, or the provider is behind: a lower head is no reorganisation
    GONE = "gone"
    INCLUDED = "included"
    SAFE = "safe"
    FINAL = "final"


@dataclass(frozen=True)
class Sighting:
    """What was seen of one sweep."""

    head_number: int
    safe_number: int | None  # None where the chain has no safe block yet
    final_number: int | None  # as above
    receipts: Mapping[str, Receipt | None]
    canonical: Block | None  # the block at the accepted height; None if not asked, or the provider lags
    nonce_used: bool | None  # on the safe block; None where that can't be read
    safe_timestamp: int | None  # seconds since 1970, of the same block as ``nonce_used``
    agreed: bool = True  # False: a second provider should have confirmed what closes the sweep, and did not
    finding: Finding | None = None  # what used the nonce; None if nobody looked for that

    def proves_unused(self, deadline: int) -> bool:
        """Whether the nonce can never be used: unused on a safe block whose time is past the deadline."""
        return self.nonce_used is False and self.safe_timestamp is not None and self.safe_timestamp > deadline

    def depth(self, height: int, block_hash: str) -> Depth:
        """Return how deep an accepted block lies, or that another one is canonical at its height."""
        if self.canonical is None or self.canonical.number != height:
            return Depth.UNKNOWN
        if self.canonical.hash != block_hash:
            return Depth.GONE
        if self.final_number is not None and self.final_number >= height:
            return Depth.FINAL
        return Depth.SAFE if self.safe_number is not None and self.safe_number >= height else Depth.INCLUDED

    def conclusion(self, watched: Watched) -> object:
        """Return what this sighting would close or take back, None if nothing; comparable with another sighting's."""
        if watched.accepted is None:
            return "unused" if self.proves_unused(watched.deadline) else None
        depth = self.depth(*watched.accepted)
        return (depth, self.canonical) if depth in (Depth.GONE, Depth.FINAL) else None


def look(
    *, chain: Chain, pool: ProviderPool, watched: Sequence[Watched], timeout_seconds: float | None = None
) -> dict[Hashable, Sighting]:
    """Return a sighting of each watched sweep, by its key.

    One round trip where the first provider knows every receipt and nothing closes, two at most on a chain whose
    finality goes by tags. ``timeout_seconds`` is for all of them. Raises ``ChainUnavailableError``.
    """
    deadline = time.monotonic() + (timeout_seconds or pool.timeout_seconds)
    first, seen = _ask(chain, pool, watched, deadline=deadline)
    doubtful = [one for one in watched if _needs_another(one, seen[one.key])]
    if not doubtful or len(pool.providers) == 1:
        return seen
    try:
        _, second = _ask(chain, pool, doubtful, deadline=deadline, exclude=first)
    except ChainUnavailableError:
        second = {}
    return seen | {one.key: _merged(one, seen[one.key], second.get(one.key)) for one in doubtful}


def _needs_another(watched: Watched, sighting: Sighting) -> bool:
    return sighting.conclusion(watched) is not None or None in sighting.receipts.values()


def _merged(watched: Watched, first: Sighting, second: Sighting | None) -> Sighting:
    if second is None:
        return replace(first, agreed=False)
    receipts = {tx_hash: known or second.receipts[tx_hash] for tx_hash, known in first.receipts.items()}
    return replace(first, receipts=receipts, agreed=first.conclusion(watched) == second.conclusion(watched))


def _ask(
    chain: Chain,
    pool: ProviderPool,
    watched: Sequence[Watched],
    *,
    deadline: float,
    exclude: Provider | None = None,
) -> tuple[Provider, dict[Hashable, Sighting]]:
    safe, final = chain.finality.safe, chain.finality.final
    if isinstance(safe, int) or isinstance(final, int):
        _, (head,) = pool.ask([_block_call("latest")], timeout_seconds=_left(deadline), exclude=exclude)
        safe, final = (max(head.number - tag, 0) if isinstance(tag, int) else tag for tag in (safe, final))
    calls = [_block_call("latest"), _block_call(safe), _block_call(final), _nonces_call(chain, watched, safe)]
    for one in watched:
        calls += _calls_of(one)
    provider, values = pool.ask(calls, timeout_seconds=_left(deadline), exclude=exclude)
    return provider, _sightings(watched, values)


def _left(deadline: float) -> float:
    return max(deadline - time.monotonic(), MIN_TIMEOUT_SECONDS)


def _block_call(reference: str | int) -> Call:
    tag = hex(reference) if isinstance(reference, int) else reference
    decode = responses.block if tag == "latest" else responses.optional_block
    return Call("eth_getBlockByNumber", (tag, False), decode)


def _nonces_call(chain: Chain, watched: Sequence[Watched], safe: str | int) -> Call:
    """One call for all nonces and the block's time, so that both are of the same block."""
    reads = [Read(one.contract, IS_NONCE_USED, (one.nonce,)) for one in watched]
    return multicall(
        multicall3=chain.multicall3,
        reads=[Read(chain.multicall3, BLOCK_TIMESTAMP), *reads],
        at=safe,
        error_policy=ErrorPolicy.ANY,
    )


def _calls_of(watched: Watched) -> list[Call]:
    # Anybody may report any hash: one whose receipt can't be had or read must not spoil the others'.
    receipts = [
        Call("eth_getTransactionReceipt", (tx_hash,), responses.receipt_of(tx_hash), ErrorPolicy.ANY)
        for tx_hash in watched.tx_hashes
    ]
    return receipts if watched.accepted is None else [*receipts, _block_call(watched.accepted[0])]


def _known(answer: Any, head: Block) -> Receipt | None:  # noqa: ANN401 - a receipt, None, or a failure
    """Return a receipt from the chain that ends with this head; one from above it is not there yet, or made up."""
    return answer if isinstance(answer, Receipt) and answer.block_number <= head.number else None


def _sightings(watched: Sequence[Watched], values: Sequence[Any]) -> dict[Hashable, Sighting]:
    head, safe, final, nonces, *rest = values
    timestamp, *used = [None] * (len(watched) + 1) if isinstance(nonces, CallFailedError) else nonces
    remaining = iter(rest)
    seen: dict[Hashable, Sighting] = {}
    for one, was_used in zip(watched, used, strict=True):
        receipts = {tx_hash: _known(next(remaining), head) for tx_hash in one.tx_hashes}
        at_height: Block | None = next(remaining) if one.accepted is not None else None
        seen[one.key] = Sighting(
            head_number=head.number,
            safe_number=safe.number if safe is not None else None,
            final_number=final.number if final is not None else None,
            receipts=receipts,
            canonical=at_height,
            nonce_used=was_used[0] if was_used is not None else None,
            safe_timestamp=timestamp[0] if timestamp is not None else None,
        )
    return seen
