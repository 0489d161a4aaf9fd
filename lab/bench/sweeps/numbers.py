"""Numbers entries by the times at which they were posted, where the sequencer of the ledger would not.

It does not number copies, which have the transaction of their original, nor, in tests, what is not committed.
"""

from django.db import connection

from sweepapi import networks

_NUMBER = """
WITH fresh AS (
    SELECT id, partner_id, posted_at, CASE WHEN network = ANY(%s) THEN 'test' ELSE 'live' END AS mode
    FROM ledger_journalentry AS entry WHERE NOT EXISTS (SELECT FROM ledger_entrynumber WHERE entry_id = entry.id)
), last AS (
    SELECT max(number) AS number, max(numbered_at) AS numbered_at FROM ledger_entrynumber
), of_partner AS (
    SELECT partner_id, mode, max(partner_number) AS number FROM ledger_entrynumber GROUP BY partner_id, mode
)
INSERT INTO ledger_entrynumber (number, entry_id, partner_id, mode, partner_number, numbered_at)
SELECT
    coalesce(last.number, 0) + row_number() OVER by_time, id, partner_id, mode,
    coalesce(of_partner.number, -1) + row_number() OVER (PARTITION BY partner_id, mode ORDER BY posted_at, id),
    greatest(posted_at, last.numbered_at)
FROM fresh CROSS JOIN last LEFT JOIN of_partner USING (partner_id, mode)
WINDOW by_time AS (ORDER BY posted_at, id)
"""


def number_by_time() -> None:
    """Give numbers to all entries that have none, behind those that have one."""
    with connection.cursor() as cursor:
        cursor.execute(_NUMBER, [sorted(networks.current().sandbox)])
