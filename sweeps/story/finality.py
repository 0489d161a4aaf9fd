"""Moves on the sweeps that await the finality of watched blocks, in sets, by the rules of any other check.

What is not shown as it was accepted is left to a check of the sweep itself. The sweeps are locked first, in the order
of their ids, and the blocks after them, as by every writer of a sweep.
"""

from collections.abc import Callable, Collection, Mapping
from uuid import UUID

import structlog
from django.db import transaction

from sweeps.models import Execution, SweepStatus, SweepTransaction
from sweeps.protocol.rail import Depth, ExecutionVerdict, Verdict
from sweeps.store import blocks
from sweeps.store.reading import lock_awaiting_finality
from sweeps.store.stored import StoredSweep
from sweeps.store.writing import write
from sweeps.story.apply import apply

log = structlog.get_logger(__name__)

CHUNK_ROWS = 1_000  # of a transaction

# The digests of the logs that providers show in a block, by contract and transaction.
Shown = Mapping[tuple[str, str], str]


def make_safe(block_ids: Collection[int]) -> None:
    """Record that these blocks are safe."""
    _in_chunks(block_ids, lambda stored: _reach(stored, Depth.SAFE))
    with transaction.atomic():
        blocks.lock(block_ids)
        # Of sweeps that began to await finality meanwhile.
        new = blocks.with_accepted(block_ids, SweepTransaction.Finality.INCLUDED)
        blocks.note_safe(set(block_ids) - new)


def make_final(shown: Mapping[int, Shown], *, head_number: int) -> None:
    """Close what awaits final blocks and is as two providers show it there; the rest is checked itself.

    ``shown`` has what they show by the ids of the blocks.
    """
    hashes = blocks.hashes(shown)

    def close(stored: StoredSweep) -> None:
        block_id = stored.sweep.watched_block_id or 0  # never 0: it awaits finality
        if _is_proven(stored, hashes[block_id], shown[block_id]):
            _reach(stored, Depth.FINAL, head_number=head_number)
        else:
            _check_itself(stored)

    _in_chunks(shown, close)
    _give_up(shown)


def give_up(block_ids: Collection[int]) -> None:
    """Have each sweep of these blocks checked, because the blocks left the chain."""
    _in_chunks(block_ids, _check_itself)
    _give_up(block_ids)


def _is_proven(stored: StoredSweep, block_hash: str, shown: Shown) -> bool:
    """Whether nothing unusual is known of a sweep, and each execution is shown in the block as it was accepted."""
    accepted = _accepted(stored)
    return (
        stored.sweep.status == SweepStatus.COMPLETED
        and not stored.sweep.flags
        and all(one.status == Execution.Status.EXECUTED for one in stored.executions)
        and all(
            tx.block_hash == block_hash and shown.get((one.venue, tx.tx_hash)) == tx.logs_digest
            for one in stored.executions
            for tx in [accepted[one.id]]
        )
    )


def _reach(stored: StoredSweep, depth: Depth, *, head_number: int = 0) -> None:
    """Record how deep its block lies, and what follows from that."""
    accepted = _accepted(stored)
    shown = {
        one.id: ExecutionVerdict(head_number, accepted=depth, log_position=accepted[one.id].log_position)
        for one in stored.executions
    }
    apply(stored, Verdict(shown))


def _accepted(stored: StoredSweep) -> Mapping[UUID, SweepTransaction]:
    """Return the accepted transaction of each execution."""
    return {tx.execution_id: tx for tx in stored.candidates if tx.status == SweepTransaction.Status.ACCEPTED}


def _check_itself(stored: StoredSweep) -> None:
    stored.sweep.next_check_at, stored.sweep.watched_block_id = stored.now, None


def _in_chunks(block_ids: Collection[int], change: Callable[[StoredSweep], None]) -> None:
    """Lock, change and write what awaits these blocks, so many at a time."""
    after = UUID(int=0)
    chunk: Collection[StoredSweep] = ()
    while block_ids and (not chunk or len(chunk) == CHUNK_ROWS):
        with transaction.atomic():
            chunk = lock_awaiting_finality(block_ids, after=after, rows=CHUNK_ROWS)
            if not chunk:
                return
            for stored in chunk:
                change(stored)
                after = stored.id
            write(chunk)
        woken = [str(one.id) for one in chunk if one.sweep.next_check_at is not None]
        if woken:
            log.warning("resting_sweeps_checked", sweeps=len(woken), sweep_ids=woken[:10])


def _give_up(block_ids: Collection[int]) -> None:
    """Stop following these blocks, as far as no sweep began to await them meanwhile."""
    with transaction.atomic():
        blocks.lock(block_ids)
        blocks.delete_unused(block_ids)
