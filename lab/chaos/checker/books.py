"""What the service has recorded, by plain SQL on its tables."""

from collections import defaultdict
from dataclasses import dataclass, field

import psycopg
from psycopg.rows import dict_row

SWEEPS = "SELECT id::text, rail, status, is_open, flags, last_error FROM sweeps_sweep"
EXECUTIONS = """
    SELECT e.id::text, e.sweep_id::text AS sweep, e.status, e.gross_output, e.total_fee, e.partner_fee,
        e.user_amount, t.tx_hash
    FROM sweeps_execution e LEFT JOIN sweeps_sweeptransaction t ON t.execution_id = e.id AND t.status = 'accepted'
    ORDER BY e.sweep_id, e.position
"""
WAITING = "SELECT DISTINCT sweep_id::text FROM sweeps_sweeptransaction WHERE status = 'submitted'"
ENTRIES = """
    SELECT j.id::text, j.kind, j.sweep_ref::text AS sweep, j.execution_ref::text AS execution, j.tx_hash,
        lower(j.asset) AS asset, j.asset AS exact_asset, r.id IS NOT NULL AS is_reversed
    FROM ledger_journalentry j LEFT JOIN ledger_journalentry r ON r.reverses_id = j.id
"""
POSTINGS = """
    SELECT p.entry_id::text AS entry, a.name, p.amount, a.partner_id::text AS partner
    FROM ledger_posting p JOIN ledger_account a ON a.id = p.account_id
"""


@dataclass(frozen=True)
class Execution:
    """One execution as recorded; the amounts are None unless it is executed."""

    execution: str
    status: str
    gross: int | None
    total_fee: int | None
    partner_fee: int | None
    user_amount: int | None
    tx_hash: str | None  # of the accepted transaction


@dataclass
class StoredSweep:
    """One sweep as recorded."""

    sweep: str
    rail: str
    status: str
    is_open: bool
    flags: list[str]
    last_error: str
    is_waiting: bool = False  # a candidate is still looked up
    executions: list[Execution] = field(default_factory=list)


@dataclass
class Entry:
    """A journal entry with its postings: signed amounts by account."""

    entry: str
    kind: str
    sweep: str | None
    execution: str | None
    tx_hash: str
    asset: str
    is_reversed: bool
    postings: list[tuple[str, int, str | None]] = field(default_factory=list)  # account, amount, partner


@dataclass(frozen=True)
class Books:
    """Everything that is recorded."""

    sweeps: dict[str, StoredSweep]
    entries: list[Entry]

    def standing(self, execution: str) -> list[Entry]:
        """Return the fees that are booked for an execution and not reversed."""
        return [one for one in self.entries if one.execution == execution and _counts(one)]

    def all_standing(self) -> list[Entry]:
        return [one for one in self.entries if _counts(one)]


def _counts(entry: Entry) -> bool:
    return entry.kind == "sweep_fee" and not entry.is_reversed


def open_sweeps(database_url: str) -> int:
    """Return how many sweeps are open."""
    with psycopg.connect(database_url) as connection:
        row = connection.execute("SELECT count(*) FROM sweeps_sweep WHERE is_open").fetchone()
    return int(row[0]) if row else 0


def read_books(database_url: str) -> Books:
    """Read everything in one snapshot."""
    with psycopg.connect(database_url, row_factory=dict_row) as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        waiting = {row["sweep_id"] for row in connection.execute(WAITING)}
        sweeps = {
            row["id"]: StoredSweep(
                sweep=row["id"],
                rail=row["rail"],
                status=row["status"],
                is_open=row["is_open"],
                flags=row["flags"],
                last_error=row["last_error"],
                is_waiting=row["id"] in waiting,
            )
            for row in connection.execute(SWEEPS)
        }
        for row in connection.execute(EXECUTIONS):
            sweeps[row["sweep"]].executions.append(
                Execution(
                    execution=row["id"],
                    status=row["status"],
                    gross=_int(row["gross_output"]),
                    total_fee=_int(row["total_fee"]),
                    partner_fee=_int(row["partner_fee"]),
                    user_amount=_int(row["user_amount"]),
                    tx_hash=row["tx_hash"],
                )
            )
        postings = defaultdict(list)
        for row in connection.execute(POSTINGS):
            postings[row["entry"]].append((row["name"], int(row["amount"]), row["partner"]))
        entries = [_entry(row, postings[row["id"]]) for row in connection.execute(ENTRIES)]
    return Books(sweeps, entries)


def _entry(row: dict[str, str], postings: list[tuple[str, int, str | None]]) -> Entry:
    asset = row["asset"] if row["exact_asset"].startswith("0x") else row["exact_asset"]
    return Entry(
        entry=row["id"],
        kind=row["kind"],
        sweep=row["sweep"],
        execution=row["execution"],
        tx_hash=row["tx_hash"],
        asset=asset,
        is_reversed=bool(row["is_reversed"]),
        postings=postings,
    )


def _int(value: object) -> int | None:
    return None if value is None else int(str(value))
