"""Moves the sweeps that rest on a watched block on, as many as there are by one statement each.

The sweeps are locked first, in the order of their ids, and the blocks after them, as by every writer of a sweep. What
the statements can't do alike for all sweeps is left to a look at each.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

import structlog
from django.db import connection, transaction

from ledger import posting
from sweeps.models import EventKind

log = structlog.get_logger(__name__)

CHUNK_ROWS = 2_500  # of a transaction

_LOCK_RESTING = """
SELECT sweep.id FROM sweeps_sweep AS sweep
WHERE sweep.watched_block_id = ANY(%(blocks)s) AND sweep.next_check_at IS NULL
ORDER BY sweep.id LIMIT %(rows)s FOR UPDATE
"""
_LOCK_INCLUDED = """
SELECT sweep.id FROM sweeps_sweep AS sweep
WHERE sweep.watched_block_id = ANY(%(blocks)s) AND sweep.next_check_at IS NULL AND EXISTS (
    SELECT FROM sweeps_sweeptransaction AS tx
    WHERE tx.sweep_id = sweep.id AND tx.status = 'accepted' AND tx.finality = 'included'
)
ORDER BY sweep.id LIMIT %(rows)s FOR UPDATE
"""
# Locked sweeps are joined: with = ANY, PostgreSQL may begin with another table and search the array for each row.
_MAKE_SAFE = """
WITH reached AS MATERIALIZED (
    SELECT sweep.id, sweep.last_event + 1 AS sequence, tx.id AS tx_id, tx.tx_hash
    FROM unnest(%(sweeps)s::uuid[]) AS locked (id) JOIN sweeps_sweep AS sweep USING (id)
    JOIN sweeps_sweeptransaction AS tx ON tx.sweep_id = sweep.id AND tx.status = 'accepted' AND tx.finality = 'included'
), candidates AS (
    UPDATE sweeps_sweeptransaction AS tx SET finality = 'safe' FROM reached WHERE tx.id = reached.tx_id
), sweeps AS (
    UPDATE sweeps_sweep AS sweep SET last_event = reached.sequence FROM reached WHERE sweep.id = reached.id
)
INSERT INTO sweeps_sweepevent (sweep_id, sequence, kind, from_status, to_status, cause, at, tx_hash, facts)
SELECT id, sequence, %(finality)s, '', '', '', statement_timestamp(), tx_hash, '{"finality": "safe"}' FROM reached
"""
# Only sweeps of which nothing else is known. The caller compares them with what was shown, because PostgreSQL does not
# know how many rows that has. OFFSET keeps it from joining all accepted candidates: its statistics may know none yet.
_ACCEPTED = """
SELECT sweep.id, sweep.watched_block_id, execution.venue, tx.tx_hash, tx.logs_digest
FROM unnest(%(sweeps)s::uuid[]) AS locked (id) JOIN sweeps_sweep AS sweep USING (id)
JOIN sweeps_watchedblock AS block ON block.id = sweep.watched_block_id
JOIN sweeps_execution AS execution
    ON execution.sweep_id = sweep.id AND execution.status = 'executed' AND execution.closed_at IS NULL
