"""Checks piece by piece that the entries of the ledger are balanced, as the triggers promise for each of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

FIRST = UUID(int=0)  # below the id of every entry

_CHECK = """
    SELECT count(*), (array_agg(id ORDER BY id DESC))[1],
        coalesce(array_agg(id) FILTER (WHERE total IS DISTINCT FROM 0 OR postings < 2), '{}')
    FROM (
        SELECT entry.id, sum(posting.amount) AS total, count(posting.id) AS postings
        FROM (SELECT id FROM ledger_journalentry WHERE id > %s ORDER BY id LIMIT %s) AS entry
        LEFT JOIN ledger_posting AS posting ON posting.entry_id = entry.id
        GROUP BY entry.id
    ) AS checked
"""


@dataclass(frozen=True)
class Piece:
    """Entries that were checked, in the order of their ids."""

    last: UUID
    is_last: bool  # of the ledger
    unbalanced: Sequence[UUID]


def check(*, after: UUID, limit: int) -> Piece:
    """Check the entries that follow this id; an entry and its postings are committed together, so none is half seen."""
    with connection.cursor() as cursor:
        cursor.execute(_CHECK, [after, limit])
        count, last, unbalanced = cursor.fetchone()
    return Piece(last=last or after, is_last=count < limit, unbalanced=unbalanced)
