"""The sequencer: gives every committed entry its number, in one order that holds.

An entry gets its time, and the id of its transaction, before it is committed. It is numbered only when every
transaction with a lower id, or its own, has ended: so no entry can appear later that would belong before it. Entries
are numbered by the ids of their transactions, then by their own. None gets a time in a month that was signed, whatever
becomes of the clock.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from sweepapi import networks
from sweepapi.modes import Mode

ENTRIES_AT_ONCE = 2_000  # in one transaction, of about a tenth of a second

_LOCK = "SELECT pg_try_advisory_xact_lock(hashtextextended('numbering of entries', 0))"
_HOLD = "SELECT pg_advisory_xact_lock(hashtextextended('numbering of entries', 0))"
_STATE = """
SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint, pg_snapshot_xmax(pg_current_snapshot())::text::bigint,
    last.posted_in, last.entry_id
FROM (VALUES (0)) AS one LEFT JOIN (
    SELECT entry.posted_in, numbered.entry_id
    FROM ledger_entrynumber AS numbered JOIN ledger_journalentry AS entry ON entry.id = numbered.entry_id
    ORDER BY numbered.number DESC LIMIT 1
) AS last ON true
"""
_OLDEST = """
SELECT coalesce(max(clock_timestamp() - posted_at), interval '0') FROM ledger_journalentry AS entry
WHERE (posted_in, id) > (%s, %s) AND posted_in < %s
    AND NOT EXISTS (SELECT FROM ledger_entrynumber WHERE entry_id = entry.id)
"""
_NUMBER = """
WITH fresh AS (
    SELECT id, partner_id, posted_in, CASE WHEN network = ANY(%(sandbox)s) THEN %(test)s ELSE %(live)s END AS mode
    FROM ledger_journalentry AS entry
    WHERE (posted_in, id) > (%(posted_in)s, %(entry)s) AND posted_in < %(before)s
        AND NOT EXISTS (SELECT FROM ledger_entrynumber WHERE entry_id = entry.id)
    ORDER BY posted_in, id LIMIT %(limit)s
)
INSERT INTO ledger_entrynumber (number, entry_id, partner_id, mode, partner_number, numbered_at)
SELECT
    coalesce((SELECT max(number) FROM ledger_entrynumber), 0) + row_number() OVER (ORDER BY posted_in, id),
    id, partner_id, mode,
    coalesce((
        SELECT max(partner_number) FROM ledger_entrynumber AS former
        WHERE former.partner_id = fresh.partner_id AND former.mode = fresh.mode
    ), -1) + row_number() OVER (PARTITION BY partner_id, mode ORDER BY posted_in, id),
    (SELECT greatest(
        clock_timestamp(), (SELECT numbered_at FROM ledger_entrynumber ORDER BY number DESC LIMIT 1),
        (SELECT (to_date(max(month), 'YYYY-MM') + interval '1 month') AT TIME ZONE 'UTC' FROM ledger_checkpoint)
    ))
FROM fresh ORDER BY posted_in, id
"""


class _Place(NamedTuple):
    """A place in the order in which entries are numbered."""

    posted_in: int
    entry: UUID


@dataclass(frozen=True)
class _State:
    """How far the numbers got, and the ids of transactions at that time."""

    last: _Place  # of the entry with the highest number
    xmin: int  # all below have ended
    xmax: int  # above all that have begun

    @property
    def is_restored(self) -> bool:
        """Whether the tables come from another server, whose transactions had higher ids."""
        return self.last.posted_in >= self.xmax


_START, _END = _Place(0, UUID(int=0)), 2**63 - 1


def number_entries() -> int:
    """Give their numbers to the entries that can have them by now; returns how many, 0 while another session does it.

    Another call is needed for what was posted since the tables were restored into another server.
    """
    total, count = 0, ENTRIES_AT_ONCE
    while count == ENTRIES_AT_ONCE:
        count = _number_some()
        total += count
    return total


def oldest_waits() -> timedelta:
    """Return for how long the oldest entry waits for its number; zero if none does."""
    with connection.cursor() as cursor:
        state = _state(cursor)
        cursor.execute(_OLDEST, [*(_START if state.is_restored else state.last), state.xmax])
        waits: timedelta = cursor.fetchone()[0]
    return waits


def hold_numbers(cursor: CursorWrapper) -> None:
    """Wait until no entry is being numbered, and let none be until the caller's transaction ends."""
    cursor.execute(_HOLD)


@transaction.atomic
def _number_some() -> int:
    with connection.cursor() as cursor:
        cursor.execute(_LOCK)
        (is_mine,) = cursor.fetchone()
        if not is_mine:
            return 0
        state = _state(cursor)  # a statement of its own, which sees what the lock's former owner committed
        if not state.is_restored:
            return _insert(cursor, after=state.last, before=state.xmin)
        # First what follows on the former server, where it was committed, then what was posted since.
        return _insert(cursor, after=state.last, before=_END) or _insert(cursor, after=_START, before=state.xmin)


def _state(cursor: CursorWrapper) -> _State:
    cursor.execute(_STATE)
    xmin, xmax, posted_in, entry = cursor.fetchone()
    return _State(_START if entry is None else _Place(posted_in, entry), xmin, xmax)


def _insert(cursor: CursorWrapper, *, after: _Place, before: int) -> int:
    """Store the numbers of entries behind a place and of transactions before this one; returns how many."""
    parameters: dict[str, int | str | UUID | list[str]] = {
        "sandbox": sorted(networks.current().sandbox),
        "test": Mode.TEST.value,
        "live": Mode.LIVE.value,
        "posted_in": after.posted_in,
        "entry": after.entry,
        "before": before,
        "limit": ENTRIES_AT_ONCE,
    }
    cursor.execute(_NUMBER, parameters)
    count: int = cursor.rowcount
    return count
