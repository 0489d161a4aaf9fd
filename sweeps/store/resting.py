"""Puts blocks under watch for the sweeps that rest on them."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from django.db import connection

from sweepapi.postgres.sets import as_json


class BlockId(NamedTuple):
    """What identifies a block."""

    network: str
    number: int
    hash: str


# One that is watched already is locked until the sweeps are written, so that it can't be given up meanwhile.
_WATCH = """
INSERT INTO sweeps_watchedblock (network, number, hash, head_number, is_safe, due_at)
SELECT network, number, hash, head_number, false, due_at
FROM json_populate_recordset(NULL::sweeps_watchedblock, %s)
ON CONFLICT (network, number, hash) DO UPDATE
    SET is_safe = false, head_number = GREATEST(sweeps_watchedblock.head_number, EXCLUDED.head_number)
RETURNING id, network, number, hash
"""


def watch(heads: Mapping[BlockId, int], *, due_at: datetime) -> Mapping[BlockId, int]:
    """Have these blocks watched, each given with the head that was seen, and return their ids.

    Sorted, so that two sessions can't wait for each other.
    """
    if not heads:
        return {}
    rows = [{**block._asdict(), "head_number": heads[block], "due_at": due_at} for block in sorted(heads)]
    with connection.preparing_cursor() as cursor:  # type: ignore[attr-defined]  # of our own backend
        cursor.execute(_WATCH, [as_json(rows)])
        return {BlockId(*block): block_id for block_id, *block in cursor.fetchall()}