JOIN LATERAL (
    SELECT tx_hash, block_hash, logs_digest FROM sweeps_sweeptransaction
    WHERE execution_id = execution.id AND status = 'accepted' AND finality IN ('included', 'safe') OFFSET 0
) AS tx ON tx.block_hash = block.hash
WHERE sweep.status = 'completed' AND sweep.flags = '{}'
"""
_MAKE_FINAL = """
WITH proven AS MATERIALIZED (
    SELECT sweep.id, sweep.last_event, execution.id AS execution_id, execution.ledger_entry_id,
        tx.id AS tx_id, tx.tx_hash
    FROM unnest(%(sweeps)s::uuid[]) AS locked (id) JOIN sweeps_sweep AS sweep USING (id)
    JOIN sweeps_execution AS execution ON execution.sweep_id = sweep.id
    JOIN sweeps_sweeptransaction AS tx ON tx.execution_id = execution.id AND tx.status = 'accepted'
), candidates AS (
    UPDATE sweeps_sweeptransaction AS tx
    SET finality = 'final', confirmations = GREATEST(tx.confirmations, %(head)s - tx.block_number + 1)
    FROM proven WHERE tx.id = proven.tx_id
), executions AS (
    UPDATE sweeps_execution AS execution SET closed_at = statement_timestamp()
    FROM proven WHERE execution.id = proven.execution_id
), sweeps AS (
    UPDATE sweeps_sweep AS sweep
    SET is_open = false, closed_at = statement_timestamp(), watched_block_id = NULL, last_event = proven.last_event + 2
    FROM proven WHERE sweep.id = proven.id
), events AS (
    INSERT INTO sweeps_sweepevent (sweep_id, sequence, kind, from_status, to_status, cause, at, tx_hash, facts)
    SELECT id, last_event + one.step, one.kind, '', '', '', statement_timestamp(),
        CASE WHEN one.step = 1 THEN tx_hash END, one.facts
    FROM proven, (VALUES
        (1, %(finality)s, '{"finality": "final"}'::jsonb), (2, %(closed)s, '{}')
    ) AS one (step, kind, facts)
)
SELECT ledger_entry_id FROM proven
"""
_LOOK_AT = """
UPDATE sweeps_sweep SET next_check_at = statement_timestamp(), watched_block_id = NULL WHERE id = ANY(%(sweeps)s)
"""
_LOCK_BLOCKS = "SELECT FROM sweeps_watchedblock WHERE id = ANY(%(blocks)s) ORDER BY network, number, hash FOR UPDATE"
_GIVE_UP = """
DELETE FROM sweeps_watchedblock AS block
WHERE id = ANY(%(blocks)s) AND NOT EXISTS (SELECT FROM sweeps_sweep AS sweep WHERE sweep.watched_block_id = block.id)
"""
_NOTE_SAFE = """
UPDATE sweeps_watchedblock AS block SET is_safe = true
WHERE id = ANY(%(blocks)s) AND NOT EXISTS (
    SELECT FROM sweeps_sweep AS sweep JOIN sweeps_sweeptransaction AS tx ON tx.sweep_id = sweep.id
    WHERE sweep.watched_block_id = block.id AND tx.status = 'accepted' AND tx.finality = 'included'
)
"""

Ids = Sequence[UUID]


def make_safe(blocks: Collection[int]) -> None:
    """Record that these blocks are safe."""

    def record(sweeps: Ids) -> None:
        _execute(_MAKE_SAFE, sweeps=sweeps, finality=EventKind.FINALITY)

    _in_chunks(_LOCK_INCLUDED, blocks, record)
    _settle_blocks(_NOTE_SAFE, blocks)


def make_final(shown: Mapping[int, Mapping[tuple[str, str], str]], *, head_number: int) -> None:
    """Close what rests on final blocks and is as two providers show it there; the rest is looked at.

    ``shown`` has, by the ids of the blocks, the digests of the logs by contract and transaction.
    """

    def close(sweeps: Ids) -> None:
        proven = [
            sweep_id
            for sweep_id, block, *source, logs_digest in _execute(_ACCEPTED, sweeps=sweeps)
            if shown[block].get(tuple(source)) == logs_digest
        ]
        kinds = {"finality": EventKind.FINALITY, "closed": EventKind.CLOSED}
        closed = _execute(_MAKE_FINAL, sweeps=proven, head=head_number, **kinds)
        posting.finalize([entry_id for (entry_id,) in closed if entry_id is not None])
        _look_at(sorted(set(sweeps).difference(proven)), why="not_proven")

    _in_chunks(_LOCK_RESTING, shown, close)
    _settle_blocks(_GIVE_UP, shown)


def give_up(blocks: Collection[int]) -> None:
    """Have each sweep of these blocks looked at, because the blocks left the chain."""
    _in_chunks(_LOCK_RESTING, blocks, lambda sweeps: _look_at(sweeps, why="block_gone"))
    _settle_blocks(_GIVE_UP, blocks)


def _look_at(sweeps: Ids, *, why: str) -> None:
    if sweeps:
        log.warning("resting_sweeps_looked_at", why=why, sweep_ids=[str(sweep_id) for sweep_id in sweeps[:10]])
        _execute(_LOOK_AT, sweeps=sweeps)


def _in_chunks(lock: str, blocks: Collection[int], change: Callable[[Ids], None]) -> None:
    """Lock and change sweeps, so many at a time, until none of these blocks is left that the lock finds."""
    locked: Ids = ()
    while blocks and (not locked or len(locked) == CHUNK_ROWS):
        with transaction.atomic():
            locked = [sweep_id for (sweep_id,) in _execute(lock, blocks=list(blocks), rows=CHUNK_ROWS)]
            if not locked:
                return
            change(locked)


def _settle_blocks(statement: str, blocks: Collection[int]) -> None:
    """Change blocks by what is true of their sweeps now: one that comes to rest meanwhile waits for the lock."""
    if blocks:
        with transaction.atomic():
            _execute(_LOCK_BLOCKS, blocks=list(blocks))
            _execute(statement, blocks=list(blocks))


def _execute(statement: str, **parameters: Any) -> list[Any]:  # noqa: ANN401 - of SQL
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return cursor.fetchall() if cursor.description is not None else []
