"""Tracks accepted transactions until their blocks are final, or have left the cluster's chain.

One provider is enough for a transaction to be accepted. Before it is final, or undone, two must show the same: its
slot, its block, its instructions, and every balance that it changed.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from sweepapi.rpc import ProviderPool
from sweepapi.rpc.agreement import Decision, Opinion, decide, report
from sweepapi.solana.landed.history import (
    ClusterHead,
    SignatureStatus,
    block_hash_call,
    head_calls,
    statuses_call,
    take_head,
)
from sweepapi.solana.landed.opinions import Found, ask_each, found_at
from sweepapi.solana.landed.reading import transaction_call


@dataclass(frozen=True)
class Tracked:
    """A transaction that was accepted in the block at a slot."""

    key: Hashable
    signature: str
    slot: int


class Gone(Enum):
    """The conclusion that a transaction is not in that block any more."""

    GONE = "gone"


@dataclass(frozen=True)
class TrackedSighting:
    """What was read of an accepted transaction."""

    head: ClusterHead
    is_included: bool  # a provider has it at that slot
    outcome: Found | Gone | None = None  # as enough providers show it; found in a final block
    is_disputed: bool = False  # they don't agree, or too few answer


def track(
    pool: ProviderPool, head: ClusterHead, tracked: Sequence[Tracked], statuses: object
) -> dict[Hashable, TrackedSighting]:
    """Return a sighting of each transaction, given the statuses at one provider, or its refusal."""
    known = statuses if isinstance(statuses, tuple) else [None] * len(tracked)
    sightings: dict[Hashable, TrackedSighting] = {}
    closing = []
    for one, status in zip(tracked, known, strict=True):
        sightings[one.key] = TrackedSighting(head, is_included=status is not None and status.slot == one.slot)
        if _may_close(one, status, head):
            closing.append(one)
    if closing:
        sightings |= _closed(pool, closing, sightings)
    return sightings


def _may_close(one: Tracked, status: SignatureStatus | None, head: ClusterHead) -> bool:
    if status is None:
        return head.final_slot >= one.slot
    return status.is_final or status.slot != one.slot


def _closed(
    pool: ProviderPool, tracked: Sequence[Tracked], sightings: dict[Hashable, TrackedSighting]
) -> dict[Hashable, TrackedSighting]:
    calls = [*head_calls(), statuses_call([one.signature for one in tracked])]
    calls += [transaction_call(one.signature, commitment="finalized") for one in tracked]
    calls += [block_hash_call(one.slot, commitment="finalized") for one in tracked]
    outcomes = {provider: _outcomes(tracked, values) for provider, values in ask_each(pool, calls).items()}
    closed = {}
    for i, one in enumerate(tracked):
        decision: Decision[Found | Gone] = decide(
            [Opinion(provider, shown[i]) for provider, shown in outcomes.items()], needed=pool.needed
        )
        report(pool, decision, subject=one.key)
        before = sightings[one.key]
        closed[one.key] = TrackedSighting(
            before.head, before.is_included, outcome=decision.conclusion, is_disputed=decision.conclusion is None
        )
    return closed


def _outcomes(tracked: Sequence[Tracked], values: Sequence[Any]) -> list[Found | Gone | None]:
    """Return what one provider shows of each transaction; None if that proves nothing."""
    head, (statuses, *rest) = take_head(values)
    if not isinstance(statuses, tuple):
        return [None] * len(tracked)
    transactions, hashes = rest[: len(tracked)], rest[len(tracked) :]
    return [_outcome(one, head, *shown) for one, *shown in zip(tracked, statuses, transactions, hashes, strict=True)]


def _outcome(
    one: Tracked, head: ClusterHead, status: SignatureStatus | None, landed: object, block_hash: object
) -> Found | Gone | None:
    if status is None:
        has_history = head.first_slot <= one.slot <= head.final_slot
        return Gone.GONE if has_history and landed is None else None
    if status.slot != one.slot:
        return Gone.GONE
    return found_at(one.slot, landed, block_hash) if status.is_final else None
